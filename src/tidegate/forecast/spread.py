"""What is usual of one number, in plain floats: NumPy is slow on single ones."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping
from math import copysign, hypot, inf, sqrt

import numpy as np
from numpy.typing import NDArray

from tidegate.forecast.parts import Part
from tidegate.forecast.past import Past

__all__ = ["Level", "Spread"]

LARGEST = 1.7e308 / 64  # a few of them may be added

RECENT = 64  #: sizes that are looked at to see a lasting change
RANK = 57  #: of them in order: nine of ten are smaller
ABOVE, BELOW = 20.0, 60.0  #: how far this one may leave the scale, up and down


class Level(Part):
    """Mean and standard deviation of a number, as exponential windows forget.

    The same arithmetic as :class:`tidegate.streams.Standardiser`; what is further than ``reach``
    deviations from the mean enters as if it were there.

    Args:
        window: in steps.
        reach: in standard deviations.

    >>> level = Level(window=1000, reach=30.0)
    >>> for value in (1.0, 3.0):
    ...     level.update(value)
    >>> level.standard(4.0)
    2.0
    """

    learned = ("count", "mean", "deviation")

    def __init__(self, window: float, reach: float) -> None:
        self._window, self._reach = window, reach
        self.count = 0
        self.mean = 0.0
        self.deviation = 0.0

    def standard(self, value: float) -> float:
        """In deviations from the mean; 0 before two values, infinite where there was no change."""
        apart = bounded(value) - self.mean
        if self.count < 2 or apart == 0:
            return 0.0
        return apart / self.deviation if self.deviation > 0 else copysign(inf, apart)

    def update(self, value: float) -> None:
        """The finite value that has come."""
        apart = bounded(value) - self.mean
        reach = self._reach * min(self.deviation, LARGEST)
        if self.count > 1 and abs(apart) > reach > 0:
            apart = copysign(reach, apart)
        self.count += 1
        weight = 1 / min(self.count, self._window)
        self.mean += weight * apart
        # A deviation, not a variance: squares of 1e300 or 1e-300 do not fit a float64.
        self.deviation = sqrt(1 - weight) * hypot(self.deviation, sqrt(weight) * apart)


class Spread(Part):
    """The root mean square of a number, whatever single values are, and wherever it goes.

    Each value counts for at most ``reach`` times the scale. Where nine of ten recent values lie
    more than 20 times above it, or 60 times below, the scale is wrong: it begins anew from them.
    So a spike, or one in every hundred values, does not spoil it, and a scale that jumps a
    millionfold either way is caught up with in 60 steps.

    Args:
        window: in steps.
        reach: in scales.

    >>> spread = Spread(window=5000, reach=5.0)
    >>> for value in [1.0, -1.0] * 500 + [1e6] + [1.0, -1.0] * 10:
    ...     spread.update(value)
    >>> 1 < spread.scale < 1.02
    True
    >>> for value in [1e-9, -1e-9] * 32:
    ...     spread.update(value)
    >>> f"{spread.scale:.1g}"
    '1e-09'
    """

    learned = ("count", "scale", "recent")

    def __init__(self, window: float, reach: float) -> None:
        self._window, self._reach = window, reach
        self.count = 0
        self.scale = 0.0
        self.recent = Past(RECENT)
        self._ordered: list[float] = []

    def update(self, value: float) -> None:
        """The finite value that has come."""
        size = min(abs(value), LARGEST)
        self._remember(size)
        if self.count and self.scale > 0:
            size = min(size, self._reach * min(self.scale, LARGEST))
        self.count += 1
        weight = 1 / min(self.count, self._window)
        self.scale = hypot(sqrt(1 - weight) * self.scale, sqrt(weight) * size)
        if len(self._ordered) == RECENT:
            self._begin_anew_where_wrong()

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        super().restore(state)
        self._ordered = sorted(size for size in self.recent.values() if size == size)

    def _remember(self, size: float) -> None:
        if len(self._ordered) == RECENT:
            del self._ordered[bisect_left(self._ordered, self.recent[RECENT])]
        insort(self._ordered, size)
        self.recent.push(size)

    def _begin_anew_where_wrong(self) -> None:
        usual = self._ordered[RANK]
        if usual > ABOVE * self.scale or 0 < BELOW * usual < self.scale:
            self.scale, self.count = usual, RECENT


def bounded(value: float) -> float:
    """Within the numbers of which a few can be added."""
    return min(max(value, -LARGEST), LARGEST)
