"""Simple forecasts that every better one must beat, on the same steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import isfinite, nan

from tidegate.forecast.parts import Part
from tidegate.forecast.past import Past

__all__ = ["Ago", "Persistence", "Simple"]


class Simple(Part, ABC):
    """A forecast of the coming value from values seen, in constant memory.

    Attributes:
        period: steps back to the value it repeats.
    """

    period: int

    @abstractmethod
    def forecast(self) -> float:
        """The forecast of the coming value; NaN before there is one."""

    @abstractmethod
    def observe(self, value: float) -> None:
        """The value that has come; NaN where it is missing."""

    def skip(self, steps: int) -> None:
        """So many steps without a row went by."""
        for _ in range(min(steps, self.period)):
            self.observe(nan)


class Persistence(Simple):
    """The last value that was seen.

    >>> last = Persistence()
    >>> for value in (3.0, nan):
    ...     last.observe(value)
    >>> last.forecast()
    3.0
    """

    period = 1
    learned = ("last",)

    def __init__(self) -> None:
        self.last = nan

    def forecast(self) -> float:
        return self.last

    def observe(self, value: float) -> None:
        if isfinite(value):
            self.last = value


class Ago(Simple):
    """The value one period before the coming step; the last one seen where that is missing.

    >>> ago = Ago(period=2)
    >>> for value in (3.0, 4.0, 5.0):
    ...     ago.observe(value)
    >>> ago.forecast()
    4.0
    """

    learned = ("past", "last")

    def __init__(self, period: int) -> None:
        self.period = period
        self.past = Past(period)
        self.last = nan

    def forecast(self) -> float:
        past = self.past[self.period]
        return past if isfinite(past) else self.last

    def observe(self, value: float) -> None:
        self.past.push(value)
        if isfinite(value):
            self.last = value
