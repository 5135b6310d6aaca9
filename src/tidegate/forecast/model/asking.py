"""The first phases of a step: what is known is looked at, and the experts speak."""

from __future__ import annotations

from math import isfinite, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from tidegate.forecast.compiled import Integers, compiled, inner, product
from tidegate.forecast.model.blips import BlipState, as_if_passed, blips_in
from tidegate.forecast.model.calendar import calendar_in
from tidegate.forecast.model.feature_learning import pass_over
from tidegate.forecast.model.feature_state import NO_DAY, FeatureState, row_of, within
from tidegate.forecast.model.feature_values import features_at
from tidegate.forecast.model.ferns import predict_ferns
from tidegate.forecast.model.mind import (
    BLEND,
    BLIP,
    DAYS,
    ERRORS,
    LAGS,
    LAST_TWO,
    LOAD,
    LOADS,
    NEAR,
    OWN,
    OWN_SIZES,
    SCALES,
    SIZES,
    SURPRISES,
    WIDE,
    Plan,
    asked_in,
    at_in,
    base_of,
    ferns,
    last_word,
    linear_expert,
    part,
    past,
    plan_in,
    table,
)
from tidegate.forecast.model.mixing import mixed, mixture_in
from tidegate.forecast.model.scale import VALUE
from tidegate.forecast.model.slots import AVERAGE, LAST, RECENT
from tidegate.forecast.model.stacking import stacked
from tidegate.forecast.parts import Floats

__all__ = ["choose", "conclude", "copy", "iterate", "prepare"]

CAP = 5.0  #: usual sizes at which inputs of gated experts are cut
USUAL = 1.25  #: mean absolute value of a standard normal number, about, the other way round
FARTHEST_CORRECTION = 5.0  #: usual errors of its base that a gated expert may correct


@compiled
def prepare(memory: Floats, shape: Integers, place: Integers, numbers: Floats, xs: Floats) -> None:
    """What linear experts say of the step at ``place``, and what gated ones see of it."""
    plan, at = plan_in(shape), at_in(shape)
    asked = asked_in(numbers, plan)
    features_at(past(memory, plan, at), place, asked.x)
    asked.base[0] = _speak(memory, plan, at, place, asked.x, asked.linear)
    if len(xs):
        own = asked.own
        errors = part(memory, at, ERRORS)
        own[0], own[1] = errors[0], errors[1]
        own[2], own[3], own[4] = asked.base[0], asked.linear[NEAR], asked.linear[LAGS]
        _recall(memory, plan, at, place, own)
        _show(memory, plan, at, numbers)
        copy(asked.inputs, xs)


@inner
def _speak(
    memory: Floats, plan: Plan, at: Integers, place: Integers, x: Floats, said: Floats
) -> float:
    """What linear experts say of a step at ``place`` with features x, and how it is mixed."""
    chosen = np.empty(plan.linear.shape[1])
    for k in range(len(said)):
        ridge = linear_expert(memory, plan, at, k, place, x)
        choose(x, plan.linear[k], chosen)
        said[k] = product(ridge.weights, chosen)
    return mixed(mixture_in(memory, at[BLEND], len(said)), said)


@inner
def choose(x: Floats, which: Integers, chosen: Floats) -> None:
    """Put the chosen of x first; -1 chooses nothing."""
    for i in range(len(which)):
        if which[i] >= 0:
            chosen[i] = x[which[i]]


@inner
def _recall(memory: Floats, plan: Plan, at: Integers, place: Integers, own: Floats) -> None:
    """How this day of the year, and this time of every period, surprised."""
    periods = len(plan.starts) - 1
    own[5] = own[6] = 0.0
    if place[periods] != NO_DAY:
        days = calendar_in(memory, at[DAYS])
        own[5] = days.fixed[place[periods]]
        own[6] = days.moving[place[periods + 1]]
    surprises = table(memory, at, SURPRISES)
    for k in range(periods):
        row = row_of(plan.starts, k, place[k])
        known = isfinite(surprises[row, AVERAGE])
        own[OWN + 2 * k] = surprises[row, AVERAGE] if known else 0.0
        own[OWN + 2 * k + 1] = surprises[row, RECENT] if known else 0.0


@inner
def _show(memory: Floats, plan: Plan, at: Integers, numbers: Floats) -> None:
    """Features and numbers of their own, on the scale of 1, as every gated expert sees them."""
    asked = asked_in(numbers, plan)
    features, own = len(asked.x), len(asked.own)
    sizes, own_sizes = part(memory, at, SIZES), part(memory, at, OWN_SIZES)
    scaled = np.empty(features + own)
    for k in range(features):
        scaled[k] = within(asked.x[k] / (USUAL * sizes[k]), CAP)
    for k in range(own):
        scaled[features + k] = within(asked.own[k] / (USUAL * own_sizes[k]), CAP)
    for n in range(len(plan.gated)):
        asked.inputs[n, :] = 0.0
        choose(scaled, plan.gated[n], asked.inputs[n])


