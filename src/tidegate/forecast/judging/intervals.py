"""Intervals that hold: adaptive conformal prediction on a learned scale of errors."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from tidegate._core.errors import UsageError
from tidegate.forecast.compiled import compiled, inner, product
from tidegate.forecast.model.ridge import Ridge, RidgeState, learn_ridge, ridge_in, ridge_size
from tidegate.forecast.parts import Flat, Floats

__all__ = [
    "Conformal",
    "ErrorScale",
    "ScoreState",
    "learn_late_score",
    "learn_score",
    "quantile_of",
    "scores_in",
    "scores_size",
]

WINDOW = 500  #: scores that quantiles are taken of
GAMMA = 0.01  #: step of the adaptive level
RATES = (0.3, 0.05, 0.005)  #: of the running mean absolute errors
KEEP, WIDTH = 0.9998, 1.0
FEW_RIDGE, ALL_RIDGE = 1.0, 10.0
LEAST, LARGEST = 1e-3, 50.0  #: of the usual error, that a single one or its scale may be
SURE = 100  #: errors after which the regressions are fully believed
LEAST_ROOT, LARGEST_ROOT = 0.2, 7.0
FIRST_SCORES = 20
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
def _expected_size(state: SpreadState, doubts: Floats, around: Floats) -> float:
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
def _learn_size(state: SpreadState, doubts: Floats, around: Floats, error: float) -> None:
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
        self._state = SpreadState(
            self.memory[:MEANS],
            self.memory[MEANS : MEANS + 1],
            ridge_in(self.memory, MEANS + 1, few),
            ridge_in(self.memory, at, few + around),
        )

    def predict(self, given: Sequence[float] | Floats) -> float:
        """The scale of the coming error, above 0 once there was an error; 0 before.

        Args:
            given: the doubts, and what is around after them.
        """
        return float(_expected_size(self._state, *self._split(given)))

    def learn(self, given: Sequence[float] | Floats, error: float) -> None:
        """The error that came, and what was given for it."""
        _learn_size(self._state, *self._split(given), float(error))

    def _split(self, given: Sequence[float] | Floats) -> tuple[Floats, Floats]:
        numbers = np.asarray(given, np.float64)
        if len(numbers) != self._given:
            raise UsageError(
                "ErrorScale",
                f"{self._given} numbers",
                str(len(numbers)),
                "Give what was announced.",
            )
        return numbers[: self._doubts], numbers[self._doubts :]


class ScoreState(NamedTuple):
    """The last scores.

    Attributes:
        seen: (1,) how many scores.
        ring: (score) as they came, the place of the next one being seen % ``WINDOW``.
        ordered: (score) the same by size, infinity standing for those still to come.
        levels: wanted coverages.
        misses: (level) the shares outside that are aimed at to get them.
    """

    seen: Floats
    ring: Floats
    ordered: Floats
    levels: Floats
    misses: Floats


def scores_size(levels: int) -> int:
    """Numbers in a memory of scores."""
    return 1 + 2 * WINDOW + 2 * levels


@compiled
def scores_in(memory: Floats, start: int, levels: int) -> ScoreState:
    """The state that lies in ``memory`` from ``start`` on."""
    ring = start + 1
    ordered, wanted = ring + WINDOW, ring + 2 * WINDOW
    misses = wanted + levels
    return ScoreState(
        memory[start:ring],
        memory[ring:ordered],
        memory[ordered:wanted],
        memory[wanted:misses],
        memory[misses : misses + levels],
    )


@compiled
def quantile_of(state: ScoreState, share: float) -> float:
    """The score that so large a share of the last ones stays below; infinite at first."""
    held, ordered = min(int(state.seen[0]), WINDOW), state.ordered
    if held < FIRST_SCORES or share >= 1:
        return ordered[held - 1] * max(share, 1.0) if held else inf
    return 0.0 if share <= 0 else ordered[min(int(share * (held + 1)), held - 1)]


@compiled
def learn_score(state: ScoreState, score: float) -> None:
    """The score that came, of a forecast made right before."""
    widths = np.empty(len(state.levels))
    for k in range(len(widths)):
        widths[k] = quantile_of(state, 1 - state.misses[k])
    learn_late_score(state, score, widths)


@compiled
def learn_late_score(state: ScoreState, score: float, widths: Floats) -> None:
    """The score that came, of a forecast whose intervals were then so wide (level)."""
    count = int(state.seen[0])
    if count >= FIRST_SCORES:
        for k in range(len(state.levels)):
            miss = 1.0 if score > widths[k] else 0.0
            state.misses[k] += GAMMA * (1 - state.levels[k] - miss)
    place = count % WINDOW
    _replace(state.ordered, state.ring[place], score)
    state.ring[place] = score
    state.seen[0] = count + 1


@inner
def _replace(ordered: Floats, old: float, new: float) -> None:
    """Take ``old`` out of ordered numbers and put ``new`` in."""
    place = np.searchsorted(ordered, old)
    while place > 0 and ordered[place - 1] > new:
        ordered[place] = ordered[place - 1]
        place -= 1
    while place < len(ordered) - 1 and ordered[place + 1] < new:
        ordered[place] = ordered[place + 1]
        place += 1
    ordered[place] = new


@compiled
def _rank(state: ScoreState, score: float) -> float:
    held = min(int(state.seen[0]), WINDOW)
    return np.searchsorted(state.ordered[:held], score) / held


class Conformal(Flat):
    """Half-widths of intervals of a wanted coverage, in scales of the coming error.

    The quantile of the last scores |error| / scale at a level that moves: up by a little whenever
    a value fell outside, down by less whenever it did not. So coverage is right in the long run
    whatever the stream does.

    Source: Gibbs & Candes, "Adaptive Conformal Inference Under Distribution Shift" (2021),
    equation 2; Romano, Patterson & Candes, "Conformalized Quantile Regression" (2019) for scores.

    Args:
        levels: wanted coverages, each between 0 and 1.

    Raises:
        UsageError: a level is not between 0 and 1.

    >>> conformal = Conformal(levels=(0.5, 0.9))
    >>> for score in range(1, 101):
    ...     conformal.learn(score / 100)
    >>> narrow, wide = conformal.widths()
    >>> narrow < wide
    True
    """

    def __init__(self, levels: Sequence[float], memory: Floats | None = None) -> None:
        for level in levels:
            if not 0 < level < 1:
                raise UsageError("level", "a coverage between 0 and 1", repr(level), "Try 0.9.")
        super().__init__(scores_size(len(levels)), memory)
        self.levels = tuple(levels)
        self._state = state = scores_in(self.memory, 0, len(levels))
        state.ring[:] = state.ordered[:] = inf
        state.levels[:] = levels
        state.misses[:] = 1 - state.levels

    @property
    def count(self) -> int:
        """Scores so far."""
        return int(self._state.seen[0])

    def widths(self) -> list[float]:
        """For every level; infinite while nothing is known, or where only that would do."""
        return [quantile_of(self._state, 1 - miss) for miss in self._state.misses.tolist()]

    def plain_width(self, level: float) -> float:
        """The quantile of the last scores as it stands, its level fixed; infinite at first."""
        return float(quantile_of(self._state, float(level)))

    def rank(self, score: float) -> float | None:
        """The share of recent scores that were smaller; None while there are few."""
        return float(_rank(self._state, float(score))) if self.count >= FIRST_SCORES else None

    def learn(self, score: float) -> None:
        """The score that came: its absolute error over its scale."""
        learn_score(self._state, float(score))
