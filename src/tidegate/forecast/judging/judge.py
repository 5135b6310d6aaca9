"""How large errors are likely to be: intervals before a value comes, its score after."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite, nan

import numpy as np

from tidegate.forecast.compiled import compiled
from tidegate.forecast.judging.error_scale import (
    ErrorScale,
    Given,
    SpreadState,
    expected_sides,
    learn_sides,
    spread_in,
)
from tidegate.forecast.judging.intervals import (
    Conformal,
    ScoreState,
    learn_score,
    quantile_of,
    rank_of,
    scores_in,
)
from tidegate.forecast.judging.profile import ABOVE, BELOW
from tidegate.forecast.parts import Floats, Part

__all__ = ["Judge", "expect_error", "judge_error"]

DOUBTS = 5  #: numbers that the size of an error may depend on


@compiled
def expect_error(spread: SpreadState, scores: ScoreState, given: Given, widths: Floats) -> None:
    """Fill in how far intervals (level, 2) reach below and above; infinite at first."""
    sizes = np.empty(2)
    expected_sides(spread, given, sizes)
    for k in range(len(widths)):
        width = quantile_of(scores, 1 - scores.misses[k])
        for side in range(2):
            widths[k, side] = sizes[side] * width if sizes[side] > 0 else inf


@compiled
def judge_error(spread: SpreadState, scores: ScoreState, given: Given, error: float) -> float:
    """The error that came; the share of recent ones that were smaller for their scale, or NaN."""
    sizes, rank = np.empty(2), nan
    expected_sides(spread, given, sizes)
    size = sizes[ABOVE] if error > 0 else sizes[BELOW]
    if size > 0:
        score = abs(error) / size
        rank = rank_of(scores, score)
        learn_score(scores, score)
    learn_sides(spread, given, error)
    return rank


class Judge(Part):
    """Intervals on a learned scale of errors, and the rank of each error.

    Args:
        levels: coverages of the intervals.
        around: features that are given after the doubts.

    Raises:
        UsageError: a level cannot be.

    >>> judge = Judge(levels=(0.9,))
    >>> for step in range(100):
    ...     rank = judge.learn([1.0] * 7, error=0.1 + step % 2)
    >>> len(judge.widths([1.0] * 7)), 0.4 < judge.learn([1.0] * 7, error=1.0) <= 1.0
    (1, True)
    """

    learned = ("scale", "conformal")

    def __init__(self, levels: Sequence[float], around: int = 0) -> None:
        self.scale = ErrorScale(DOUBTS, around)
        self.conformal = Conformal(levels)
        self._states = (
            spread_in(self.scale.memory, DOUBTS, around),
            scores_in(self.conformal.memory, 0, len(levels)),
        )

    @property
    def levels(self) -> tuple[float, ...]:
        """Coverages, in the order of :meth:`widths`."""
        return self.conformal.levels

    def widths(self, given: Sequence[float] | Floats) -> list[tuple[float, float]]:
        """For every level how far it reaches below and above; infinite at first.

        Args:
            given: doubts, what is around, and the forecast from its level and its last value on.
        """
        widths = np.empty((len(self.levels), 2))
        expect_error(*self._states, self.scale.split(given), widths)
        return [(float(below), float(above)) for below, above in widths]

    def learn(self, given: Sequence[float] | Floats, error: float) -> float | None:
        """The error that came; the share of recent ones that were smaller for their scale."""
        rank = judge_error(*self._states, self.scale.split(given), float(error))
        return rank if isfinite(rank) else None
