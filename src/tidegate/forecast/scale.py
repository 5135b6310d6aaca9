"""A running scale of one number: what is usual, however wild single values are."""

from __future__ import annotations

from tidegate.forecast.parts import Part

__all__ = ["RunningScale"]

LARGEST = 8.0  #: times the scale that one value counts for, once it is known
KNOWN = 20  #: values after which it is


class RunningScale(Part):
    """The mean absolute value over about the last ``window`` steps, 0 before there is one.

    A single value counts for at most eight times the scale, so a spike moves it by less than
    8 / window of itself; a lasting change of scale by the factor k is followed within
    ``window * log(k) / 7`` steps. What is not finite is passed over by the caller.

    Args:
        window: in steps.

    >>> scale = RunningScale(window=100)
    >>> for _ in range(200):
    ...     scale.update(2.0)
    >>> scale.update(1e12)
    >>> round(scale.value, 2)
    2.14
    """

    learned = ("value", "count")

    def __init__(self, window: float) -> None:
        self._window = window
        self.value = 0.0
        self.count = 0

    def update(self, value: float) -> None:
        """The size of the newest value."""
        size = abs(value)
        self.count += 1
        if self.count > KNOWN and self.value > 0:
            size = min(size, LARGEST * self.value)
        self.value += (size - self.value) / min(self.count, self._window)
