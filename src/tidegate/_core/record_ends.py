"""Where the records up to a step end in a file, so that a run can go on after them."""

from __future__ import annotations

import csv
import mmap
import os
import re
from collections.abc import Iterator
from typing import BinaryIO

from tidegate._core.errors import DataError

JSON_STEP = re.compile(rb'\{(?:"schema": \d+, )?"step": (\d{1,18})\b.*\}\n')
CSV_STEP = re.compile(rb"(\d{1,18}),")


def end_of_json_lines(file: BinaryIO, step: int) -> int:
    """Bytes up to the end of the record of ``step``, read from the end of the file.

    Lines behind it that are no records, as a power cut may leave them, do not matter.

    Raises:
        DataError: the last record that is not later is not that of ``step``.
    """
    if not os.fstat(file.fileno()).st_size:
        raise lost(file.name, step, "none")
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        end = content.rfind(b"\n") + 1
        while end:
            start = content.rfind(b"\n", 0, end - 1) + 1
            found = JSON_STEP.fullmatch(content[start:end])
            if found and int(found[1]) <= step:
                return _require(file.name, step, int(found[1]), end)
            end = start
    raise lost(file.name, step, "none")


def end_of_csv(file: BinaryIO, step: int) -> tuple[list[str], int]:
    """Names of the columns, and bytes up to the end of the record of ``step``.

    Raises:
        DataError: the last record that is not later is not that of ``step``.
    """
    lines = _whole_csv_lines(file)
    header = next(lines, b"")
    end, reached, place = 0, 0, len(header)
    for line in lines:
        found = CSV_STEP.match(line)
        if not found or int(found[1]) > step:
            break
        place += len(line)
        end, reached = place, int(found[1])
    names = next(csv.reader([header.decode()]), [])
    return names, _require(file.name, step, reached, end)


def _whole_csv_lines(file: BinaryIO) -> Iterator[bytes]:
    """Lines, each with the lines that its quoted cells go on in; half a line is none."""
    parts: list[bytes] = []
    open_quotes = 0
    for line in file:
        parts.append(line)
        open_quotes ^= line.count(b'"') & 1
        if not open_quotes and line.endswith(b"\n"):
            yield b"".join(parts)
            parts.clear()


def cut(out: str, end: int) -> BinaryIO:
    """The file without what comes after ``end``, open to be written on from there."""
    file = open(out, "r+b")
    file.truncate(end)
    file.seek(end)
    return file


def _require(out: str, step: int, reached: int, end: int) -> int:
    if reached != step:
        raise lost(out, step, f"records up to step {reached}" if reached else "none")
    return end


def lost(out: str, step: int, what: str) -> DataError:
    """The error of records that are not there."""
    hint = "They were altered since: put them back, or start anew in another folder."
    return DataError(out, f"the records up to step {step}", what, hint)
