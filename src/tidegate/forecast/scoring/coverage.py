"""How often intervals held, and how wide they were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

import numpy as np

from tidegate.forecast.parts import Floats, Part

__all__ = ["Coverage"]

Ends = Mapping[float, tuple[float, float]]


class Coverage(Part):
    """Counts, for every level, the values within its interval, and sums the widths.

    Args:
        levels: wanted coverages.

    >>> coverage = Coverage(levels=(0.9,))
    >>> for value in (1.0, 2.0, 9.0):
    ...     coverage.add(value, {0.9: (0.0, 4.0)})
    >>> coverage.summary()
    {'0.9': {'steps': 3, 'held': 0.6666666666666666, 'width': 4.0}}
    """

    learned = ("steps", "held", "widths")

    def __init__(self, levels: Sequence[float]) -> None:
        self.levels = tuple(levels)
        self.steps: Floats = np.zeros(len(self.levels))
        self.held: Floats = np.zeros(len(self.levels))
        self.widths: Floats = np.zeros(len(self.levels))

    def add(self, actual: float, intervals: Ends) -> None:
        """The value that came, and the intervals said before; what is missing passes."""
        if not intervals or not isfinite(actual):
            return
        for place, level in enumerate(self.levels):
            if level in intervals:
                low, high = intervals[level]
                self.steps[place] += 1
                self.held[place] += low <= actual <= high
                self.widths[place] += high - low

    def summary(self) -> dict[str, dict[str, float]]:
        """By level: intervals that were there, the share that held, their mean width."""
        return {
            f"{level:g}": {
                "steps": int(steps), "held": float(held / steps), "width": float(width / steps)
            }
            for level, steps, held, width in zip(
                self.levels, self.steps, self.held, self.widths, strict=True
            )
            if steps
        }  # fmt: skip
