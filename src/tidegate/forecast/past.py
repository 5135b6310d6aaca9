"""The last values of one number, kept as plain floats: NumPy is slow on single ones."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from math import nan

import numpy as np
from numpy.typing import NDArray

from tidegate._core.errors import UsageError
from tidegate.forecast.parts import Arrays, Part

__all__ = ["Past"]


class Past(Part):
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
        self._longest = longest
        self._next = 0

    def push(self, value: float) -> None:
        """The newest value."""
        self._ring[self._next] = value
        self._next = (self._next + 1) % self._longest

    def __getitem__(self, lag: int) -> float:
        """The value ``lag`` steps back; 1 is the one pushed last."""
        return self._ring[self._next - lag]

    def values(self) -> list[float]:
        """All that are kept, the oldest first."""
        return [*self._ring[self._next :], *self._ring[: self._next]]

    def state(self) -> Arrays:
        return {"ring": np.array(self._ring), "next": np.array(self._next)}

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        ring = state.get("ring", np.empty(0))
        if ring.shape != (self._longest,):
            expected, hint = f"{self._longest} values", "Restore it into what it is of."
            raise UsageError("state of a past", expected, f"shape {ring.shape}", hint)
        self._ring = array("d", ring.tolist())
        self._next = int(state["next"])
