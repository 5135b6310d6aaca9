"""Alarms: when the level of a stream has shifted, beyond what its own noise explains."""

from __future__ import annotations

from math import isfinite, nan
from typing import NamedTuple

import numpy as np

from tidegate.forecast.likelihood_ratio import (
    LEAST,
    LEVEL_WINDOW,
    THRESHOLD,
    most_likely_shift,
)
from tidegate.forecast.parts import Floats, Part
from tidegate.forecast.ridge import Ridge
from tidegate.forecast.scale import RunningScale

__all__ = ["Shift", "ShiftDetector"]

ORDER = 2  #: of the autoregression that whitens
KEEP, RIDGE = 0.9998, 1.0
SPREAD_WINDOW = 2_000
REACH = 128  #: steps back at which a shift may have begun
AGREED = 0.2  #: share of a shift that three of four of its steps must show
SPIKE = 3  #: wild steps in a row that are no spike any more
BLIP = 128  #: steps within which a shift that is taken back was none
HALF = 0.5  #: of the way back, by which a return may miss the old level
CAP = 8.0  #: standard deviations that one step counts for
LARGEST = 1e60  #: whose fourth power is a number
WARMUP = 100  #: steps before any can begin a shift
FIRST = 10  #: steps that teach the level alone
FARTHEST = 10.0  #: usual deviations that one counts for
NORMAL = 3.0  #: mean fourth power of normal noise of standard deviation 1


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


class ShiftDetector(Part):
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

    learned = (
        "level",
        "weight",
        "count",
        "values",
        "raw",
        "expert",
        "spread",
        "size",
        "residuals",
        "since",
        "before",
    )

    def __init__(self) -> None:
        self.level, self.weight, self.count, self.since = 0.0, 0, 0, 0
        self.values: Floats = np.full(REACH, nan)  # wild ones cut
        self.raw: Floats = np.full(REACH, nan)
        self.expert = Ridge(ORDER, KEEP, RIDGE)
        self.size = RunningScale(LEVEL_WINDOW)
        self.spread = 0.0  # mean fourth power of residuals
        self.residuals: Floats = np.zeros(REACH)
        self.before: Floats = np.zeros(2)  # level and weight before the last shift

    def update(self, value: float) -> Shift | None:
        """The newest value; a missing one passes. The shift, at the step that settles it."""
        if not isfinite(value):
            return None
        value = min(max(value, -LARGEST), LARGEST)
        if abs(self.residuals[0]) >= CAP:
            self._pass_spike(value)
        self.raw[1:] = self.raw[:-1].copy()
        self.raw[0] = value
        value, shift = self._meet(value) if self.count >= ORDER else (value, None)
        self.count += 1
        self.since += self.count > WARMUP
        # What may yet turn out to be a shift must not move the level it is a shift from.
        if shift is None:
            self._learn_level(value if self.since <= REACH else float(self.values[-1]))
        self.values[1:] = self.values[:-1].copy()
        self.values[0] = value
        return shift

    def _learn_level(self, value: float) -> None:
        self.weight += 1
        self.level += (value - self.level) / min(self.weight, LEVEL_WINDOW)

    def _meet(self, value: float) -> tuple[float, Shift | None]:
        """The value, cut where it is wild; and whether it settles a shift."""
        past, now = self.values[:ORDER] - self.level, value - self.level
        usual = float((self.spread / NORMAL) ** 0.25)
        residual = now - self.expert.predict(past)
        if usual > 0 and self.count > WARMUP:
            bound = CAP * usual
            wild, residual = residual, min(max(residual, -bound), bound)
            value += residual - wild if residual != wild else 0.0
            now = value - self.level
            self.residuals[1:] = self.residuals[:-1].copy()
            self.residuals[0] = min(max(residual / usual, -CAP), CAP)
        self._learn_whitening(past, now)
        self._learn_spread(residual)
        shift = None if self.since < LEAST or self._may_be_spike() else self._settled(usual)
        return (value, None) if shift is None else (float(self.raw[0]), shift)

    def _may_be_spike(self) -> bool:
        """Whether the newest step is wild, and those right before it were not."""
        return bool(abs(self.residuals[0]) >= CAP > np.abs(self.residuals[1:SPIKE]).min())

    def _pass_spike(self, value: float) -> None:
        """A wild step from which the next one has come back counts as if it had not been."""
        wild, before = self.raw[:2].tolist()
        if abs(value - before) < abs(value - wild):
            self.values[0], self.residuals[0] = self.values[1], 0.0

    def _learn_whitening(self, past: Floats, now: float) -> None:
        self.size.update(now)
        if self.count > FIRST and self.size.value > 0:
            scaled = np.append(past, now) / self.size.value
            scaled = np.minimum(np.maximum(scaled, -FARTHEST), FARTHEST)
            self.expert.learn(scaled[:-1], float(scaled[-1]))

    def _learn_spread(self, residual: float) -> None:
        """Fourth powers, so that a stream with wild values is allowed them."""
        self.spread += (residual**4 - self.spread) / min(self.count, SPREAD_WINDOW)

    def _settled(self, usual: float) -> Shift | None:
        farthest = min(self.since, REACH)
        ratio, steps, deviations = most_likely_shift(
            self.residuals, self.expert.weights, farthest, float(self.weight)
        )
        if not abs(ratio) > THRESHOLD:
            return None
        size = deviations * usual
        apart = np.sort(self.raw[:steps] - self.level) * np.sign(size)
        if apart[steps // 4 if size > 0 else -1 - steps // 4] < AGREED * abs(size):
            return None  # a few wild steps at the end: wait
        plain = float(np.median(apart)) * np.sign(size)
        if abs(plain) > CAP * usual:  # cut residuals tell too little of it
            size = plain
            self.values[:steps] = self.raw[:steps]
        return self._moved(size, steps, abs(ratio))

    def _moved(self, size: float, steps: int, surprise: float) -> Shift:
        """Take in a shift that is settled."""
        level, weight = self.before.tolist()
        near = abs(self.level + size - level) < HALF * abs(self.level - level)
        back = weight > 0 and self.since <= BLIP + steps and near
        self.before = np.zeros(2) if back else np.array([self.level, self.weight])
        self.level, self.weight = (level, int(weight)) if back else (self.level + size, steps)
        self.residuals[:] = 0.0
        self.since = 0
        return Shift(steps, size, surprise, back)
