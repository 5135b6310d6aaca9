"""Memories of days of the year: what was unusual about this day the last times it came."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

import numpy as np

from tidegate.forecast.compiled import compiled, inner
from tidegate.forecast.parts import Flat, Floats

__all__ = ["CALENDAR", "CalendarMemory", "DayState", "calendar_in", "calendar_keys", "learn_day"]

DAYS_OF_YEAR = 12 * 31
NTH_WEEKDAYS = 12 * 7 * 5
RATE = 0.5  #: of a day's mean into the memory of its kind
BY_DATE, BY_WEEKDAY, TOTAL, COUNT = range(4)
CALENDAR = DAYS_OF_YEAR + NTH_WEEKDAYS + 4  #: numbers in a calendar


class DayState(NamedTuple):
    """What is known of days.

    Attributes:
        fixed: (day of the year).
        moving: (n-th weekday of a month).
        today: the keys of the day, its total surprise, and of how many steps.
    """

    fixed: Floats
    moving: Floats
    today: Floats


def calendar_keys(day: date) -> tuple[int, int]:
    """Numbers of the day of the year, and of the n-th such weekday of its month.

    >>> calendar_keys(date(2014, 11, 27))  # the fourth Thursday of November
    (336, 368)
    """
    nth = (day.day - 1) // 7
    return (day.month - 1) * 31 + day.day - 1, ((day.month - 1) * 7 + day.weekday()) * 5 + nth


@compiled
def calendar_in(memory: Floats, start: int) -> DayState:
    """The state that lies in ``memory`` from ``start`` on."""
    moving, today = start + DAYS_OF_YEAR, start + DAYS_OF_YEAR + NTH_WEEKDAYS
    return DayState(memory[start:moving], memory[moving:today], memory[today : today + 4])


@compiled
def learn_day(state: DayState, by_date: int, by_weekday: int, surprise: float) -> None:
    """A surprise of a step of the day with these keys, on the scale of 1."""
    today = state.today
    if by_date != today[BY_DATE]:
        _close(state)
        today[BY_DATE], today[BY_WEEKDAY] = by_date, by_weekday
    today[TOTAL] += surprise
    today[COUNT] += 1


@inner
def _close(state: DayState) -> None:
    today = state.today
    if today[COUNT] > 0:
        mean = today[TOTAL] / today[COUNT]
        by_date, by_weekday = int(today[BY_DATE]), int(today[BY_WEEKDAY])
        state.fixed[by_date] += RATE * (mean - state.fixed[by_date])
        state.moving[by_weekday] += RATE * (mean - state.moving[by_weekday])
    today[TOTAL] = today[COUNT] = 0.0


class CalendarMemory(Flat):
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

    def __init__(self, memory: Floats | None = None) -> None:
        super().__init__(CALENDAR, memory)
        self._state = calendar_in(self.memory, 0)
        self._state.today[:2] = -1

    def read(self, keys: tuple[int, int]) -> Floats:
        """What to expect, by day of the year and by n-th weekday."""
        return np.array([self._state.fixed[keys[0]], self._state.moving[keys[1]]])

    def update(self, keys: tuple[int, int], surprise: float) -> None:
        """A surprise of a step of that day, on the scale of 1."""
        learn_day(self._state, *keys, float(surprise))
