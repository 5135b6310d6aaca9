"""Memories of the slots of a period: what is usual at this time of the day or week."""

from __future__ import annotations

from math import isfinite, nan

import numpy as np

from tidegate.forecast.compiled import compiled
from tidegate.forecast.parts import Flat, Floats

__all__ = ["SlotMemory", "learn_slot"]

SLOW, FAST = 0.1, 0.4  #: rates of the two leaky averages of a slot
LAST, BEFORE, AVERAGE, RECENT = range(4)  #: columns of a reading
COLUMNS = 4
REACH = (0, -1, -2, 1, 2)  #: slots that are read, from the coming one on


@compiled
def learn_slot(row: Floats, value: float) -> None:
    """The finite ``value`` that came in the slot of ``row`` (column)."""
    if not isfinite(row[LAST]):
        row[:] = value
        row[BEFORE] = nan
        return
    row[BEFORE] = row[LAST]
    row[LAST] = value
    row[AVERAGE] += SLOW * (value - row[AVERAGE])
    row[RECENT] += FAST * (value - row[RECENT])


class SlotMemory(Flat):
    """For every slot of a period: its last value, the one before, a slow and a fast average.

    On a stream without gaps the last value of a slot is the value one period ago. On any other it
    is the last that was seen at this time of the period, so a missing day costs nothing.

    Args:
        period: slots, at least 2.

    Attributes:
        table: (slot, column).

    >>> memory = SlotMemory(period=2)
    >>> for step, value in enumerate((1.0, 5.0, 2.0, 6.0)):
    ...     memory.update(step, value)
    >>> memory.read(4)[0]
    array([2. , 1. , 1.1, 1.4])
    """

    def __init__(self, period: int, memory: Floats | None = None) -> None:
        super().__init__(period * COLUMNS, memory)
        self.memory[:] = nan
        self.period = period
        self.table = self.memory.reshape(period, COLUMNS)

    def read(self, step: int) -> Floats:
        """Float64 (slot of ``REACH``, column) round the slot of ``step``; NaN where never seen."""
        found: Floats = self.table[(np.array(REACH) + step) % self.period]
        return found

    def average(self, step: int) -> float:
        """The slow average of the slot of ``step``; NaN where never seen."""
        return float(self.table[step % self.period, AVERAGE])

    def seen(self, step: int) -> bool:
        """Whether the slot of ``step`` has ever had a value."""
        return isfinite(self.table[step % self.period, LAST])

    def full(self) -> bool:
        """Whether every slot has had a value."""
        return bool(np.isfinite(self.table[:, LAST]).all())

    def update(self, step: int, value: float) -> None:
        """The finite ``value`` that came at ``step``."""
        learn_slot(self.table[step % self.period], float(value))
