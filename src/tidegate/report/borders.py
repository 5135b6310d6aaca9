"""Borders from a file: steps at which something is known to begin."""

from __future__ import annotations

from pathlib import Path

from tidegate._core.errors import DataError, UsageError

__all__ = ["read_borders"]


def read_borders(path: str) -> list[int]:
    """The first column of a text or CSV file, a step a line; a first line of words is skipped.

    Raises:
        UsageError: the file cannot be opened.
        DataError: a line is no whole number, or there is none.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w") as file:
    ...     print("step,what", "120,verse", "260,chorus", sep="\\n", file=file, flush=True)
    ...     read_borders(file.name)
    [120, 260]
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError("--borders", "a text file", f"{path!r} ({error})", "Check it.") from error
    cells = [(n, line.partition(",")[0].strip()) for n, line in enumerate(lines, 1) if line.strip()]
    if cells and not _whole(cells[0][1]):
        cells = cells[1:]
    for number, cell in cells:
        if not _whole(cell):
            raise DataError(
                f"{path}, line {number}", "the number of a step", repr(cell),
                "Give one step a line, as the records count them.",
            )  # fmt: skip
    if not cells:
        raise DataError(path, "one step a line", "none", "Name a file with borders.")
    return [int(cell) for _, cell in cells]


def _whole(text: str) -> bool:
    return text.isascii() and text.removeprefix("-").isdigit()
