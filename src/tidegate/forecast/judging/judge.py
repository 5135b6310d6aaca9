"""How large errors are likely to be: intervals before a value comes, its score after."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite, nan

import numpy as np

from tidegate.forecast.compiled import compiled
from tidegate.forecast.judging.error_scale import (
    ErrorScale,
    SpreadState,
    expected_size,
    learn_size,
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
from tidegate.forecast.parts import Floats, Part

__all__ = ["Judge", "expect_error", "judge_error"]

DOUBTS = 5  #: numbers that the size of an error may depend on


@compiled
def expect_error(
    spread: SpreadState, scores: ScoreState, doubts: Floats, around: Floats, widths: Floats
) -> None:
    """Fill in the half-widths (level) of intervals; infinite at first."""
    scale = expected_size(spread, doubts, around)
    for k in range(len(widths)):
        widths[k] = scale * quantile_of(scores, 1 - scores.misses[k]) if scale > 0 else inf


@compiled
def judge_error(
    spread: SpreadState, scores: ScoreState, doubts: Floats, around: Floats, error: float
) -> float:
    """The error that came; the share of recent ones that were smaller for their scale, or NaN."""
    scale, rank = expected_size(spread, doubts, around), nan
    if scale > 0:
        score = abs(error) / scale
        rank = rank_of(scores, score)
        learn_score(scores, score)
    learn_size(spread, doubts, around, error)
    return rank


class Judge(Part):
    """Half-widths of intervals on a learned scale of errors, and the rank of each error.

    Args:
        levels: coverages of the intervals.
        around: features that are given after the doubts.

    Raises:
        UsageError: a level cannot be.

    >>> judge = Judge(levels=(0.9,))
    >>> for step in range(100):
    ...     rank = judge.learn([1.0] * 5, error=0.1 + step % 2)
    >>> len(judge.widths([1.0] * 5)), 0.4 < judge.learn([1.0] * 5, error=1.0) <= 1.0
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

    def widths(self, doubts: Sequence[float] | Floats) -> list[float]:
        """For every level; infinite at first."""
        widths = np.empty(len(self.levels))
        expect_error(*self._states, *self.scale.split(doubts), widths)
        found: list[float] = widths.tolist()
        return found

    def learn(self, doubts: Sequence[float] | Floats, error: float) -> float | None:
        """The error that came; the share of recent ones that were smaller for their scale."""
        rank = judge_error(*self._states, *self.scale.split(doubts), float(error))
        return rank if isfinite(rank) else None
