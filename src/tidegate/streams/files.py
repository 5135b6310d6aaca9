"""One entry to every source of rows: the end of its name says how it is read."""

from __future__ import annotations

import gzip
import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tidegate._core.errors import DataError, UsageError
from tidegate.streams.bad_rows import BadRows, StopAtBadRow
from tidegate.streams.base import Stream
from tidegate.streams.numbers import Number, decimal_point
from tidegate.streams.text import TextStream

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

STDIN = "-"
LONGEST = 1 << 28  # letters of a line; a file without any end of line must not fill the memory
SEPARATORS = {".csv": ",", ".tsv": "\t"}


def open_stream(
    source: str,
    target: str | None,
    inputs: Sequence[str] = (),
    time: str | None = None,
    *,
    separator: str | None = None,
    number: Number = decimal_point,
    bad_rows: BadRows | None = None,
    key: str | None = None,
    category: str | None = None,
) -> Stream:
    """The stream of a file, or of standard input.

    Args:
        source: a path that ends in .csv, .tsv (each perhaps with .gz or .zst) or .parquet;
            ``-`` is standard input, comma-separated, read line by line as it comes.
        target: name of the column to predict; the first of a row's values. None where that is
            no number.
        inputs: names of further columns.
        time: name of the column that dates a row.
        separator: of cells; by default the comma, the tab in .tsv.
        number: what a cell's text is worth, :func:`decimal_point` or :func:`decimal_comma`.
        bad_rows: what becomes of rows that cannot be read; by default the first one is raised.
        key: name of the column that tells one stream from another, where there are several.
        category: name of the column whose text is a row's category.

    Raises:
        UsageError: there is no such file or column, or nothing reads such files.
        DataError: there is no header, or the file is damaged.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     file.writelines(["time,load\\n", "2015-07-01,5\\n"])
    ...     file.flush()
    ...     list(open_stream(file.name, "load", time="time"))
    [Row(number=1, time='2015-07-01', values=array([5.]), key=None, category=None)]
    """
    columns = inputs if target is None else (target, *inputs)
    bad_rows = bad_rows or StopAtBadRow()
    if source == STDIN:
        return TextStream(
            "standard input", _stdin(), columns, time, separator or ",", number, bad_rows, key,
            category,
        )  # fmt: skip
    require_file(source)
    if Path(source).suffix.lower() == ".parquet":
        from tidegate.streams.parquet import ParquetStream

        return ParquetStream(source, columns, time, number, bad_rows, key, category)
    opener, usual = _how(source)
    lines = _lines(source, opener)
    return TextStream(
        source, lines, columns, time, separator or usual, number, bad_rows, key, category
    )


def _how(source: str) -> tuple[Callable[[str], IO[bytes]], str]:
    """What opens a text file's bytes, and the usual separator of its kind."""
    path = Path(source.lower())
    opener = OPENERS.get(path.suffix, _plain)
    kind = path.with_suffix("").suffix if path.suffix in OPENERS else path.suffix
    if kind not in SEPARATORS:
        kinds = ".csv, .tsv (each perhaps with .gz or .zst) or .parquet"
        raise UsageError(source, f"a name that ends in {kinds}", repr(path.name), "Rename it.")
    return opener, SEPARATORS[kind]


def require_file(source: str) -> None:
    """Refuses what cannot be opened for reading."""
    try:
        with open(source, "rb"):
            pass
    except OSError as error:
        hint = "Check the path; - is standard input."
        raise UsageError(source, "a file that can be read", str(error.strerror), hint) from error


class _Whole(io.FileIO):
    """A file that must not end before the size it had when it was opened."""

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self._size = os.fstat(self.fileno()).st_size

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        count = super().readinto(buffer)
        if not count and self.tell() < self._size:
            raise OSError(f"the file had {self._size:,} bytes and ends after {self.tell():,}")
        return count


def _plain(source: str) -> IO[bytes]:
    return io.BufferedReader(_Whole(source))


def _gzip(source: str) -> IO[bytes]:
    opened: IO[bytes] = io.BufferedReader(gzip.GzipFile(source))
    return opened


def _zstd(source: str) -> IO[bytes]:
    import pyarrow as pa  # type: ignore[import-untyped]

    opened: IO[bytes] = io.BufferedReader(pa.input_stream(source, compression="zstd"))
    return opened


OPENERS = {".gz": _gzip, ".zst": _zstd}


def _lines(source: str, opener: Callable[[str], IO[bytes]]) -> Iterator[str]:
    with _decoded(opener(source)) as text:
        yield from _bounded(text, source)


def _stdin() -> Iterator[str]:
    source = sys.stdin.buffer
    text = _decoded(source)
    try:
        yield from _bounded(text, "standard input")
    finally:
        # Else the wrapper would close standard input when it is thrown away; at the end of the
        # process that may have happened already.
        if not source.closed:
            text.detach()


def _bounded(text: io.TextIOWrapper, source: str) -> Iterator[str]:
    for line in iter(partial(text.readline, LONGEST), ""):
        if len(line) == LONGEST:
            raise endless_line(source)
        yield line


def endless_line(source: str) -> DataError:
    """The error of a source that holds no ends of lines."""
    expected = f"lines of fewer than {LONGEST:,} letters"
    return DataError(source, expected, "a longer one", "Is it text?")


def _decoded(file: IO[bytes]) -> io.TextIOWrapper:
    """Lines with their ends, as the csv module wants them.

    What is no UTF-8 is let through: it spoils the cell it stands in, and only where that is read.
    """
    return io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="")
