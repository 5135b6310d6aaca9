"""Running averages of the weights: the raw ones go on learning, the averaged ones are quieter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidegate._core.errors import UsageError
from tidegate.kernels.plan import Array, Averaging

__all__ = ["RunningAverage"]


@dataclass(frozen=True)
class RunningAverage(Averaging):
    """average += (weights - average) * max(floor, 1 / (1 + warmup * t)).

    The share starts at 1, so that the first weights leave no mark, and never falls below
    ``floor``; the window grows to about 1 / floor updates.

    Raises:
        UsageError: ``floor`` is no share, or ``warmup`` negative.

    >>> RunningAverage(floor=1e-2, warmup=0.1).shares(np.array([0, 10, 10_000]))
    array([1.  , 0.5 , 0.01])
    """

    floor: float = 1e-4
    warmup: float = 0.1

    def __post_init__(self) -> None:
        if not 0 <= self.floor <= 1:
            raise UsageError(
                "RunningAverage floor", "a share from 0 to 1", repr(self.floor), "Try 1e-4."
            )
        if not 0 <= self.warmup < float("inf"):
            raise UsageError("RunningAverage warmup", "at least 0", repr(self.warmup), "Try 0.1.")

    def shares(self, updates: Array) -> Array:
        return np.maximum(self.floor, 1 / (1 + self.warmup * updates))
