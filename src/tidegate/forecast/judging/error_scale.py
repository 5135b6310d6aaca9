"""How large the coming error is likely to be, above and below: a learned scale of errors."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from tidegate._core.errors import UsageError
from tidegate.forecast.compiled import compiled, inner, product
from tidegate.forecast.judging.profile import (
    ABOVE,
    BELOW,
    ErrorProfile,
    ProfileState,
    learn_profile,
    look_up,
    profile_in,
    profile_size,
)
from tidegate.forecast.model.ridge import Ridge, RidgeState, learn_ridge, ridge_in, ridge_size
from tidegate.forecast.parts import Flat, Floats

__all__ = [
    "ErrorScale",
    "Given",
    "SpreadState",
    "expected_sides",
    "learn_sides",
    "root_of",
    "spread_in",
]

RATES = (0.3, 0.05, 0.005)  #: of the running mean absolute errors
KEEP = 0.9998
WIDTH = 1e9  #: mean errors within which one counts in full: large ones are what intervals are for
FEW_RIDGE, ALL_RIDGE = 1.0, 10.0
LEAST, LARGEST = 1e-3, 50.0  #: of the usual error, that a single one or its scale may be
SURE = 100  #: errors after which the regressions are fully believed
LEAST_ROOT, LARGEST_ROOT = 0.2, 7.0
TILT = 0.6  #: power of a side's share of errors by which it is longer than the other
LEAST_SHARE = 0.05
MEANS, PROFILES = len(RATES), 2
PROFILE = profile_size()
FEW = 1 + MEANS + PROFILES  #: inputs of the smaller regression beside doubts


class Given(NamedTuple):
    """What is known of a forecast.

    Attributes:
        doubts: numbers that its error may grow with, all positive.
        around: further numbers, of the scale of 1.
        forecast: (2,) itself, from a slow average on and from the last value on.
    """

    doubts: Floats
    around: Floats
    forecast: Floats


class SpreadState(NamedTuple):
    """What is known of the sizes of errors.

    Attributes:
        means: (rate) running mean absolute errors.
        seen: (1,) how many errors.
        level: errors by the level of the forecast.
        change: errors by the change that is forecast.
        few: the regression on running errors, profiles and doubts alone.
        all: the one that sees circumstances as well.
    """

    means: Floats
    seen: Floats
    level: ProfileState
    change: ProfileState
    few: RidgeState
    all: RidgeState


def _starts(doubts: int, around: int) -> list[int]:
    """Where profiles and regressions start, and their end."""
    few = FEW + doubts
    sizes = [MEANS + 1, PROFILE, PROFILE, ridge_size(few), ridge_size(few + around)]
    return [int(start) for start in np.cumsum(sizes)]


@compiled
def spread_in(memory: Floats, doubts: int, around: int) -> SpreadState:
    """The state that lies in ``memory``."""
    few, level = FEW + doubts, MEANS + 1
    change = level + PROFILE
    regression = change + PROFILE
    rest = regression + few * (few + 3) + 3
    return SpreadState(
        memory[:MEANS],
        memory[MEANS:level],
        profile_in(memory, level),
        profile_in(memory, change),
        ridge_in(memory, regression, few),
        ridge_in(memory, rest, few + around),
    )


@inner
def root_of(size: float, usual: float) -> float:
    """The root of a size in usual ones, of which the noise is the same whatever its size."""
    return sqrt(min(max(size / usual, LEAST), LARGEST))


@inner
def _look_up(state: SpreadState, given: Given) -> Floats:
    """(2, 2) mean errors below and above, by the level and by the change that is forecast."""
    sides = np.empty((PROFILES, 2))
    look_up(state.level, given.forecast[0], sides[0])
    look_up(state.change, given.forecast[1], sides[1])
    return sides


@inner
def _inputs(means: Floats, sides: Floats, given: Given) -> Floats:
    doubts, around, usual = given.doubts, given.around, means[-1]
    few = FEW + len(doubts)
    x = np.empty(few + len(around))
    x[0] = 1.0
    for k in range(MEANS):
        x[1 + k] = root_of(means[k], usual)
    for k in range(PROFILES):
        x[1 + MEANS + k] = root_of(sides[k, BELOW] + sides[k, ABOVE], 1.0)
    for k in range(len(doubts)):
        x[FEW + k] = root_of(doubts[k], usual)
    for k in range(len(around)):
        x[few + k] = 0.5 * around[k]
    return x


@compiled
def expected_sides(state: SpreadState, given: Given, sizes: Floats) -> None:
    """Fill in the size (2) of the coming error, should it be below or above; 0 at first."""
    usual = state.means[-1]
    sizes[:] = 0.0
    if not usual > 0:
        return
    sides = _look_up(state, given)
    x = _inputs(state.means, sides, given)
    few = product(state.few.weights, x)
    root = 0.5 * (few + product(state.all.weights, x))
    sure = min(state.seen[0] / SURE, 1.0)
    least, largest = 1 + sure * (LEAST_ROOT - 1), 1 + sure * (LARGEST_ROOT - 1)
    size = usual * min(max(root, least), largest) ** 2
    share = 0.0
    for k in range(PROFILES):
        both = sides[k, BELOW] + sides[k, ABOVE]
        share += (sides[k, ABOVE] / both if both > 0 else 0.5) / PROFILES
    share = min(max(share, LEAST_SHARE), 1 - LEAST_SHARE)
    sizes[BELOW], sizes[ABOVE] = size * (2 - 2 * share) ** TILT, size * (2 * share) ** TILT


@compiled
def learn_sides(state: SpreadState, given: Given, error: float) -> None:
    """The error that came."""
    size, usual = abs(error), state.means[-1]
    if usual > 0:
        x, y = _inputs(state.means, _look_up(state, given), given), root_of(size, usual)
        learn_ridge(state.few, x[: len(state.few.weights)], y, 1.0, KEEP, FEW_RIDGE, WIDTH)
        learn_ridge(state.all, x, y, 1.0, KEEP, ALL_RIDGE, WIDTH)
        learn_profile(state.level, given.forecast[0], error / usual)
        learn_profile(state.change, given.forecast[1], error / usual)
        size = min(size, usual * LARGEST)
    state.seen[0] += 1
    for k, rate in enumerate(RATES):
        state.means[k] += max(rate, 1 / state.seen[0]) * (size - state.means[k])


class ErrorScale(Flat):
    """How large the coming error is likely to be, learned from what is known before.

    The mean of two ridge regressions of the root of |error|, whose noise is the same whatever its
    size: one on roots of running errors, of profiles (usual errors at such a level, and at such a
    change) and of doubts (the slots' usual errors, the forecast change, how far experts disagree),
    and one on the circumstances of the forecast as well. The profiles also tell by how much errors
    above are larger than those below.

    Args:
        doubts: numbers given beside the running errors, all positive.
        around: further numbers, of the scale of 1.

    Raises:
        UsageError: other numbers of them come.

    >>> scale = ErrorScale(doubts=1)
    >>> for step in range(400):
    ...     scale.learn([1.0 + step % 2, 0.0, 0.0], error=0.1 + step % 2)
    >>> below, above = scale.predict([1.0, 0.0, 0.0])
    >>> below < above < scale.predict([2.0, 0.0, 0.0])[1]
    True
    """

    def __init__(self, doubts: int, around: int = 0) -> None:
        level, change, few, all_, end = _starts(doubts, around)
        super().__init__(end)
        ErrorProfile(self.memory[level:change])
        ErrorProfile(self.memory[change:few])
        Ridge(FEW + doubts, KEEP, FEW_RIDGE, WIDTH, self.memory[few:all_])
        Ridge(FEW + doubts + around, KEEP, ALL_RIDGE, WIDTH, self.memory[all_:])
        self._doubts, self._around = doubts, around
        self._state = spread_in(self.memory, doubts, around)

    def predict(self, given: Sequence[float] | Floats) -> tuple[float, float]:
        """The size of the coming error below and above, not 0 once there was an error; 0 before.

        Args:
            given: the doubts, what is around after them, and the forecast (2).
        """
        sizes = np.empty(2)
        expected_sides(self._state, self.split(given), sizes)
        return float(sizes[BELOW]), float(sizes[ABOVE])

    def learn(self, given: Sequence[float] | Floats, error: float) -> None:
        """The error that came, and what was given for it."""
        learn_sides(self._state, self.split(given), float(error))

    def split(self, given: Sequence[float] | Floats) -> Given:
        """The doubts, what is around, and the forecast."""
        numbers, known = np.asarray(given, np.float64), self._doubts + self._around
        if len(numbers) != known + 2:
            raise UsageError(
                "ErrorScale",
                f"{known + 2} numbers",
                str(len(numbers)),
                "Give what was announced, and the forecast from its level and its last value on.",
            )
        return Given(numbers[: self._doubts], numbers[self._doubts : known], numbers[known:])
