"""What becomes of a row that cannot be read: the run stops, or passes over it and says so."""

from __future__ import annotations

from abc import ABC, abstractmethod

from tidegate._core.errors import DataError

HELP = "Correct the row, or pass over such rows with --on-bad-row skip"


def bad_row(source: str, number: int, expected: str, got: str) -> DataError:
    """The error of a whole row: ragged, or too long.

    >>> print(bad_row("a.csv", 7, "3 cells", "2"))
    a.csv, row 7: expected 3 cells, got 2. Correct the row, or pass over such ...
    """
    return DataError(f"{source}, row {number}", expected, got, f"{HELP}.")


def bad_cell(
    source: str, number: int, column: str, expected: str, value: str, hint: str = ""
) -> DataError:
    """The error of one cell; ``hint`` is a sentence on what may be behind it.

    >>> print(bad_cell("a.csv", 7, "load", "a number", "12 MW"))
    a.csv, row 7, column 'load': expected a number, got '12 MW'. Correct the row, or ...
    """
    shown = repr(value if len(value) <= 80 else f"{value[:77]}...")
    help = f"{hint} {HELP}.".lstrip()
    return DataError(f"{source}, row {number}, column {column!r}", expected, shown, help)


def not_utf8(text: str) -> bool:
    """Whether the text was no UTF-8: such bytes arrive as lone surrogates, which nothing can write.

    >>> not_utf8("Zürich"), not_utf8(b"Z\\xfcrich".decode("utf-8", "surrogateescape"))
    (False, True)
    """
    return not text.isascii() and any("\udc80" <= letter <= "\udcff" for letter in text)


def require_key(source: str, number: int, column: str, text: str) -> None:
    """Refuses a cell that names no stream: an empty one, or what is no UTF-8.

    >>> require_key("a.csv", 7, "store", "north")
    """
    if not text or not_utf8(text):
        raise bad_cell(source, number, column, "the name of a stream in UTF-8", text)


def category_of(source: str, number: int, column: str, text: str) -> str | None:
    """The category of a cell, without spaces around it; None for an empty one.

    Nothing else stands for a missing category: ``NA``, ``-`` and ``.`` may well be some.

    Raises:
        DataError: the text is no UTF-8.

    >>> category_of("a.csv", 7, "sky", " sun "), category_of("a.csv", 8, "sky", "")
    ('sun', None)
    """
    if not_utf8(text):
        raise bad_cell(source, number, column, "a category in UTF-8", text)
    return text.strip() or None


class BadRows(ABC):
    """Called with the error of each bad row, in the order of the rows.

    Attributes:
        count: rows that were passed over.
        named: the errors of the first of them.
    """

    def __init__(self) -> None:
        self.count = 0
        self.named: list[DataError] = []

    @abstractmethod
    def __call__(self, error: DataError) -> None:
        """Raises ``error``, or returns for the stream to go on with the next row."""


class StopAtBadRow(BadRows):
    """The first bad row ends the stream.

    >>> StopAtBadRow()(bad_row("a.csv", 7, "3 cells", "2"))
    Traceback (most recent call last):
    tidegate._core.errors.DataError: a.csv, row 7: expected 3 cells, got 2. ...
    """

    def __call__(self, error: DataError) -> None:
        raise error


class SkipBadRows(BadRows):
    """Bad rows are passed over and counted; the first ``keep`` of them are named.

    >>> skipped = SkipBadRows()
    >>> skipped(bad_row("a.csv", 7, "3 cells", "2"))
    >>> skipped.count, skipped.named[0].owner
    (1, 'a.csv, row 7')
    """

    def __init__(self, keep: int = 100) -> None:
        super().__init__()
        self._keep = keep

    def __call__(self, error: DataError) -> None:
        self.count += 1
        if len(self.named) < self._keep:
            self.named.append(error)
