"""Alarms: when the level of a stream has shifted, beyond what its own noise explains."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, nan
from typing import NamedTuple

import numpy as np

from tidegate.forecast.compiled import compiled, inner
from tidegate.forecast.judging.likelihood_ratio import THRESHOLD
from tidegate.forecast.judging.whitening import (
    BEFORE,
    BEFORE_WEIGHT,
    CAP,
    LEVEL,
    RIDGE,
    SINCE,
    USUAL,
    WEIGHT,
    WatchState,
    conclude,
    meet,
    watch_in,
    watch_size,
)
from tidegate.forecast.parts import Flat, Floats

__all__ = ["BACK", "NEWS", "STEPS", "Shift", "ShiftDetector", "shift_in", "watch"]

AGREED = 0.2  #: share of a shift that three of four of its steps must show
BLIP = 128  #: steps within which a shift that is taken back was none
HALF = 0.5  #: of the way back, by which a return may miss the old level
LARGEST = 1e60  #: whose fourth power is a number
STEPS, SIZE, SURPRISE, BACK = range(4)  #: of a shift, as numbers in this order
NEWS = 4


class Shift(NamedTuple):
    """A shift of level.

    Attributes:
        steps: how many steps ago it began.
        size: in units of the stream.
        surprise: of it, in standard deviations.
        back: whether it takes the shift before it back, which so was a blip.

    >>> Shift(steps=12, size=-3.0, surprise=6.1).back
    False
    """

    steps: int
    size: float
    surprise: float
    back: bool = False


def shift_in(found: Sequence[float]) -> Shift | None:
    """What :func:`watch` found, its first number being 0 where there is no shift."""
    steps, size, surprise, back = found
    return Shift(int(steps), size, surprise, bool(back)) if steps else None


@compiled
def watch(state: WatchState, value: float, found: Floats) -> None:
    """The newest value; fill in the shift that it settles: steps, size, surprise, back."""
    found[:] = 0.0
    if not isfinite(value):
        return
    ratio, steps, size = meet(state, min(max(value, -LARGEST), LARGEST))
    if abs(ratio) > THRESHOLD:
        _settle(state, steps, size, abs(ratio), found)
    conclude(state, found[STEPS] > 0)


@inner
def _settle(
    state: WatchState, steps: int, deviations: float, surprise: float, found: Floats
) -> None:
    """The shift that is likely, unless it may be a few wild steps: those wait."""
    usual = state.numbers[USUAL]
    size = deviations * usual
    side = 1.0 if size > 0 else -1.0
    apart = np.empty(steps)
    for k in range(steps):
        _insert(apart, k, side * (state.raw[k] - state.numbers[LEVEL]))
    if apart[steps // 4] < AGREED * abs(size):
        return
    plain = 0.5 * (apart[(steps - 1) // 2] + apart[steps // 2])
    if abs(plain) > CAP * usual:  # cut residuals tell too little of it
        size = side * plain
        for k in range(steps):
            state.values[k] = state.raw[k]
    found[STEPS], found[SIZE], found[SURPRISE] = steps, size, surprise
    _move(state, found)


@inner
def _insert(ordered: Floats, count: int, value: float) -> None:
    """Put a value in its place among the first ``count``."""
    while count > 0 and ordered[count - 1] > value:
        ordered[count] = ordered[count - 1]
        count -= 1
    ordered[count] = value


@inner
def _move(state: WatchState, found: Floats) -> None:
    """Take in a shift that is settled."""
    numbers, steps, size = state.numbers, found[STEPS], found[SIZE]
    now, weight = numbers[LEVEL], numbers[WEIGHT]
    level, level_weight = numbers[BEFORE], numbers[BEFORE_WEIGHT]
    near = abs(now + size - level) < HALF * abs(now - level)
    if level_weight > 0 and numbers[SINCE] <= BLIP + steps and near:
        found[BACK] = 1.0
        numbers[BEFORE], numbers[BEFORE_WEIGHT] = 0.0, 0.0
        numbers[LEVEL], numbers[WEIGHT] = level, level_weight
    else:
        numbers[BEFORE], numbers[BEFORE_WEIGHT] = now, weight
        numbers[LEVEL], numbers[WEIGHT] = now + size, steps
    state.residuals[:] = 0.0
    numbers[SINCE] = 0


class ShiftDetector(Flat):
    """The generalised likelihood ratio test for a shift of level in autocorrelated noise.

    A slow autoregression whitens the stream, so that wandering is no shift. Through it a shift by
    D leaves D (1 - a1 - ... - ak) in the residual k steps later: a jump at first and a small bias
    for long. Both are looked for, at every beginning within the last 128 steps. A jump without
    the bias was a spike. Once a shift is found its size becomes the new level: one alarm each.
    A shift that leads back within 128 steps ends a blip: the level is again what it was.

    Source: Basseville & Nikiforov, "Detection of Abrupt Changes" (1993), sections 2.4.3 and 7.2.

    >>> rng, detector = np.random.default_rng(1), ShiftDetector()
    >>> noise = rng.normal(size=1000) + 3.0 * (np.arange(1000) >= 700)
    >>> [step for step, value in enumerate(noise) if detector.update(value)]
    [705]
    """

    def __init__(self) -> None:
        super().__init__(watch_size())
        self._state = watch_in(self.memory)
        self._state.values[:] = self._state.raw[:] = nan
        self._state.expert.diagonal[:] = RIDGE

    @property
    def level(self) -> float:
        """That the stream is taken to have."""
        return float(self._state.numbers[LEVEL])

    @property
    def weight(self) -> int:
        """Steps for which it held."""
        return int(self._state.numbers[WEIGHT])

    def update(self, value: float) -> Shift | None:
        """The newest value; a missing one passes. The shift, at the step that settles it."""
        found = np.empty(NEWS)
        watch(self._state, float(value), found)
        return shift_in(found.tolist())
