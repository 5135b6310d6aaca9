"""How large errors are likely to be: intervals before a value comes, its score after."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from tidegate.forecast.judging.intervals import Conformal, ErrorScale
from tidegate.forecast.parts import Floats, Part

__all__ = ["Judge"]

DOUBTS = 5  #: numbers that the size of an error may depend on


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

    @property
    def levels(self) -> tuple[float, ...]:
        """Coverages, in the order of :meth:`widths`."""
        return self.conformal.levels

    def widths(self, doubts: Sequence[float] | Floats, unit: float = 1.0) -> list[float]:
        """For every level, in units of which an error of 1 is ``unit``; infinite at first."""
        scale = self.scale.predict(doubts) * unit
        return [scale * width if scale else inf for width in self.conformal.widths()]

    def learn(self, doubts: Sequence[float] | Floats, error: float) -> float | None:
        """The error that came; the share of recent ones that were smaller for their scale."""
        scale, rank = self.scale.predict(doubts), None
        if scale > 0:
            rank = self.conformal.rank(abs(error) / scale)
            self.conformal.learn(abs(error) / scale)
        self.scale.learn(doubts, error)
        return rank
