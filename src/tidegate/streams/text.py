"""Rows from lines of delimited text, as they come: one reader for files, archives and pipes."""

from __future__ import annotations

import csv
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TypedDict

import numpy as np

from tidegate._core.errors import DataError, UsageError
from tidegate.streams.bad_rows import (
    BadRows,
    bad_cell,
    bad_row,
    category_of,
    not_utf8,
    require_key,
)
from tidegate.streams.base import Row, Stream
from tidegate.streams.columns import positions
from tidegate.streams.numbers import Number, cell_hint

BROKEN = (OSError, EOFError, zlib.error)
UTF16 = ("\udcff\udcfe", "\udcfe\udcff")


class TextStream(Stream):
    """Comma-separated values after RFC 4180, by Python's csv module.

    A row is there as soon as its last line is. Spaces around a cell do not matter; blank lines
    are no rows, except that in a source of one column a blank line is a missing value. Text after
    a closing quote, and a quote that nothing closes, make a bad row.

    Args:
        source: the name in messages.
        lines: the lines with their ends; the first one that is not blank is the header.
        columns: names of the target and of the inputs.
        time: name of the time column, or None.
        separator: one character other than a quote or the end of a line.
        number: what a cell's text is worth.
        bad_rows: what becomes of rows that cannot be read.
        key: name of the column that tells one stream from another, or None.
        category: name of the column of categories, or None.

    Raises:
        DataError: there is no header.
        UsageError: a name is not in the header, or is there twice; or nothing can be the
            separator that was given.

    >>> from tidegate.streams import StopAtBadRow, decimal_point
    >>> lines = ["load,wind\\n", "5,?\\n"]
    >>> stream = TextStream("-", lines, ["wind", "load"], None, ",", decimal_point, StopAtBadRow())
    >>> [row.values.tolist() for row in stream]
    [[nan, 5.0]]
    """

    def __init__(
        self,
        source: str,
        lines: Iterable[str],
        columns: Sequence[str],
        time: str | None,
        separator: str,
        number: Number,
        bad_rows: BadRows,
        key: str | None = None,
        category: str | None = None,
    ) -> None:
        self.source = source
        self.columns = tuple(columns)
        self._read = 0
        self._width = 0
        self._number = number
        self._bad_rows = bad_rows
        self._line = ""
        self._form = _form(separator)
        self._reader = csv.reader(self._seen(lines), **self._form)
        header = self._header()
        self._width = len(header)
        self._places = positions(header, columns, source)
        self._title = time or ""
        self._time = None if time is None else positions(header, [time], source)[0]
        self._name = key or ""
        self._key = None if key is None else positions(header, [key], source)[0]
        self._kind = category or ""
        self._category = None if category is None else positions(header, [category], source)[0]

    def __iter__(self) -> Iterator[Row]:
        for cells in self._lines():
            self._read += 1
            try:
                row = self._row(cells)
            except DataError as error:
                self._bad_rows(error)
            else:
                yield row

    def _header(self) -> list[str]:
        for cells in self._lines():
            if isinstance(cells, csv.Error):
                raise DataError(self.source, "a header line", str(cells), "Is it text?")
            if cells and cells[0].startswith(UTF16):
                raise DataError(self.source, "text in UTF-8", "UTF-16", "Convert the file.")
            return [name.strip() for name in cells]
        raise DataError(self.source, "a header line", "nothing", "Is this the right file?")

    def _lines(self) -> Iterator[list[str] | csv.Error]:
        """The cells of each line, or why the line has none."""
        while True:
            read = self._reader.line_num
            try:
                cells = next(self._reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield self._mended(self._reader.line_num - read) or error
            except BROKEN as error:
                raise self._broken(error) from error
            else:
                if cells:
                    yield cells
                elif self._width == 1:
                    yield [""]

    def _seen(self, lines: Iterable[str]) -> Iterator[str]:
        for self._line in lines:
            yield self._line

    def _mended(self, lines: int) -> list[str] | None:
        """The cells where only spaces stood between a closing quote and the separator."""
        if lines != 1 or '" ' not in self._line:
            return None
        separator = re.escape(self._form["delimiter"])
        quoted = rf'(?:^|(?<={separator})) *("[^"]*(?:""[^"]*)*") *(?={separator}|[\r\n]*$)'
        try:
            return next(csv.reader([re.sub(quoted, r"\1", self._line)], **self._form))
        except csv.Error:
            return None

    def _row(self, cells: list[str] | csv.Error) -> Row:
        if isinstance(cells, csv.Error):
            raise bad_row(self.source, self._read, "cells that end", str(cells))
        if len(cells) != self._width:
            raise bad_row(self.source, self._read, f"{self._width} cells", str(len(cells)))
        try:
            values = np.array([self._number(cells[place]) for place in self._places])
        except ValueError:
            raise self._bad_cell(cells) from None
        return Row(
            self._read, self._time_of(cells), values, self._key_of(cells), self._category_of(cells)
        )

    def _time_of(self, cells: list[str]) -> str | None:
        if self._time is None:
            return None
        text = cells[self._time]
        if not_utf8(text):
            raise bad_cell(self.source, self._read, self._title, "a time in UTF-8", text)
        return text or None

    def _key_of(self, cells: list[str]) -> str | None:
        if self._key is None:
            return None
        text = cells[self._key].strip()
        require_key(self.source, self._read, self._name, text)
        return text

    def _category_of(self, cells: list[str]) -> str | None:
        if self._category is None:
            return None
        return category_of(self.source, self._read, self._kind, cells[self._category])

    def _bad_cell(self, cells: list[str]) -> DataError:
        for name, place in zip(self.columns, self._places, strict=True):
            try:
                self._number(cells[place])
            except ValueError:
                hint = cell_hint(self._number, cells[place], name == self.columns[0])
                return bad_cell(self.source, self._read, name, "a number", cells[place], hint)
        raise AssertionError("called for a row without a bad cell")

    def _broken(self, error: Exception) -> DataError:
        return DataError(
            f"{self.source}, after row {self._read}",
            "more rows or an end",
            f"{type(error).__name__}: {error}",
            "The file is damaged or has gone.",
        )


class _Form(TypedDict):
    delimiter: str
    skipinitialspace: bool
    strict: bool


def _form(separator: str) -> _Form:
    """How the csv module is to read; without ``strict`` a stray quote would swallow rows."""
    if len(separator) != 1 or separator in '"\r\n':
        hint = "Try --separator ';'."
        raise UsageError("--separator", "one character that parts cells", repr(separator), hint)
    return _Form(delimiter=separator, skipinitialspace=separator != " ", strict=True)
