"""The last values of one number, kept as plain floats: NumPy is slow on single ones."""

from __future__ import annotations

from array import array
from math import nan

__all__ = ["Past"]


class Past:
    """What a number was some steps back, in constant memory; NaN before the beginning.

    Args:
        longest: the furthest step back that is kept, at least 1.

    >>> past = Past(longest=2)
    >>> for value in (3.0, 4.0, 5.0):
    ...     past.push(value)
    >>> past[1], past[2]
    (5.0, 4.0)
    """

    def __init__(self, longest: int) -> None:
        self._ring = array("d", [nan]) * longest
        self._next = 0

    def push(self, value: float) -> None:
        """The newest value."""
        self._ring[self._next] = value
        self._next = (self._next + 1) % len(self._ring)

    def __getitem__(self, lag: int) -> float:
        """The value ``lag`` steps back; 1 is the one pushed last."""
        return self._ring[self._next - lag]
