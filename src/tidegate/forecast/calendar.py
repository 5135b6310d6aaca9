"""Memories of days of the year: what was unusual about this day the last times it came."""

from __future__ import annotations

from datetime import date

import numpy as np

from tidegate.forecast.parts import Floats, Part

__all__ = ["CalendarMemory", "calendar_keys"]

DAYS_OF_YEAR = 12 * 31
NTH_WEEKDAYS = 12 * 7 * 5
RATE = 0.5  #: of a day's mean into the memory of its kind


def calendar_keys(day: date) -> tuple[int, int]:
    """Numbers of the day of the year, and of the n-th such weekday of its month.

    >>> calendar_keys(date(2014, 11, 27))  # the fourth Thursday of November
    (336, 368)
    """
    nth = (day.day - 1) // 7
    return (day.month - 1) * 31 + day.day - 1, ((day.month - 1) * 7 + day.weekday()) * 5 + nth


class CalendarMemory(Part):
    """The mean surprise of every day of the year, and of every n-th weekday of a month.

    So holidays are learned, those of fixed dates and those that move, without being named. The
    surprises of a day enter when it is over: what is read is of earlier years.

    >>> memory = CalendarMemory()
    >>> christmas = calendar_keys(date(2014, 12, 25))
    >>> memory.update(christmas, -3.0)
    >>> memory.update(calendar_keys(date(2014, 12, 26)), 0.0)
    >>> memory.read(calendar_keys(date(2015, 12, 25)))
    array([-1.5,  0. ])
    """

    learned = ("fixed", "moving", "today", "total", "count")

    def __init__(self) -> None:
        self.fixed: Floats = np.zeros(DAYS_OF_YEAR)
        self.moving: Floats = np.zeros(NTH_WEEKDAYS)
        self.today = np.array([-1, -1])
        self.total = 0.0
        self.count = 0

    def read(self, keys: tuple[int, int]) -> Floats:
        """What to expect, by day of the year and by n-th weekday."""
        return np.array([self.fixed[keys[0]], self.moving[keys[1]]])

    def update(self, keys: tuple[int, int], surprise: float) -> None:
        """A surprise of a step of that day, on the scale of 1."""
        if keys[0] != self.today[0]:
            self._close()
            self.today = np.array(keys)
        self.total += surprise
        self.count += 1

    def _close(self) -> None:
        if self.count:
            mean = self.total / self.count
            for memory, key in zip((self.fixed, self.moving), self.today, strict=True):
                memory[key] += RATE * (mean - memory[key])
        self.total, self.count = 0.0, 0
