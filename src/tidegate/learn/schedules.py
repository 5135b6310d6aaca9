"""How a learning rate changes with the number of updates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from tidegate._core.errors import UsageError
from tidegate.kernels.plan import Array

__all__ = ["Constant", "Harmonic", "Schedule", "as_schedule"]


class Schedule(ABC):
    """The rate as a function of the updates made before."""

    @abstractmethod
    def rates(self, updates: Array) -> Array:
        """Rates (steps,), float64, for ``updates`` (steps,)."""


@dataclass(frozen=True)
class Constant(Schedule):
    """The same rate for ever: it goes on adapting, and never comes to rest.

    >>> Constant(0.1).rates(np.array([0, 1000]))
    array([0.1, 0.1])
    """

    rate: float

    def rates(self, updates: Array) -> Array:
        return np.full(len(updates), self.rate)


@dataclass(frozen=True)
class Harmonic(Schedule):
    """rate / (1 + t / tau): falls to a half after ``tau`` updates, and so on for ever.

    Source: Robbins & Monro, "A Stochastic Approximation Method" (1951), the rate that comes to
    rest yet can still go anywhere.

    >>> Harmonic(0.1, tau=1000).rates(np.array([0, 1000, 9000]))
    array([0.1 , 0.05, 0.01])
    """

    rate: float
    tau: float

    def rates(self, updates: Array) -> Array:
        return self.rate / (1 + updates / self.tau)


def as_schedule(rate: float | Schedule, owner: str) -> Schedule:
    """A number means that rate for ever.

    Raises:
        UsageError: the number is negative or not finite.
    """
    if isinstance(rate, Schedule):
        return rate
    if not 0 <= rate < float("inf"):
        raise UsageError(owner, "a rate of at least 0", repr(rate), "Try 0.01.")
    return Constant(float(rate))
