"""The time of a row, or the error of the cell that holds it."""

from __future__ import annotations

from typing import Protocol

from tidegate._core.errors import DataError
from tidegate.streams import Row, bad_cell

__all__ = ["Dated", "dated"]


class Dated(Protocol):
    """What takes the times of one stream.

    >>> from tidegate.forecast.category_track import CategoryTrack
    >>> stream: Dated = CategoryTrack(limit=4, units=2)
    >>> stream.date("2021-01-01"), stream.date("2021-01-02")
    (None, 'step')
    """

    def date(self, time: str | None) -> str | None:
        """What :meth:`Clock.observe` says of it."""


def dated(stream: Dated, row: Row, source: str, column: str) -> str | None:
    """Hand on the time of ``row``; what :meth:`Clock.observe` says of it.

    Args:
        stream: the row belongs to.
        row: that has come.
        source: the name of the rows' source in messages.
        column: the name of the column that dates a row.

    Raises:
        DataError: the time cannot be read, or is not after that of the row before.

    >>> import numpy as np
    >>> from tidegate.forecast.category_track import CategoryTrack
    >>> stream, rows = CategoryTrack(limit=4, units=2), [("2021-01-02", 1), ("2021-01-01", 2)]
    >>> for time, number in rows:
    ...     event = dated(stream, Row(number, time, np.zeros(0)), "a.csv", "day")
    Traceback (most recent call last):
    tidegate._core.errors.DataError: a.csv, row 2, column 'day': expected a time after that of ...
    """
    try:
        event = stream.date(row.time)
    except DataError as error:
        raise _bad(row, source, column, error.expected) from None
    if event == "late":
        raise _bad(row, source, column, "a time after that of the row before")
    return event


def _bad(row: Row, source: str, column: str, expected: str) -> DataError:
    return bad_cell(source, row.number, column, expected, str(row.time))
