"""How a learning rate changes with the number of updates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real

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

    Raises:
        UsageError: the rate is negative or not finite.

    >>> Constant(0.1).rates(np.array([0, 1000]))
    array([0.1, 0.1])
    """

    rate: float

    def __post_init__(self) -> None:
        _check_rate("Constant", self.rate)

    def rates(self, updates: Array) -> Array:
        return np.full(len(updates), float(self.rate))


@dataclass(frozen=True)
class Harmonic(Schedule):
    """rate / (1 + t / tau): falls to a half after ``tau`` updates, and so on for ever.

    Source: Robbins & Monro, "A Stochastic Approximation Method" (1951), the rate that comes to
    rest yet can still go anywhere.

    Raises:
        UsageError: the rate is negative or not finite, or ``tau`` not above 0.

    >>> Harmonic(0.1, tau=1000).rates(np.array([0, 1000, 9000]))
    array([0.1 , 0.05, 0.01])
    """

    rate: float
    tau: float

    def __post_init__(self) -> None:
        _check_rate("Harmonic", self.rate)
        if not self.tau > 0:
            raise UsageError("Harmonic tau", "updates above 0", repr(self.tau), "Try tau=1000.")

    def rates(self, updates: Array) -> Array:
        return self.rate / (1 + updates / self.tau)


def as_schedule(rate: float | Schedule, owner: str) -> Schedule:
    """A number means that rate for ever.

    Raises:
        UsageError: the number is negative or not finite.
    """
    if isinstance(rate, Schedule):
        return rate
    _check_rate(owner, rate)
    return Constant(rate)


def _check_rate(owner: str, rate: float) -> None:
    if not isinstance(rate, Real) or not 0 <= rate < float("inf"):
        raise UsageError(owner, "a rate of at least 0", repr(rate), "Try 0.01.")
