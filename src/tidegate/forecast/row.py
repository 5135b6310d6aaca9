"""What happens at a row beside its gated experts: two calls into machine code, on flat memories."""

from __future__ import annotations

from math import inf, isfinite, nan

import numpy as np
from numpy.typing import NDArray

from tidegate.forecast.compiled import Integers, compiled, inner, kept
from tidegate.forecast.judging.alarms import BACK, NEWS, STEPS, watch
from tidegate.forecast.judging.error_scale import Given, SpreadState, spread_in
from tidegate.forecast.judging.intervals import ScoreState, levels_in, scores_in
from tidegate.forecast.judging.judge import expect_error, judge_error
from tidegate.forecast.judging.profile import ABOVE, BELOW
from tidegate.forecast.judging.whitening import watch_in
from tidegate.forecast.model.asking import conclude
from tidegate.forecast.model.feature_learning import see_columns
from tidegate.forecast.model.feature_state import LEVEL, FeatureState, row_of
from tidegate.forecast.model.layout import LEVEL_AT
from tidegate.forecast.model.mind import (
    Asked,
    Plan,
    asked_in,
    at_in,
    past,
    plan_in,
    section_of,
)
from tidegate.forecast.model.observing import observe
from tidegate.forecast.model.ridge import loosen_ridge
from tidegate.forecast.model.scale import VALUE
from tidegate.forecast.model.slots import AVERAGE
from tidegate.forecast.parts import Floats

__all__ = [
    "MISSING",
    "NEWS_OF_ROW",
    "RANK",
    "READY",
    "code_is_kept",
    "meet_row",
    "say_row",
    "told_size",
]

LOOSENED = 0.7  #: what linear experts keep of the past at a shift, until it turns out a blip

#: of the news of a row, after those of a shift: the rank of its error, NaN where there is none;
#: whether something was missing; whether the stream had changed before
RANK, MISSING, READY = range(NEWS, NEWS + 3)
NEWS_OF_ROW = NEWS + 3


def told_size(levels: int) -> int:
    """Numbers that :func:`say_row` tells."""
    return 2 + 2 * levels


def code_is_kept() -> bool:
    """Whether the first row need not wait until machine code is made."""
    return kept(meet_row)


@compiled
def say_row(
    memory: Floats,
    shape: Integers,
    place: Integers,
    numbers: Floats,
    said: NDArray[np.float32],
    spread: Floats,
    scores: Floats,
    least: float,
    told: Floats,
) -> None:
    """What all experts say of the coming row, where the gated ones ``said`` this.

    Args:
        memory, shape, place, numbers: of a :class:`~tidegate.forecast.model.core.Core`.
        said: (gated expert).
        spread, scores: memories of a :class:`~tidegate.forecast.judging.judge.Judge`.
        least: below which no value can be.
        told: filled in: the usual change, 0 before the stream has changed; the forecast; and for
            every level the low and the high end of the interval, infinite at first.
    """
    change = conclude(memory, shape, place, numbers, said)
    plan = plan_in(shape)
    asked, features = asked_in(numbers, plan), past(memory, plan, at_in(shape))
    usual, levels = features.scale[VALUE], levels_in(scores)
    value, widths = features.recent[0] + usual * change, np.empty((levels, 2))
    sizes, ranks = _judging(spread, scores, asked)
    expect_error(sizes, ranks, _given(asked), widths)
    told[0], told[1] = usual, max(value, least)
    for k in range(levels):
        below = usual * widths[k, BELOW] if usual > 0 else inf
        above = usual * widths[k, ABOVE] if usual > 0 else inf
        told[2 + 2 * k] = max(value - below, least)
        told[3 + 2 * k] = max(value + above, least)


@compiled
def meet_row(
    memory: Floats,
    shape: Integers,
    place: Integers,
    numbers: Floats,
    value: float,
    inputs: Floats,
    xs: Floats,
    targets: Floats,
    spread: Floats,
    scores: Floats,
    watching: Floats,
    news: Floats,
) -> None:
    """The row that came: it is judged, watched for a shift, and learned from.

    Args:
        memory, shape, place, numbers, spread, scores: as of :func:`say_row`, which was called.
        value: of the target, NaN where it is missing.
        inputs: (column).
        xs, targets: filled in: what the gated experts are to learn.
        watching: memory of a :class:`~tidegate.forecast.judging.alarms.ShiftDetector`.
        news: filled in, as ``NEWS_OF_ROW`` numbers.
    """
    plan, at = plan_in(shape), at_in(shape)
    asked, features = asked_in(numbers, plan), past(memory, plan, at)
    usual, known = features.scale[VALUE], isfinite(value)
    news[RANK], news[READY] = nan, 1.0 if usual > 0 else 0.0
    if known and usual > 0:
        sizes, ranks = _judging(spread, scores, asked)
        error = (value - features.recent[0]) / usual - asked.mixed[0]
        news[RANK] = judge_error(sizes, ranks, _given(asked), error)
    watch(watch_in(watching), value - _expected(features, place), news[:NEWS])
    if news[STEPS] > 0:
        _loosen(memory, plan, at, 1 / LOOSENED if news[BACK] > 0 else LOOSENED)
    observe(memory, shape, place, numbers, value, xs, targets)
    see_columns(features, inputs)
    news[MISSING] = 0.0 if known else 1.0
    for k in range(len(inputs)):
        if not isfinite(inputs[k]):
            news[MISSING] = 1.0


@inner
def _judging(spread: Floats, scores: Floats, asked: Asked) -> tuple[SpreadState, ScoreState]:
    return (
        spread_in(spread, len(asked.doubts), len(asked.around)),
        scores_in(scores, 0, levels_in(scores)),
    )


@inner
def _given(asked: Asked) -> Given:
    """What the size of an error may depend on."""
    forecast = np.empty(2)
    forecast[0] = asked.mixed[0] - asked.x[LEVEL_AT]
    forecast[1] = asked.mixed[0]
    return Given(asked.doubts, asked.around, forecast)


@inner
def _expected(features: FeatureState, place: Integers) -> float:
    """What is usual at this place, without which a season would look like shifts."""
    periods = len(features.starts) - 1
    if not periods:
        return 0.0
    slot = row_of(features.starts, periods - 1, place[periods - 1])
    usual = features.table[slot, AVERAGE]
    return float(usual if isfinite(usual) else features.level[LEVEL])


@inner
def _loosen(memory: Floats, plan: Plan, at: Integers, share: float) -> None:
    for k in range(len(plan.linear)):
        for section in range(plan.sections[k]):
            loosen_ridge(section_of(memory, plan, at, k, section), share)
