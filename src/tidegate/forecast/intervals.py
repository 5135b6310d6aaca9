"""Intervals that hold: adaptive conformal prediction on a learned scale of errors."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, log
from typing import NamedTuple

import numpy as np

from tidegate._core.errors import UsageError
from tidegate.forecast.compiled import compiled, inner, product
from tidegate.forecast.parts import Flat, Floats
from tidegate.forecast.ridge import Ridge, RidgeState, learn_ridge, ridge_in, ridge_size

__all__ = ["Conformal", "ErrorScale", "ScoreState", "learn_score", "scores_in", "scores_size"]

WINDOW = 500  #: scores that quantiles are taken of
GAMMA = 0.01  #: step of the adaptive level
RATES = (0.3, 0.05, 0.005)  #: of the running mean absolute errors
KEEP, RIDGE, WIDTH = 0.9995, 1.0, 1.0
LEAST = 1e-3  #: of the usual error, as a logarithm needs something
FARTHEST_LOG = 4.0
FIRST_SCORES = 20
MEANS = len(RATES)


class SpreadState(NamedTuple):
    """What is known of the sizes of errors.

    Attributes:
        means: (rate) running mean absolute errors.
        seen: (1,) how many errors.
        expert: the regression on the logarithm of their size.
    """

    means: Floats
    seen: Floats
    expert: RidgeState


@inner
def _log_ratio(size: float, usual: float) -> float:
    return log(min(max(size / usual, LEAST), exp(FARTHEST_LOG)))


@inner
def _inputs(means: Floats, extra: Floats) -> Floats:
    x, usual = np.empty(1 + MEANS + len(extra)), means[-1]
    x[0] = 1.0
    for k in range(MEANS):
        x[1 + k] = _log_ratio(means[k], usual)
    for k in range(len(extra)):
        x[1 + MEANS + k] = _log_ratio(extra[k], usual)
    return x


@compiled
def _expected_size(state: SpreadState, extra: Floats) -> float:
    usual = state.means[-1]
    if not usual > 0:
        return 0.0
    apart = product(state.expert.weights, _inputs(state.means, extra))
    return float(usual) * exp(min(max(apart, -FARTHEST_LOG), FARTHEST_LOG))


@compiled
def _learn_size(state: SpreadState, extra: Floats, error: float) -> None:
    size, usual = abs(error), state.means[-1]
    if usual > 0:
        x, y = _inputs(state.means, extra), _log_ratio(size, usual)
        learn_ridge(state.expert, x, y, 1.0, KEEP, RIDGE, WIDTH)
        size = min(size, usual * exp(FARTHEST_LOG))
    state.seen[0] += 1
    for k, rate in enumerate(RATES):
        state.means[k] += max(rate, 1 / state.seen[0]) * (size - state.means[k])


class ErrorScale(Flat):
    """How large the coming error is likely to be, learned from what is known before.

    A ridge regression of log |error| on logarithms of running errors, of the slots' usual errors,
    of the forecast change, and of how far experts disagree.

    Args:
        extra: numbers given beside the running errors, all positive.

    >>> scale = ErrorScale(extra=1)
    >>> for step in range(400):
    ...     scale.learn([1.0 + step % 2], error=0.1 + step % 2)
    >>> scale.predict([1.0]) < scale.predict([2.0])
    True
    """

    def __init__(self, extra: int) -> None:
        inputs = 1 + MEANS + extra
        super().__init__(MEANS + 1 + ridge_size(inputs))
        Ridge(inputs, KEEP, RIDGE, WIDTH, self.memory[MEANS + 1 :])
        expert = ridge_in(self.memory, MEANS + 1, inputs)
        self._state = SpreadState(self.memory[:MEANS], self.memory[MEANS : MEANS + 1], expert)

    def predict(self, extra: Sequence[float] | Floats) -> float:
        """The scale of the coming error, above 0 once there was an error; 0 before."""
        return float(_expected_size(self._state, np.asarray(extra, np.float64)))

    def learn(self, extra: Sequence[float] | Floats, error: float) -> None:
        """The error that came, and what was given for it."""
        _learn_size(self._state, np.asarray(extra, np.float64), float(error))


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
def _quantile(state: ScoreState, share: float) -> float:
    held, ordered = min(int(state.seen[0]), WINDOW), state.ordered
    if held < FIRST_SCORES or share >= 1:
        return ordered[held - 1] * max(share, 1.0) if held else inf
    return 0.0 if share <= 0 else ordered[min(int(share * (held + 1)), held - 1)]


@compiled
def learn_score(state: ScoreState, score: float) -> None:
    """The score that came."""
    count, ordered = int(state.seen[0]), state.ordered
    if count >= FIRST_SCORES:
        for k in range(len(state.levels)):
            miss = 1.0 if score > _quantile(state, 1 - state.misses[k]) else 0.0
            state.misses[k] += GAMMA * (1 - state.levels[k] - miss)
    place = count % WINDOW
    _replace(ordered, state.ring[place], score)
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
        return [_quantile(self._state, 1 - miss) for miss in self._state.misses.tolist()]

    def plain_width(self, level: float) -> float:
        """The quantile of the last scores as it stands, its level fixed; infinite at first."""
        return float(_quantile(self._state, float(level)))

    def rank(self, score: float) -> float | None:
        """The share of recent scores that were smaller; None while there are few."""
        return float(_rank(self._state, float(score))) if self.count >= FIRST_SCORES else None

    def learn(self, score: float) -> None:
        """The score that came: its absolute error over its scale."""
        learn_score(self._state, float(score))
