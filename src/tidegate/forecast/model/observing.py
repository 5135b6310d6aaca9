"""The last phase of a step: all learn from the value that came."""

from __future__ import annotations

from math import isfinite, nan

import numpy as np

from tidegate.forecast.compiled import Integers, compiled, inner
from tidegate.forecast.model.asking import choose, copy
from tidegate.forecast.model.blips import blips_in, doubt, settle
from tidegate.forecast.model.calendar import calendar_in, learn_day
from tidegate.forecast.model.feature_learning import observe_value, pass_over
from tidegate.forecast.model.feature_state import FARTHEST, NO_DAY, row_of, within
from tidegate.forecast.model.ferns import learn_ferns
from tidegate.forecast.model.mind import (
    BLEND,
    BLIP,
    DAYS,
    ERRORS,
    LAST_TWO,
    LOAD,
    LOADS,
    OWN_SIZES,
    RIDGE,
    SCALES,
    SIZES,
    STEPS,
    SURPRISES,
    WIDE,
    WIDTH,
    Asked,
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
from tidegate.forecast.model.mixing import learn_mixture, mixture_in
from tidegate.forecast.model.ridge import learn_ridge
from tidegate.forecast.model.scale import VALUE, take_size
from tidegate.forecast.model.slots import AVERAGE, learn_slot
from tidegate.forecast.model.stacking import learn_stack
from tidegate.forecast.parts import Floats

__all__ = ["observe"]

CAP = 5.0  #: usual errors that a day's surprise counts for
SIZE_RATE, KNOWN = 0.002, 300.0
LEAST_SIZE = 1e-3
LOAD_WINDOW, GATED_WINDOW = 2_000.0, 500.0
LEAST_LOAD, LARGEST_LOAD = 0.2, 5.0


@compiled
def observe(
    memory: Floats,
    shape: Integers,
    place: Integers,
    numbers: Floats,
    value: float,
    xs: Floats,
    targets: Floats,
) -> None:
    """The value that came, NaN where it is missing; and what the gated experts are to learn."""
    plan, at = plan_in(shape), at_in(shape)
    asked, features = asked_in(numbers, plan), past(memory, plan, at)
    known, scale, last = isfinite(value), features.scale[VALUE], features.recent[0]
    if scale > 0:
        change = within((value - last) / scale, FARTHEST) if known else nan
        _aim(asked, plan.corrects, change, part(memory, at, SCALES), targets)
        copy(asked.inputs, xs)
        blips = blips_in(memory, at[BLIP])
        if known:
            error = settle(blips, features, asked.after, change)
            doubt(blips, features, error, memory[at[LOAD] + VALUE], last + scale * asked.mixed[0])
            _learn(memory, plan, at, place, numbers, change)
        else:
            blips.open[0] = 0.0
            part(memory, at, ERRORS)[:] = 0.0
    if known:
        observe_value(features, place, value)
    elif scale > 0:
        pass_over(features, place, last + scale * asked.mixed[0])
    memory[at[STEPS]] += 1


@inner
def _aim(asked: Asked, corrects: Integers, y: float, scales: Floats, targets: Floats) -> None:
    """The error that every gated expert is to correct, and its scale."""
    for k in range(len(targets)):
        error, scale = y - base_of(asked, corrects[k]), scales[2 * k : 2 * k + 2]
        targets[k] = error / scale[VALUE] if scale[VALUE] > 0 else nan
        if isfinite(error):
            take_size(scale, error, GATED_WINDOW)


@inner
def _learn(
    memory: Floats, plan: Plan, at: Integers, place: Integers, numbers: Floats, y: float
) -> None:
    asked = asked_in(numbers, plan)
    error, load = y - asked.base[0], part(memory, at, LOAD)
    usual = _usual(table(memory, at, LOADS), load[VALUE], place)
    _teach(memory, plan, at, place, asked.x, y, usual)
    learn_mixture(mixture_in(memory, at[BLEND], len(asked.linear)), asked.linear, y)
    learn_stack(last_word(memory, plan, at), asked.forecasts, y)
    learn_mixture(mixture_in(memory, at[LAST_TWO], 2), asked.two, y)
    if len(plan.ferns):
        learn_ferns(ferns(memory, plan, at), plan.ferns, numbers, y - asked.two[0])
    errors, steps = part(memory, at, ERRORS), memory[at[STEPS]]
    errors[0], errors[1] = error, errors[0]
    take_size(load, error, LOAD_WINDOW)
    _remember(memory, plan, at, place, asked.x, error)
    rate = SIZE_RATE if steps > KNOWN else 1 / (steps + 1)
    _follow(part(memory, at, SIZES), asked.x, rate)
    _follow(part(memory, at, OWN_SIZES), asked.own, rate)


@inner
def _teach(
    memory: Floats, plan: Plan, at: Integers, place: Integers, x: Floats, y: float, usual: float
) -> None:
    """The linear experts learn."""
    chosen = np.empty(plan.linear.shape[1])
    for k in range(len(plan.linear)):
        ridge = linear_expert(memory, plan, at, k, place, x)
        choose(x, plan.linear[k], chosen)
        seen = chosen[: len(ridge.weights)]
        learn_ridge(ridge, seen, y, usual, 1 - 1 / plan.windows[k], RIDGE, WIDTH)


@inner
def _remember(
    memory: Floats, plan: Plan, at: Integers, place: Integers, x: Floats, error: float
) -> None:
    """The error in the memories of slots and days."""
    periods, surprises = len(plan.starts) - 1, table(memory, at, SURPRISES)
    for k in range(periods):
        learn_slot(surprises[row_of(plan.starts, k, place[k])], error)
    scale = linear_expert(memory, plan, at, WIDE, place, x).scale[VALUE]
    if place[periods] != NO_DAY and scale > 0:
        days = calendar_in(memory, at[DAYS])
        learn_day(days, place[periods], place[periods + 1], within(error / scale, CAP))
    if periods:
        loads = table(memory, at, LOADS)
        learn_slot(loads[place[periods - 1] % len(loads)], abs(error))


@inner
def _follow(sizes: Floats, seen: Floats, rate: float) -> None:
    for k in range(len(sizes)):
        sizes[k] = max(sizes[k] + rate * (abs(seen[k]) - sizes[k]), LEAST_SIZE)


@inner
def _usual(loads: Floats, load: float, place: Integers) -> float:
    """How large errors are at this slot, over how large they are."""
    if not len(loads) or not load > 0:
        return 1.0
    slot = place[len(place) - 3]
    if not isfinite(loads[slot % len(loads), AVERAGE]):
        return 1.0
    total, count = 0.0, 0
    for offset in range(-1, 2):
        near = loads[(slot + offset) % len(loads), AVERAGE]
        if isfinite(near):
            total += near
            count += 1
    return min(max(total / count / load, LEAST_LOAD), LARGEST_LOAD)
