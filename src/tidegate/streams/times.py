"""The text of a time as seconds."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isnan

from tidegate._core.errors import DataError
from tidegate.streams.numbers import decimal_point

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def parse_time(text: str, owner: str = "time") -> float:
    """Seconds of a time: since 1970 for ISO 8601 dates and times, else the number itself.

    A time without a zone is taken as UTC, so that all days have 24 hours. A plain number is
    seconds of a clock of its own.

    Raises:
        DataError: the text is neither; the message begins with ``owner``.

    >>> parse_time("1970-01-02"), parse_time("1970-01-01T02:00+01:00"), parse_time("17.5")
    (86400.0, 3600.0, 17.5)
    """
    try:
        seconds = decimal_point(text)
    except ValueError:
        seconds = _iso(text, owner)
    if isnan(seconds):
        raise _unreadable(text, owner)
    return seconds


def _iso(text: str, owner: str) -> float:
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError:
        raise _unreadable(text, owner) from None
    if time.tzinfo is None:
        time = time.replace(tzinfo=UTC)
    return (time - EPOCH).total_seconds()


def _unreadable(text: str, owner: str) -> DataError:
    return DataError(
        owner,
        "a time, as 2015-07-01 13:00 or a number of seconds",
        repr(text),
        "Write times as ISO 8601.",
    )
