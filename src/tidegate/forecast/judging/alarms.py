"""Alarms: when the level of a stream has shifted, beyond what its own noise explains."""

from __future__ import annotations

from math import isfinite, nan
from typing import NamedTuple

import numpy as np

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
    conclude,
    meet,
    watch_in,
    watch_size,
)
from tidegate.forecast.parts import Flat

__all__ = ["Shift", "ShiftDetector"]

AGREED = 0.2  #: share of a shift that three of four of its steps must show
BLIP = 128  #: steps within which a shift that is taken back was none
HALF = 0.5  #: of the way back, by which a return may miss the old level
LARGEST = 1e60  #: whose fourth power is a number


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
        if not isfinite(value):
            return None
        ratio, steps, size = meet(self._state, min(max(float(value), -LARGEST), LARGEST))
        shift = self._settled(ratio, steps, size) if abs(ratio) > THRESHOLD else None
        conclude(self._state, shift is not None)
        return shift

    def _settled(self, ratio: float, steps: int, deviations: float) -> Shift | None:
        """The shift that is likely, unless it may be a few wild steps: those wait."""
        state, usual = self._state, float(self._state.numbers[USUAL])
        size = deviations * usual
        apart = np.sort(state.raw[:steps] - self.level) * np.sign(size)
        if apart[steps // 4 if size > 0 else -1 - steps // 4] < AGREED * abs(size):
            return None
        plain = float(np.median(apart)) * np.sign(size)
        if abs(plain) > CAP * usual:  # cut residuals tell too little of it
            size = plain
            state.values[:steps] = state.raw[:steps]
        return self._moved(size, steps, abs(ratio))

    def _moved(self, size: float, steps: int, surprise: float) -> Shift:
        """Take in a shift that is settled."""
        numbers = self._state.numbers
        now, weight = numbers[LEVEL], numbers[WEIGHT]
        level, level_weight = numbers[BEFORE], numbers[BEFORE_WEIGHT]
        near = abs(now + size - level) < HALF * abs(now - level)
        back = bool(level_weight > 0 and numbers[SINCE] <= BLIP + steps and near)
        numbers[[BEFORE, BEFORE_WEIGHT]] = (0.0, 0.0) if back else (now, weight)
        numbers[[LEVEL, WEIGHT]] = (level, level_weight) if back else (now + size, steps)
        self._state.residuals[:] = 0.0
        numbers[SINCE] = 0
        return Shift(steps, size, surprise, back)
