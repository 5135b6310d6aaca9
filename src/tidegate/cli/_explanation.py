"""From the arguments of ``tidegate explain`` to the page, the figure or the text."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import click

from tidegate._core.errors import UsageError
from tidegate._core.record_reader import read_category_records, read_records
from tidegate._core.whole_file import replace_file
from tidegate.cli._folder import of_categories, of_forecaster
from tidegate.report import (
    Study,
    csv_text,
    html_page,
    json_text,
    plain_text,
    read_borders,
    read_forecast,
    read_study,
)

ENDINGS = {".html": "html", ".json": "json", ".csv": "csv", ".png": "png", ".txt": "text"}
STATE = "state.safetensors"


def explained(
    run: str,
    file: str | None,
    learn: bool,
    borders: str | None,
    expert: str | None,
    key: str | None,
    units: str | None,
    last: int,
    format_name: str | None,
    out: str | None,
) -> None:
    """Reads a run, or passes a stream through its network, and writes what was found.

    Raises:
        TidegateError: something that was named is not there, damaged, or not writable.
    """
    folder = _folder(run)
    given = [] if borders is None else read_borders(borders)
    wanted = None if units is None else parsed_units(units)
    if file is None:
        if learn:
            raise UsageError("--learn", "a FILE to learn from", "none", "Name one.")
        study = _recorded(folder, last, given, expert, key)
    else:
        from tidegate.cli._replay import replayed

        study = replayed(folder, file, learn, last, given, expert)
    if wanted is not None and not study.recorded:
        raise UsageError("--units", "a network that was recorded", "none", study_hint(folder))
    _write(study if wanted is None else study.selected(wanted), folder, format_name, out)


def parsed_units(text: str) -> list[int]:
    """``0,3,8-10`` as numbers, in that order.

    Raises:
        UsageError: it is no such list.

    >>> parsed_units("0,3,8-10")
    [0, 3, 8, 9, 10]
    """
    found: list[int] = []
    try:
        for part in text.split(","):
            first, _, end = part.partition("-")
            found += range(int(first), int(end or first) + 1)
    except ValueError:
        raise UsageError(
            "--units", "numbers and ranges", repr(text), "Write them as 0,3,8-15."
        ) from None
    return list(dict.fromkeys(found))


def _recorded(
    folder: Path, last: int, borders: list[int], expert: str | None, key: str | None
) -> Study:
    name = folder.resolve().name
    if not of_forecaster(folder):
        if expert is not None:
            got = f"{name}, which is of one network"
            raise UsageError("--expert", "a forecaster's run", got, "Leave it out.")
        return read_study(folder, last, f"{name}: what its network remembers", borders)
    title = f"{name}: its forecasts and what they rest on"
    read = read_category_records if of_categories(folder) else read_records
    return read_forecast(folder, last, title, borders, expert, key, read)


def study_hint(folder: Path) -> str:
    """How to have a run whose networks are recorded."""
    return f"Record them: tidegate run FILE --target COLUMN --save {folder} --trace."


def _folder(run: str) -> Path:
    path = Path(run)
    if path.is_file() and path.name == STATE:
        return path.parent
    if path.is_dir():
        return path
    hint = "Make one: tidegate run FILE --target COLUMN --save DIR --trace."
    got = "another file" if path.exists() else "nothing there"
    raise UsageError(repr(run), "the folder of a run, or its checkpoint", got, hint)


def _write(study: Study, folder: Path, format_name: str | None, out: str | None) -> None:
    chosen = format_name or ENDINGS.get(Path(out or "").suffix.lower(), "html")
    if chosen in TEXTS and out is None:
        click.echo(TEXTS[chosen](study), nl=False)
        return
    path = Path(out) if out is not None else folder / f"explain.{chosen}"
    content = _figure(study) if chosen == "png" else (TEXTS | PAGES)[chosen](study).encode()
    try:
        replace_file(path, content)
    except OSError as error:
        got = f"{str(path)!r} ({error.strerror})"
        raise UsageError("--out", "a file that can be written", got, "Name another.") from error
    click.echo(f"Wrote {path}.", err=True)


def _figure(study: Study) -> bytes:
    # Imported here: Matplotlib is an extra.
    from tidegate.report.figures import figure

    content = io.BytesIO()
    figure(study).savefig(content, format="png", dpi=110)
    return content.getvalue()


TEXTS: dict[str, Callable[[Study], str]] = {
    "json": json_text,
    "csv": csv_text,
    "text": plain_text,
}
PAGES: dict[str, Callable[[Study], str]] = {"html": html_page}
