"""A learning rate that shrinks by the same factor at every update."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidegate._core.errors import UsageError
from tidegate.kernels.plan import Array
from tidegate.learn.schedules import Schedule

__all__ = ["Geometric"]


@dataclass(frozen=True)
class Geometric(Schedule):
    """rate * factor^t: learning ends after some multiples of 1 / (1 - factor) updates.

    Started anew with every training stream it is the "sequential alpha decay" of 2000, rate 0.5
    and factor 0.99.

    Source: Gers, Schmidhuber & Cummins (2000), section 4.5.

    Raises:
        UsageError: the rate is negative or not finite, or the factor not between 0 and 1.

    >>> Geometric(0.5, 0.5).rates(np.array([0, 1, 2]))
    array([0.5  , 0.25 , 0.125])
    """

    rate: float
    factor: float

    def __post_init__(self) -> None:
        if not 0 <= self.rate < float("inf"):
            raise UsageError("Geometric", "a rate of at least 0", repr(self.rate), "Try 0.5.")
        if not 0 < self.factor <= 1:
            raise UsageError("Geometric factor", "above 0, up to 1", repr(self.factor), "Try 0.99.")

    def rates(self, updates: Array) -> Array:
        return np.asarray(self.rate * np.exp(np.log(self.factor) * updates))
