"""A text file that grows while it is read, as ``tail -f`` reads it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from tidegate._core.errors import DataError, UsageError
from tidegate.streams import files
from tidegate.streams.bad_rows import BadRows, StopAtBadRow
from tidegate.streams.base import Stream
from tidegate.streams.numbers import Number, decimal_point
from tidegate.streams.text import TextStream

Pause = Callable[[float], bool]

INTERVAL = 0.2
REMEMBERED = 64
BOM = b"\xef\xbb\xbf"


def follow_file(
    source: str,
    target: str | None,
    inputs: Sequence[str] = (),
    time: str | None = None,
    *,
    pause: Pause | None = None,
    separator: str | None = None,
    number: Number = decimal_point,
    bad_rows: BadRows | None = None,
    key: str | None = None,
    category: str | None = None,
) -> Stream:
    """The rows of a file that others append to; the stream waits for more and never ends by itself.

    A row is there when its line is whole, a moment after it was written. Half a line that
    nobody completes is no row.

    Args:
        source: a path that ends in .csv or .tsv.
        target, inputs, time, separator, number, bad_rows, key, category: as :func:`open_stream`
            has them.
        pause: waits for so many seconds, or less, and says whether the stream is to end;
            ``threading.Event().wait`` is one. By default it never ends.

    Raises:
        UsageError: there is no such file or column, or the kind of file does not grow by lines.
        DataError: the file was cut, or another one took its place.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     print("load", 5, "half a li", sep="\\n", end="", file=file, flush=True)
    ...     [float(row.values[0]) for row in follow_file(file.name, "load", pause=lambda s: True)]
    [5.0]
    """
    usual = files.SEPARATORS.get(Path(source.lower()).suffix)
    if usual is None:
        expected = "a name that ends in .csv or .tsv"
        raise UsageError(source, expected, "another kind", "Only plain text grows by lines.")
    files.require_file(source)
    lines = growing_lines(source, pause or _for_ever)
    bad_rows = bad_rows or StopAtBadRow()
    columns = inputs if target is None else (target, *inputs)
    return TextStream(
        source, lines, columns, time, separator or usual, number, bad_rows, key, category
    )


def growing_lines(source: str, pause: Pause) -> Iterator[str]:
    """The whole lines of a growing file in UTF-8, with their ends.

    Raises:
        DataError: the file was cut, another one took its place, or a line has no end.
    """
    with open(source, "rb") as file:
        start, parts, size = BOM, [b""], 0
        for part in _parts(file, source, pause):
            parts.append(part)
            size += len(part)
            if part.endswith(b"\n"):
                yield b"".join(parts).removeprefix(start).decode("utf-8", "surrogateescape")
                start, parts, size = b"", [], 0
            elif size >= files.LONGEST:
                raise files.endless_line(source)


def _parts(file: BinaryIO, source: str, pause: Pause) -> Iterator[bytes]:
    """Lines, or parts of them, as they come, until the pause says to end."""
    last = b""
    while True:
        # What was written before the other file came is still there to be read.
        gone = _gone(file, source)
        while part := file.readline(files.LONGEST):
            last = (last + part)[-REMEMBERED:]
            yield part
        if gone:
            raise _changed(source, gone)
        if pause(INTERVAL):
            return
        _require_same(file, source, last)


def _gone(file: BinaryIO, source: str) -> str:
    """Why nothing more can come to the open file, or nothing."""
    try:
        return "" if os.path.samestat(os.stat(source), os.fstat(file.fileno())) else "another file"
    except FileNotFoundError:
        return "no file"


def _require_same(file: BinaryIO, source: str, last: bytes) -> None:
    """A file that was cut and written anew is no longer than before, or differs before its end."""
    place = file.tell()
    if os.fstat(file.fileno()).st_size < place:
        raise _changed(source, "a shorter file")
    file.seek(place - len(last))
    if file.read(len(last)) != last:
        raise _changed(source, "other lines in the place of those that were read")


def _changed(source: str, what: str) -> DataError:
    hint = "It was cut or replaced while it was read: start again with the new one."
    return DataError(source, "a file that only grows", what, hint)


def _for_ever(seconds: float) -> bool:
    time.sleep(seconds)
    return False