@inner
def copy(numbers: Floats, into: Floats) -> None:
    """All of a table."""
    for n in range(numbers.shape[0]):
        for k in range(numbers.shape[1]):
            into[n, k] = numbers[n, k]


@compiled
def conclude(
    memory: Floats,
    shape: Integers,
    place: Integers,
    numbers: Floats,
    said: NDArray[np.float32],
) -> float:
    """The forecast of all experts, where the gated ones ``said`` this."""
    plan, at = plan_in(shape), at_in(shape)
    asked, scales = asked_in(numbers, plan), part(memory, at, SCALES)
    forecasts, linear = asked.forecasts, len(asked.linear)
    for k in range(linear):
        forecasts[k] = asked.linear[k]
    for k in range(len(said)):
        correction = within(float(said[k]), FARTHEST_CORRECTION)
        forecasts[linear + k] = base_of(asked, plan.corrects[k]) + (
            scales[2 * k + VALUE] * correction
        )
    forecasts[-1] = 0.0
    asked.two[0] = asked.two[1] = stacked(last_word(memory, plan, at), forecasts)
    if len(plan.ferns):
        asked.two[1] += predict_ferns(ferns(memory, plan, at), plan.ferns, numbers)
    asked.after[0] = asked.after[1] = mixed(mixture_in(memory, at[LAST_TWO], 2), asked.two)
    blips = blips_in(memory, at[BLIP])
    if blips.open[0] > 0:
        asked.after[1] = _pass_over(memory, plan, at, place, blips)
    asked.mixed[0] = mixed(blips.mixture, asked.after)
    loads = table(memory, at, LOADS)
    usual = loads[place[len(plan.starts) - 2] % len(loads), AVERAGE] if len(loads) else nan
    asked.doubts[0] = usual if isfinite(usual) else memory[at[LOAD] + VALUE]
    asked.doubts[4] = abs(memory[at[ERRORS]])
    _differ(asked.linear, forecasts, asked.mixed[0], asked.doubts)
    for k in range(len(asked.around)):
        asked.around[k] = asked.x[plan.linear[WIDE, 1 + k]]  # the first is the constant
    return float(asked.mixed[0])


@inner
def _pass_over(
    memory: Floats, plan: Plan, at: Integers, place: Integers, blips: BlipState
) -> float:
    """What linear experts say of the change at ``place`` if the last value was a blip."""
    now = past(memory, plan, at)
    passed = as_if_passed(blips, now)
    x, said = np.empty(plan.sizes[0]), np.empty(len(plan.linear))
    features_at(passed, place, x)
    change = _speak(memory, plan, at, place, x, said)
    return float(change + (passed.recent[0] - now.recent[0]) / now.scale[VALUE])


@inner
def _differ(linear: Floats, forecasts: Floats, said: float, doubts: Floats) -> None:
    """How large the forecast is, how far the linear experts spread, and all differ from it."""
    mean, square, apart = 0.0, 0.0, 0.0
    for k in range(len(linear)):
        mean += linear[k] / len(linear)
    for k in range(len(linear)):
        square += (linear[k] - mean) ** 2 / len(linear)
    experts = len(forecasts) - 1
    for k in range(experts):
        apart += abs(forecasts[k] - said) / experts
    doubts[1], doubts[2], doubts[3] = abs(said), sqrt(square), apart


@compiled
def iterate(memory: Floats, plan: Plan, at: Integers, places: Integers, path: Floats) -> None:
    """Go on from the first value of ``path`` (step, 3), each taken for what came.

    The linear experts say the further ones. Beside each stand what is usual at its place, and what
    came there last.
    """
    now = past(memory, plan, at)
    ahead = FeatureState(
        now.starts, now.level, now.scale, now.recent.copy(), now.averages.copy(), now.table,
        now.sums, now.common, now.days, now.past_days.copy(), now.columns,
    )  # fmt: skip
    x, said, last = np.empty(plan.sizes[0]), np.empty(len(plan.linear)), now.recent[0]
    periods = len(plan.starts) - 1
    for k in range(len(places)):
        if k > 0:
            features_at(ahead, places[k], x)
            change = _speak(memory, plan, at, places[k], x, said) * now.scale[VALUE]
            path[k, 0] = ahead.recent[0] + change
        pass_over(ahead, places[k], path[k, 0])
        usual, before = now.level[0], last
        if periods:
            row = row_of(plan.starts, periods - 1, places[k, periods - 1])
            usual, before = now.table[row, AVERAGE], now.table[row, LAST]
        path[k, 1] = usual if isfinite(usual) else last
        path[k, 2] = before if isfinite(before) else last
