"""What features are made of: the memory of a stream's past as a compiled step has it."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np

from tidegate.forecast.compiled import Integers, compiled, inner
from tidegate.forecast.model.calendar import CALENDAR, DayState, calendar_in
from tidegate.forecast.model.layout import AVERAGES, LAGS
from tidegate.forecast.model.slots import AVERAGE, COLUMNS
from tidegate.forecast.parts import Floats

__all__ = [
    "FARTHEST",
    "FeatureState",
    "PeriodState",
    "deviation",
    "features_in",
    "features_size",
    "period_in",
    "row_of",
    "starts_of",
    "within",
]

FARTHEST = 50.0  #: usual changes that a feature, or a change of the target, counts for
WEEK = 7  #: days whose calendar surprises are kept
LEVEL, COUNT = 0, 1
NO_DAY = -1
MEANS, SPREADS, NOW, THEN = range(4)  #: rows of what is known of further columns


class FeatureState(NamedTuple):
    """What features are made of; tables of all periods lie one below the other.

    Attributes:
        starts: the first row of every period in the tables, and their end.
        level: a slow average of the target, and the number of values.
        scale: of changes.
        recent: (lag) the last values.
        averages: (rate) of the target.
        table: (slot, column) of slot memories.
        sums: (slot, 2) of what is carried.
        common: (period, 2) of the same.
        days: the calendar of values.
        past_days: (day, 2) what it said of the last steps.
        columns: (4, input) means, spreads, and the last two standardised values of each.
    """

    starts: Integers
    level: Floats
    scale: Floats
    recent: Floats
    averages: Floats
    table: Floats
    sums: Floats
    common: Floats
    days: DayState
    past_days: Floats
    columns: Floats


def features_size(periods: Sequence[int], inputs: int) -> int:
    """Numbers in the memory of features."""
    tables = sum(periods) * (COLUMNS + 2) + 2 * len(periods)
    return 4 + LAGS + len(AVERAGES) + tables + CALENDAR + 2 * WEEK + 4 * inputs


def starts_of(periods: Sequence[int]) -> Integers:
    """The first row of every period in tables that lie one below the other, and their end."""
    return np.cumsum([0, *periods], dtype=np.int64)


@compiled
def features_in(memory: Floats, start: int, starts: Integers, inputs: int) -> FeatureState:
    """The state that lies in ``memory`` from ``start`` on."""
    periods, rows = len(starts) - 1, starts[-1]
    recent = start + 4
    averages = recent + LAGS
    table = averages + len(AVERAGES)
    sums = table + rows * COLUMNS
    common = sums + 2 * rows
    days = common + 2 * periods
    past_days = days + CALENDAR
    columns = past_days + 2 * WEEK
    return FeatureState(
        starts,
        memory[start : start + 2],
        memory[start + 2 : recent],
        memory[recent:averages],
        memory[averages:table],
        memory[table:sums].reshape((rows, COLUMNS)),
        memory[sums:common].reshape((rows, 2)),
        memory[common:days].reshape((periods, 2)),
        calendar_in(memory, days),
        memory[past_days:columns].reshape((WEEK, 2)),
        memory[columns : columns + 4 * inputs].reshape((4, inputs)),
    )


class PeriodState(NamedTuple):
    """What features of one period are made of, as in :class:`FeatureState`."""

    table: Floats
    sums: Floats
    common: Floats


@inner
def period_in(state: FeatureState, k: int) -> PeriodState:
    """The state of period k."""
    start, stop = state.starts[k], state.starts[k + 1]
    return PeriodState(state.table[start:stop], state.sums[start:stop], state.common[k])


@inner
def within(x: float, farthest: float) -> float:
    """x, or what is nearest to it between -farthest and farthest."""
    return min(max(x, -farthest), farthest)


@inner
def row_of(starts: Integers, k: int, slot: int) -> int:
    """Of a slot of period k in tables that lie one below the other."""
    return int(starts[k] + slot % (starts[k + 1] - starts[k]))


@inner
def deviation(table: Floats, last: float, slot: int, over: float) -> float:
    """Of the last value from the slow average of the slot before."""
    before = (last - table[(slot - 1) % len(table), AVERAGE]) * over
    return within(before, FARTHEST) if isfinite(before) else 0.0
