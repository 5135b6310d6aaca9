"""How the memory of a stream's past takes in what came."""

from __future__ import annotations

from math import inf, isfinite

from tidegate.forecast.compiled import Integers, compiled, inner
from tidegate.forecast.model.calendar import learn_day
from tidegate.forecast.model.carry import learn_carry
from tidegate.forecast.model.feature_state import (
    COUNT,
    FARTHEST,
    LEVEL,
    MEANS,
    NO_DAY,
    NOW,
    SPREADS,
    THEN,
    WEEK,
    FeatureState,
    deviation,
    period_in,
    row_of,
    within,
)
from tidegate.forecast.model.layout import AVERAGES, LAGS
from tidegate.forecast.model.scale import VALUE, take_size
from tidegate.forecast.model.slots import AVERAGE, learn_slot
from tidegate.forecast.parts import Floats

__all__ = ["SCALE_WINDOW", "observe_value", "pass_over", "see_columns"]

SCALE_WINDOW = 500.0
LEVEL_WINDOW = 2_000.0
UNUSUAL = 30.0  #: usual changes up to which a day's surprise counts
FARTHEST_COLUMN = 8.0  #: usual deviations that a further column counts for


@compiled
def observe_value(state: FeatureState, place: Integers, value: float) -> None:
    """The finite value that came at ``place``."""
    last, level = state.recent[0], state.level
    if isfinite(last):
        if state.scale[VALUE] > 0:
            _learn_season(state, place, value, 1.0 / state.scale[VALUE])
        take_size(state.scale, value - last, SCALE_WINDOW)
    for k in range(len(state.starts) - 1):
        learn_slot(state.table[row_of(state.starts, k, place[k])], value)
    rate = 1 / min(level[COUNT] + 1, LEVEL_WINDOW)
    level[LEVEL] = value if level[COUNT] == 0 else level[LEVEL] + rate * (value - level[LEVEL])
    level[COUNT] += 1
    pass_over(state, place, value)


@inner
def _learn_season(state: FeatureState, place: Integers, value: float, over: float) -> None:
    periods, last = len(state.starts) - 1, state.recent[0]
    for k in range(periods):
        period = period_in(state, k)
        now = (value - period.table[place[k] % len(period.table), AVERAGE]) * over
        if isfinite(now):
            before = deviation(period.table, last, place[k], over)
            learn_carry(period.sums, period.common, place[k], before, within(now, FARTHEST))
            if k == periods - 1 and place[periods] != NO_DAY:
                unusual = within(now, UNUSUAL) / over
                learn_day(state.days, place[periods], place[periods + 1], unusual)


@compiled
def pass_over(state: FeatureState, place: Integers, value: float) -> None:
    """A value, or the forecast that stands in for it, joins the last ones."""
    periods = len(state.starts) - 1
    if place[periods] != NO_DAY:
        for k in range(WEEK - 1, 0, -1):
            for kind in range(2):
                state.past_days[k, kind] = state.past_days[k - 1, kind]
        state.past_days[0, 0] = state.days.fixed[place[periods]]
        state.past_days[0, 1] = state.days.moving[place[periods + 1]]
    recent, averages = state.recent, state.averages
    for k in range(LAGS - 1, 0, -1):
        recent[k] = recent[k - 1]
    recent[0] = value
    started = isfinite(averages[0])
    for k, rate in enumerate(AVERAGES):
        averages[k] = averages[k] + rate * (value - averages[k]) if started else value


@compiled
def see_columns(state: FeatureState, values: Floats) -> None:
    """Further columns of the row that came; NaN keeps what was there."""
    columns, rate = state.columns, 1 / min(state.level[COUNT] + 1, LEVEL_WINDOW)
    for k in range(len(values)):
        columns[THEN, k] = columns[NOW, k]
        if not isfinite(values[k]):
            continue
        spread = columns[SPREADS, k]
        limit = FARTHEST_COLUMN * spread if spread > 0 else inf
        apart = within(values[k] - columns[MEANS, k], limit)
        columns[MEANS, k] += rate * apart
        columns[SPREADS, k] += rate * (abs(apart) - spread)
        columns[NOW, k] = apart / columns[SPREADS, k] if columns[SPREADS, k] > 0 else apart
