"""What is claimed of a row of a table, and whether our trials agree.

A verdict is one of three: ``holds``, ``does not hold``, ``not comparable``. Where the trials are
too few to tell, or none of their kind was published, nothing is claimed to be confirmed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from tidegate.experiments.wilson import wilson

__all__ = ["AtLeast", "AtMost", "Claim", "Near", "Nothing", "Possible", "HOLDS", "FAILS", "UNCLEAR"]

HOLDS, FAILS, UNCLEAR = "holds", "does not hold", "not comparable"

FEWEST = 8
"""Trials below which nothing is said."""

WIDEST = 0.45
"""Of an interval that may be said to agree with a share: a wider one agrees with nearly all."""


class Claim(ABC):
    """A claim about the share of trials that solve a task."""

    @abstractmethod
    def judge(self, solved: int, trials: int) -> str:
        """The verdict on ``solved`` of ``trials``."""


@dataclass(frozen=True)
class Near(Claim):
    """The share was published; ours agrees if its interval comes within ``tolerance`` of it.

    >>> Near(0.62, 0.05).judge(60, 100), Near(0.62, 0.05).judge(90, 100), Near(0.6).judge(3, 5)
    ('holds', 'does not hold', 'not comparable')
    """

    share: float
    tolerance: float = 0.05

    def judge(self, solved: int, trials: int) -> str:
        if trials < FEWEST:
            return UNCLEAR
        low, high = wilson(solved, trials)
        if not low - self.tolerance <= self.share <= high + self.tolerance:
            return FAILS
        return HOLDS if high - low <= WIDEST else UNCLEAR


@dataclass(frozen=True)
class AtLeast(Claim):
    """At least this share of our own trials; no interval helps or hurts.

    >>> AtLeast(0.95).judge(96, 100), AtLeast(0.95).judge(90, 100), AtLeast(0.95).judge(4, 4)
    ('holds', 'does not hold', 'not comparable')
    """

    share: float

    def judge(self, solved: int, trials: int) -> str:
        if trials < FEWEST:
            return UNCLEAR
        return HOLDS if solved >= self.share * trials else FAILS


@dataclass(frozen=True)
class AtMost(Claim):
    """At most this share, and the interval allows it; a control that must fail.

    >>> AtMost(0.0).judge(0, 40), AtMost(0.0).judge(9, 40)
    ('holds', 'does not hold')
    """

    share: float

    def judge(self, solved: int, trials: int) -> str:
        if trials < FEWEST:
            return UNCLEAR
        return HOLDS if solved <= self.share * trials else FAILS


@dataclass(frozen=True)
class Possible(Claim):
    """It can be done: one trial proves it, and none speaks against it once ``share`` is excluded.

    >>> Possible(0.05).judge(1, 20), Possible(0.05).judge(0, 20), Possible(0.05).judge(0, 100)
    ('holds', 'not comparable', 'does not hold')
    """

    share: float = 0.05

    def judge(self, solved: int, trials: int) -> str:
        if trials < FEWEST:
            return UNCLEAR
        if solved:
            return HOLDS
        return FAILS if wilson(solved, trials)[1] < self.share else UNCLEAR


@dataclass(frozen=True)
class Nothing(Claim):
    """Shown beside the others; nothing was published that it could be held against.

    >>> Nothing().judge(9, 10)
    'not comparable'
    """

    def judge(self, solved: int, trials: int) -> str:
        return UNCLEAR
