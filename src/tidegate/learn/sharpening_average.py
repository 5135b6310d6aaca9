"""A running average of the weights whose window lags less and less behind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidegate._core.errors import UsageError
from tidegate.kernels.plan import Array, Averaging

__all__ = ["SharpeningAverage"]


@dataclass(frozen=True)
class SharpeningAverage(Averaging):
    """average += (weights - average) / (1 + a t), a rising from ``first`` to ``last``.

    Without a floor the window stays a share of the past, 1 / a of what was: at first a tenth of it
    say, later a third; so the average grows ever quieter and never forgets to follow.

    Args:
        first, last: a at the beginning and in the long run, from 0 to 1.
        after: updates after which a is half-way.

    Raises:
        UsageError: an option is out of range.

    >>> SharpeningAverage(0.1, 0.3, after=1e4).shares(np.array([0, 100, 10**6])).round(6)
    array([1.0e+00, 8.9e-02, 3.0e-06])
    """

    first: float = 0.1
    last: float = 0.3
    after: float = 1e4

    def __post_init__(self) -> None:
        if not (0 <= self.first <= 1 and 0 <= self.last <= 1 and self.after > 0):
            got = f"first={self.first!r}, last={self.last!r}, after={self.after!r}"
            expected = "first and last from 0 to 1, after above 0"
            raise UsageError("SharpeningAverage", expected, got, "Try 0.1, 0.3 and 1e4.")

    def shares(self, updates: Array) -> Array:
        a = self.first + (self.last - self.first) * updates / (updates + self.after)
        return np.asarray(1 / (1 + a * updates))
