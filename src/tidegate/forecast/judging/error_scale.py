"""How large the coming error is likely to be: a learned scale of errors."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from tidegate._core.errors import UsageError
from tidegate.forecast.compiled import compiled, inner, product
from tidegate.forecast.model.ridge import Ridge, RidgeState, learn_ridge, ridge_in, ridge_size
from tidegate.forecast.parts import Flat, Floats

__all__ = ["ErrorScale", "SpreadState", "expected_size", "learn_size", "spread_in"]

RATES = (0.3, 0.05, 0.005)  #: of the running mean absolute errors
KEEP, WIDTH = 0.9998, 1.0
FEW_RIDGE, ALL_RIDGE = 1.0, 10.0
LEAST, LARGEST = 1e-3, 50.0  #: of the usual error, that a single one or its scale may be
SURE = 100  #: errors after which the regressions are fully believed
LEAST_ROOT, LARGEST_ROOT = 0.2, 7.0
MEANS = len(RATES)


class SpreadState(NamedTuple):
    """What is known of the sizes of errors.

    Attributes:
        means: (rate) running mean absolute errors.
        seen: (1,) how many errors.
        few: the regression on running errors and doubts alone.
        all: the one that sees circumstances as well.
    """

    means: Floats
    seen: Floats
    few: RidgeState
    all: RidgeState


@compiled
def spread_in(memory: Floats, doubts: int, around: int) -> SpreadState:
    """The state that lies in ``memory``."""
    few = 1 + MEANS + doubts
    rest = MEANS + 1 + few * (few + 3) + 3
    return SpreadState(
        memory[:MEANS],
        memory[MEANS : MEANS + 1],
        ridge_in(memory, MEANS + 1, few),
        ridge_in(memory, rest, few + around),
    )


@inner
def _root(size: float, usual: float) -> float:
    return sqrt(min(max(size / usual, LEAST), LARGEST))


@inner
def _inputs(means: Floats, doubts: Floats, around: Floats) -> Floats:
    x, usual = np.empty(1 + MEANS + len(doubts) + len(around)), means[-1]
    x[0] = 1.0
    for k in range(MEANS):
        x[1 + k] = _root(means[k], usual)
    for k in range(len(doubts)):
        x[1 + MEANS + k] = _root(doubts[k], usual)
    for k in range(len(around)):
        x[1 + MEANS + len(doubts) + k] = 0.5 * around[k]
    return x


@compiled
def expected_size(state: SpreadState, doubts: Floats, around: Floats) -> float:
    """The size of the coming error; 0 before there was one."""
    usual = float(state.means[-1])
    if not usual > 0:
        return 0.0
    x = _inputs(state.means, doubts, around)
    few = product(state.few.weights, x)
    root = 0.5 * (few + product(state.all.weights, x))
    sure = min(state.seen[0] / SURE, 1.0)
    least, largest = 1 + sure * (LEAST_ROOT - 1), 1 + sure * (LARGEST_ROOT - 1)
    return usual * float(min(max(root, least), largest)) ** 2


@compiled
def learn_size(state: SpreadState, doubts: Floats, around: Floats, error: float) -> None:
    """The error that came."""
    size, usual = abs(error), state.means[-1]
    if usual > 0:
        x, y = _inputs(state.means, doubts, around), _root(size, usual)
        learn_ridge(state.few, x[: len(state.few.weights)], y, 1.0, KEEP, FEW_RIDGE, WIDTH)
        learn_ridge(state.all, x, y, 1.0, KEEP, ALL_RIDGE, WIDTH)
        size = min(size, usual * LARGEST)
    state.seen[0] += 1
    for k, rate in enumerate(RATES):
        state.means[k] += max(rate, 1 / state.seen[0]) * (size - state.means[k])


class ErrorScale(Flat):
    """How large the coming error is likely to be, learned from what is known before.

    The mean of two ridge regressions of the root of |error|, whose noise is the same whatever its
    size: one on roots of running errors and of doubts (the slots' usual errors, the forecast
    change, how far experts disagree), and one on the circumstances of the forecast as well.

    Args:
        doubts: numbers given beside the running errors, all positive.
        around: further numbers, of the scale of 1.

    Raises:
        UsageError: other numbers of them come.

    >>> scale = ErrorScale(doubts=1)
    >>> for step in range(400):
    ...     scale.learn([1.0 + step % 2], error=0.1 + step % 2)
    >>> scale.predict([1.0]) < scale.predict([2.0])
    True
    """

    def __init__(self, doubts: int, around: int = 0) -> None:
        few = 1 + MEANS + doubts
        at = MEANS + 1 + ridge_size(few)
        super().__init__(at + ridge_size(few + around))
        Ridge(few, KEEP, FEW_RIDGE, WIDTH, self.memory[MEANS + 1 : at])
        Ridge(few + around, KEEP, ALL_RIDGE, WIDTH, self.memory[at:])
        self._doubts, self._given = doubts, doubts + around
        self._state = spread_in(self.memory, doubts, around)

    def predict(self, given: Sequence[float] | Floats) -> float:
        """The scale of the coming error, above 0 once there was an error; 0 before.

        Args:
            given: the doubts, and what is around after them.
        """
        return float(expected_size(self._state, *self.split(given)))

    def learn(self, given: Sequence[float] | Floats, error: float) -> None:
        """The error that came, and what was given for it."""
        learn_size(self._state, *self.split(given), float(error))

    def split(self, given: Sequence[float] | Floats) -> tuple[Floats, Floats]:
        """The doubts, and what is around."""
        numbers = np.asarray(given, np.float64)
        if len(numbers) != self._given:
            raise UsageError(
                "ErrorScale",
                f"{self._given} numbers",
                str(len(numbers)),
                "Give what was announced.",
            )
        return numbers[: self._doubts], numbers[self._doubts :]
