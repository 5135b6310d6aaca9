"""Intervals that hold: adaptive conformal prediction on a learned scale of errors."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence
from math import exp, inf, log

import numpy as np
from numpy.typing import NDArray

from tidegate._core.errors import UsageError
from tidegate.forecast.parts import Floats, Part
from tidegate.forecast.ridge import Ridge

__all__ = ["Conformal", "ErrorScale"]

WINDOW = 500  #: scores that quantiles are taken of
GAMMA = 0.01  #: step of the adaptive level
RATES = (0.3, 0.05, 0.005)  #: of the running mean absolute errors
KEEP, RIDGE = 0.9995, 1.0
LEAST = 1e-3  #: of the usual error, as a logarithm needs something
FARTHEST_LOG = 4.0
FIRST_SCORES = 20


class ErrorScale(Part):
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

    learned = ("means", "count", "expert")

    def __init__(self, extra: int) -> None:
        self.means: Floats = np.zeros(len(RATES))
        self.count = 0
        self._rates = np.array(RATES)
        self.expert = Ridge(1 + len(RATES) + extra, KEEP, RIDGE)

    def predict(self, extra: Sequence[float]) -> float:
        """The scale of the coming error, above 0 once there was an error; 0 before."""
        usual = float(self.means[-1])
        if not usual > 0:
            return 0.0
        apart = self.expert.predict(self._inputs(extra))
        return usual * exp(min(max(apart, -FARTHEST_LOG), FARTHEST_LOG))

    def learn(self, extra: Sequence[float], error: float) -> None:
        """The error that came, and what was given for it."""
        size, usual = abs(error), float(self.means[-1])
        if usual > 0:
            self.expert.learn(self._inputs(extra), _log_ratio(size, usual))
            size = min(size, usual * exp(FARTHEST_LOG))
        self.count += 1
        self.means = self.means + np.maximum(self._rates, 1 / self.count) * (size - self.means)

    def _inputs(self, extra: Sequence[float]) -> Floats:
        usual = float(self.means[-1])
        ratios = [_log_ratio(x, usual) for x in (*self.means.tolist(), *extra)]
        return np.array([1.0, *ratios])


class Conformal(Part):
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

    learned = ("scores", "count", "misses")

    def __init__(self, levels: Sequence[float]) -> None:
        for level in levels:
            if not 0 < level < 1:
                raise UsageError("level", "a coverage between 0 and 1", repr(level), "Try 0.9.")
        self.levels = tuple(levels)
        self.scores: Floats = np.full(WINDOW, inf)
        self.count = 0
        self.misses: Floats = 1 - np.array(self.levels)
        self._sorted: list[float] = []

    def widths(self) -> list[float]:
        """For every level; infinite while nothing is known, or where only that would do."""
        return [self._quantile(1 - miss) for miss in self.misses.tolist()]

    def plain_width(self, level: float) -> float:
        """The quantile of the last scores as it stands, its level fixed; infinite at first."""
        return self._quantile(level)

    def rank(self, score: float) -> float | None:
        """The share of recent scores that were smaller; None while there are few."""
        held = len(self._sorted)
        return bisect_left(self._sorted, score) / held if held >= FIRST_SCORES else None

    def learn(self, score: float) -> None:
        """The score that came: its absolute error over its scale."""
        if self.count >= FIRST_SCORES:
            outside = np.array([score > width for width in self.widths()])
            self.misses = self.misses + GAMMA * (1 - np.array(self.levels) - outside)
        place = self.count % WINDOW
        if self.count >= WINDOW:
            del self._sorted[bisect_left(self._sorted, float(self.scores[place]))]
        insort(self._sorted, score)
        self.scores[place] = score
        self.count += 1

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        super().restore(state)
        self._sorted = sorted(self.scores[: min(self.count, WINDOW)].tolist())

    def _quantile(self, share: float) -> float:
        held = self._sorted
        if len(held) < FIRST_SCORES or share >= 1:
            return held[-1] * max(share, 1.0) if held else inf
        if share <= 0:
            return 0.0
        return held[min(int(share * (len(held) + 1)), len(held) - 1)]


def _log_ratio(size: float, usual: float) -> float:
    return log(min(max(size / usual, LEAST), exp(FARTHEST_LOG)))
