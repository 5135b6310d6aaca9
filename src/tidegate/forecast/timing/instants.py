"""Whatever stands for a time, as true seconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from math import isfinite
from typing import TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from tidegate._core.errors import DataError, UsageError
from tidegate.streams import parse_time

__all__ = ["Time", "seconds_of", "zone_of"]

Time: TypeAlias = "str | float | datetime | np.datetime64"


def zone_of(name: str | None) -> tzinfo | None:
    """The time zone called ``name``.

    Raises:
        UsageError: there is none.

    >>> zone_of(None) is None
    True
    """
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise UsageError(
            "zone", "a time zone, as Europe/Paris", repr(name), "Take a name of the IANA list."
        ) from error


def seconds_of(time: Time, zone: tzinfo | None) -> float:
    """Seconds since 1970; a time without a zone is wall time of ``zone``, or stands as it is.

    Raises:
        DataError: it is no time.

    >>> seconds_of("1970-01-01 02:00", zone_of("Europe/Paris"))
    3600.0
    """
    if isinstance(time, float) and isfinite(time):
        return float(time)
    if isinstance(time, np.datetime64):
        time = time.astype("datetime64[us]").item()
    if isinstance(time, datetime):
        return _of_datetime(time, zone)
    if isinstance(time, str):
        seconds = parse_time(time)
        if zone is None or _has_zone(time):
            return seconds
        return _of_datetime(datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None), zone)
    if not isinstance(time, int | float | np.number) or not isfinite(time):
        raise DataError("time", "a time", repr(time), "Give a datetime, ISO 8601 or seconds.")
    return float(time)


def _of_datetime(time: datetime, zone: tzinfo | None) -> float:
    return (time if time.tzinfo else time.replace(tzinfo=zone or UTC)).timestamp()


def _has_zone(text: str) -> bool:
    try:
        return datetime.fromisoformat(text.strip()).tzinfo is not None
    except ValueError:
        return True  # a plain number of seconds
