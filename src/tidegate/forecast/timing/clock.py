"""The clock of a stream: when the next row is due, and which periods its times make known."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta, tzinfo
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from tidegate.forecast.parts import Arrays, Part
from tidegate.forecast.timing.instants import seconds_of
from tidegate.streams import decimal_point

__all__ = ["Clock"]

DAY = 86_400.0
NAMED_PERIODS = (("day ago", DAY), ("week ago", 7 * DAY))
MIDNIGHT = time()
ZONE = re.compile(r"[Z+-].*")
#: length of a clock's text -> how it is written, and the microseconds of its last digit
TIMESPECS = {
    5: ("minutes", 60_000_000),
    8: ("seconds", 1_000_000),
    12: ("milliseconds", 1_000),
    15: ("microseconds", 1),
}
USUAL = ("", " ", "T")  # between date and time; what is written so reads back the same
LONGEST = 604_800  #: steps of a period that is remembered: a week of seconds, 5 MB


class Clock(Part):
    """Reads the times of rows as they come; the first two tell the step.

    Args:
        zone: in which times without one are meant; by default they stand as they are.

    Attributes:
        step: seconds from row to row, None before two rows with a time were seen.
        missed: steps without a row, before the newest one.

    >>> clock = Clock()
    >>> clock.observe("2015-07-01 00:00:00"), clock.observe("2015-07-01 01:00:00")
    (None, 'step')
    >>> clock.periods()
    {'day ago': 24, 'week ago': 168}
    >>> clock.next_time()
    '2015-07-01 02:00:00'
    """

    def __init__(self, zone: tzinfo | None = None) -> None:
        self._zone = zone
        self.step: float | None = None
        self.missed = 0
        self._text: str | None = None
        self._seconds = 0.0
        self._undated = 0  # rows since the last time
        self._date: datetime | None = None  # of the text, where it is one and was read
        self._next_date: datetime | None = None  # of one that may yet be late
        self._due: tuple[str, datetime] | None = None  # what was last said of the coming row

    def observe(self, text: str | None) -> str | None:
        """Take the time of the row that has come; None passes for a step later than the last.

        Returns:
            ``"step"`` when the step has just become known, ``"late"`` for a time that is not
            after the one before (which is then kept), ``"gap"`` for one more than a step and a
            half after it, else None.

        Raises:
            DataError: the time cannot be read.
        """
        self.missed = 0
        if text is None:
            self._undated += 1
            return None
        seconds = self._read(text)
        if self._text is None:
            return self._take(text, seconds, None)
        rows, apart = self._undated + 1, seconds - self._seconds
        if apart <= 0:
            return "late"
        if self.step is None:
            self.step = apart / rows
            return self._take(text, seconds, "step")
        if apart <= (rows + 0.5) * self.step:
            return self._take(text, seconds, None)
        self.missed = round(apart / self.step) - rows
        return self._take(text, seconds, "gap")

    @property
    def seconds(self) -> float | None:
        """Since 1970, of the newest row; None where that had no time."""
        return None if self._text is None or self._undated else self._seconds

    def periods(self) -> dict[str, int]:
        """Periods of a whole number of steps, 2 to 604,800, that the clock makes known."""
        if self.step is None:
            return {}
        steps = {name: seconds / self.step for name, seconds in NAMED_PERIODS}
        return {name: round(n) for name, n in steps.items() if _counts(n)}

    def next_time(self) -> str | None:
        """The time of the coming row, written as the last one was; None before it is known."""
        if self.step is None:
            return None
        return self.next_at(self._seconds + (self._undated + 1) * self.step)

    def next_at(self, seconds: float) -> str | None:
        """The time of the coming row, where it is known to be due at these ``seconds``."""
        found = self._written(seconds)
        if found is None:
            return None
        text, date = found
        if date is not None and text[10:11] in USUAL:
            self._due = text, date
        return text

    def text_at(self, seconds: float) -> str | None:
        """A time written as the last one was; None before there is one, or after all years."""
        found = self._written(seconds)
        return None if found is None else found[0]

    def _written(self, seconds: float) -> tuple[str, datetime | None] | None:
        """A time as text, and as a date where it is one."""
        if self._text is None:
            return None
        text = self._text.strip()
        if ":" not in text:  # else it is no number
            try:
                return _number_like(text, seconds), None
            except ValueError:
                pass
        try:
            coming = self._later(text, seconds)
        except (OverflowError, ValueError):
            return None
        return _written_like(text, coming), coming

    def _later(self, text: str, seconds: float) -> datetime:
        date = self._date = self._date or datetime.fromisoformat(text)
        if self._zone is None or date.tzinfo is not None:
            return date + timedelta(seconds=seconds - self._seconds)
        # Steps follow true time: the clock on the wall may be set in between.
        return datetime.fromtimestamp(seconds, self._zone).replace(tzinfo=None)

    def state(self) -> Arrays:
        text = np.frombuffer((self._text or "").encode(), np.uint8)
        numbers = [nan if self.step is None else self.step, self._seconds]
        counts = [self._undated, self._text is not None]
        return {"text": text, "numbers": np.array(numbers), "counts": np.array(counts)}

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        step, self._seconds = state["numbers"].tolist()
        self.step = None if isnan(step) else step
        self._undated, dated = state["counts"].tolist()
        self._text = state["text"].tobytes().decode() if dated else None

    def _read(self, text: str) -> float:
        """Seconds of a time; on a regular grid it is the one that was due, and known already."""
        if self._due is None or text != self._due[0]:
            self._next_date = None
            seconds = seconds_of(text, self._zone)
            return seconds if seconds > self._seconds else self._second_time(text, seconds)
        date = self._next_date = self._due[1]
        return (date if date.tzinfo else date.replace(tzinfo=self._zone or UTC)).timestamp()

    def _second_time(self, text: str, first: float) -> float:
        """An hour that the clock on the wall shows twice, when it is set back, comes twice."""
        try:
            date = datetime.fromisoformat(text.strip())
        except ValueError:
            return first
        if self._zone is None or date.tzinfo is not None:
            return first
        return date.replace(tzinfo=self._zone, fold=1).timestamp()

    def _take(self, text: str, seconds: float, event: str | None) -> str | None:
        self._text, self._seconds, self._undated = text, seconds, 0
        self._date, self._next_date = self._next_date, None
        return event


def _counts(steps: float) -> bool:
    return 2 <= steps <= LONGEST and steps == round(steps)


def _number_like(text: str, coming: float) -> str:
    """As :func:`parse_time` does, a number is taken as one even where it could be a date."""
    decimal_point(text)
    return str(int(coming)) if text.isdigit() and coming.is_integer() else repr(coming)


def _written_like(text: str, coming: datetime) -> str:
    if len(text) == len("2015-07-01") and coming.time() == MIDNIGHT:
        return coming.date().isoformat()
    separator, clock = text[10:11] or " ", ZONE.sub("", text[11:])
    spec, unit = TIMESPECS.get(len(clock), ("auto", 1))
    if (coming.second * 1_000_000 + coming.microsecond) % unit:
        spec = "auto"
    written = coming.isoformat(separator, spec)
    return f"{written.removesuffix('+00:00')}Z" if text.endswith("Z") else written
