"""The features of a coming step, from what is known of the past."""

from __future__ import annotations

from math import cos, nan, pi, sin

from tidegate.forecast.compiled import Integers, compiled, inner
from tidegate.forecast.model.calendar import DayState
from tidegate.forecast.model.carry import carried
from tidegate.forecast.model.feature_state import (
    FARTHEST,
    LEVEL,
    NO_DAY,
    NOW,
    THEN,
    WEEK,
    FeatureState,
    PeriodState,
    deviation,
    period_in,
    within,
)
from tidegate.forecast.model.layout import (
    AVERAGES,
    DAYS,
    FAST,
    LAGS,
    SEASON,
    SLOW,
    TABLE,
    TURNS,
)
from tidegate.forecast.model.scale import VALUE
from tidegate.forecast.model.slots import AVERAGE, COLUMNS, REACH
from tidegate.forecast.parts import Floats

__all__ = ["features_at"]

FIRST_SEASON = 1 + LAGS + len(AVERAGES)
LARGEST_RATIO = 3.0


@compiled
def features_at(state: FeatureState, place: Integers, x: Floats) -> None:
    """Fill in ``x`` (feature) for the coming step at ``place``."""
    x[:] = 0.0
    x[0] = 1.0
    if not state.scale[VALUE] > 0:
        return
    starts, columns = state.starts, state.columns
    periods, over = len(starts) - 1, 1.0 / state.scale[VALUE]
    x[1] = (state.level[LEVEL] - state.recent[0]) * over
    _changes(state.recent, state.averages, over, x[2:])
    phases = FIRST_SEASON + SEASON * periods
    carry = phases + (2 * periods + TURNS if periods else 0)
    for k in range(periods):
        season = x[FIRST_SEASON + SEASON * k :]
        x[carry + k] = _season(period_in(state, k), state.recent[0], place[k], over, season)
    if periods:
        _turn(starts, place, phases, x)
    days = carry + periods
    if place[periods] != NO_DAY:
        today = x[days : days + DAYS]
        _days(state.days, state.past_days, place[periods], place[periods + 1], over, today)
    for k in range(columns.shape[1]):
        x[days + DAYS + k] = columns[NOW, k]
        x[days + DAYS + columns.shape[1] + k] = columns[NOW, k] - columns[THEN, k]
    for k in range(len(x)):
        x[k] = within(x[k], FARTHEST) if x[k] == x[k] else 0.0


@inner
def _changes(recent: Floats, averages: Floats, over: float, x: Floats) -> None:
    for k in range(1, LAGS):
        x[k - 1] = (recent[k] - recent[0]) * over
    for k in range(len(AVERAGES)):
        x[LAGS - 1 + k] = (averages[k] - recent[0]) * over


@inner
def _season(period: PeriodState, last: float, slot: int, over: float, x: Floats) -> float:
    """Fill in the features of one period.

    Returns:
        the slow average of the slot, and the share of the last deviation that stays.
    """
    table, slots = period.table, len(period.table)
    for n, offset in enumerate(REACH):
        row = (slot + offset) % slots
        for column in range(COLUMNS):
            x[n * COLUMNS + column] = (table[row, column] - last) * over
    now, before = slot % slots, (slot - 1) % slots
    for n, column in enumerate((SLOW, FAST)):
        base = table[before, column]
        ratio = table[now, column] / base if base != 0 else nan
        if 0 < ratio < LARGEST_RATIO:
            x[TABLE + n] = last * (ratio - 1) * over
    share = carried(period.sums, period.common, slot)
    usual = (table[now, AVERAGE] - last) * over
    return float(usual + share * deviation(table, last, slot, over))


@inner
def _turn(starts: Integers, place: Integers, phases: int, x: Floats) -> None:
    """Phases of all periods; products of the main features with that of the shortest."""
    periods = len(starts) - 1
    for k in range(periods):
        period = starts[k + 1] - starts[k]
        angle = 2 * pi * (place[k] % period) / period
        x[phases + 2 * k] = sin(angle)
        x[phases + 2 * k + 1] = cos(angle)
    longest, turns = phases - SEASON, phases + 2 * periods
    for k, feature in enumerate((longest + SLOW, longest + COLUMNS + SLOW, 2)):
        x[turns + 2 * k] = x[feature] * x[phases]
        x[turns + 2 * k + 1] = x[feature] * x[phases + 1]


@inner
def _days(
    days: DayState, past: Floats, by_date: int, by_weekday: int, over: float, x: Floats
) -> None:
    """What the calendar says of today, yesterday and a week ago."""
    x[0] = days.fixed[by_date] * over
    x[1] = days.moving[by_weekday] * over
    for k in range(2):
        x[2 + k] = past[0, k] * over
        x[4 + k] = past[WEEK - 1, k] * over
