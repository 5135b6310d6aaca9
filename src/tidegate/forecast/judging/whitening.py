"""What a watch over a level keeps of its stream, and how it takes in a step: as machine code."""

from __future__ import annotations

from typing import NamedTuple

from tidegate.forecast.compiled import compiled, inner
from tidegate.forecast.judging.likelihood_ratio import LEAST, LEVEL_WINDOW, most_likely_shift
from tidegate.forecast.model.ridge import (
    RidgeState,
    learn_ridge,
    predict_ridge,
    ridge_in,
    ridge_size,
)
from tidegate.forecast.model.scale import VALUE, take_size
from tidegate.forecast.parts import Floats

__all__ = ["WatchState", "conclude", "meet", "watch_in", "watch_size"]

ORDER = 2  #: of the autoregression that whitens
KEEP, RIDGE, WIDTH = 0.9998, 1.0, 1.0
SPREAD_WINDOW = 2_000
REACH = 128  #: steps back at which a shift may have begun
SPIKE = 3  #: wild steps in a row that are no spike any more
CAP = 8.0  #: standard deviations that one step counts for
WARMUP = 100  #: steps before any can begin a shift
FIRST = 10  #: steps that teach the level alone
FARTHEST = 10.0  #: usual deviations that one counts for
NORMAL = 3.0  #: mean fourth power of normal noise of standard deviation 1

#: of the single numbers: the level and for how many steps it held, those seen in all and since the
#: last shift, the mean fourth power of residuals, level and steps before the last shift, the newest
#: value as it counts, the usual residual
LEVEL, WEIGHT, COUNT, SINCE, SPREAD, BEFORE, BEFORE_WEIGHT, CUT, USUAL = range(9)
NUMBERS = 9
EXPERT = ridge_size(ORDER)  #: numbers of the autoregression


class WatchState(NamedTuple):
    """All that is known.

    Attributes:
        numbers: single ones, by the places above.
        values: the last ones, the newest first, wild ones cut.
        raw: the same as they came.
        residuals: of the last steps, in standard deviations.
        expert: the autoregression.
        size: of what it learns from.
    """

    numbers: Floats
    values: Floats
    raw: Floats
    residuals: Floats
    expert: RidgeState
    size: Floats


def watch_size() -> int:
    """Numbers in a memory."""
    return NUMBERS + 3 * REACH + EXPERT + 2


@compiled
def watch_in(memory: Floats) -> WatchState:
    """The state that lies in ``memory``."""
    values, raw = NUMBERS, NUMBERS + REACH
    residuals, expert = NUMBERS + 2 * REACH, NUMBERS + 3 * REACH
    size = expert + EXPERT
    return WatchState(
        memory[:values],
        memory[values:raw],
        memory[raw:residuals],
        memory[residuals:expert],
        ridge_in(memory, expert, ORDER),
        memory[size : size + 2],
    )


@inner
def meet(state: WatchState, value: float) -> tuple[float, int, float]:
    """Take in a value, but for the level; the shift that is most likely by now.

    Returns:
        as :func:`~tidegate.forecast.judging.likelihood_ratio.most_likely_shift`.
    """
    numbers = state.numbers
    if abs(state.residuals[0]) >= CAP:
        _pass_spike(state, value)
    _push(state.raw, value)
    numbers[CUT] = value
    if numbers[COUNT] < ORDER:
        return 0.0, 0, 0.0
    _whiten(state, value)
    if numbers[SINCE] < LEAST or _may_be_spike(state.residuals):
        return 0.0, 0, 0.0
    farthest = int(min(numbers[SINCE], REACH))
    return most_likely_shift(state.residuals, state.expert.weights, farthest, numbers[WEIGHT])


@inner
def conclude(state: WatchState, shifted: bool) -> None:
    """End the step: what may yet turn out to be a shift must not move the level it is one from."""
    numbers = state.numbers
    numbers[COUNT] += 1
    if numbers[COUNT] > WARMUP:
        numbers[SINCE] += 1
    if shifted:
        numbers[CUT] = state.raw[0]
    else:
        settled = numbers[CUT] if numbers[SINCE] <= REACH else state.values[REACH - 1]
        numbers[WEIGHT] += 1
        numbers[LEVEL] += (settled - numbers[LEVEL]) / min(numbers[WEIGHT], LEVEL_WINDOW)
    _push(state.values, numbers[CUT])


@inner
def _push(row: Floats, value: float) -> None:
    for k in range(len(row) - 1, 0, -1):
        row[k] = row[k - 1]
    row[0] = value


@inner
def _pass_spike(state: WatchState, value: float) -> None:
    """A wild step from which the next one has come back counts as if it had not been."""
    wild, before = state.raw[0], state.raw[1]
    if abs(value - before) < abs(value - wild):
        state.values[0], state.residuals[0] = state.values[1], 0.0


@inner
def _may_be_spike(residuals: Floats) -> bool:
    """Whether the newest step is wild, and those right before it were not all."""
    if abs(residuals[0]) < CAP:
        return False
    for k in range(1, SPIKE):
        if abs(residuals[k]) < CAP:
            return True
    return False


@inner
def _whiten(state: WatchState, value: float) -> None:
    """The residual of a value, cut where it is wild; what it teaches."""
    numbers = state.numbers
    past = state.values[:ORDER] - numbers[LEVEL]
    now = value - numbers[LEVEL]
    usual = (numbers[SPREAD] / NORMAL) ** 0.25
    numbers[USUAL] = usual
    wild = now - predict_ridge(state.expert, past)
    residual = wild
    if usual > 0 and numbers[COUNT] > WARMUP:
        residual = min(max(wild, -CAP * usual), CAP * usual)
        if residual != wild:
            numbers[CUT] += residual - wild
            now = numbers[CUT] - numbers[LEVEL]
        _push(state.residuals, min(max(residual / usual, -CAP), CAP))
    _learn_whitening(state, past, now)
    # Fourth powers, so that a stream with wild values is allowed them.
    numbers[SPREAD] += (residual**4 - numbers[SPREAD]) / min(numbers[COUNT], SPREAD_WINDOW)


@inner
def _learn_whitening(state: WatchState, past: Floats, now: float) -> None:
    take_size(state.size, now, LEVEL_WINDOW)
    unit = state.size[VALUE]
    if state.numbers[COUNT] > FIRST and unit > 0:
        for k in range(ORDER):
            past[k] = min(max(past[k] / unit, -FARTHEST), FARTHEST)
        now = min(max(now / unit, -FARTHEST), FARTHEST)
        learn_ridge(state.expert, past, now, 1.0, KEEP, RIDGE, WIDTH)
