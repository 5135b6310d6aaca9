"""Mean, standard deviation and skewness of what has been so far, one step at a time."""

from __future__ import annotations

import numpy as np

from tidegate._core.trace import Array
from tidegate.memory.direct_path import Floats

__all__ = ["RunningMoments"]


class RunningMoments:
    """Of arrays of one shape, element by element; nothing is stored but three sums.

    Source: Pébay, "Formulas for Robust, One-Pass Parallel Computation of Covariances and
    Arbitrary-Order Statistical Moments" (2008), equations 1.1 and following, for one new value.

    Attributes:
        count: values so far.
        mean: of them.

    >>> moments = RunningMoments()
    >>> for value in (0.0, 0.0, 3.0):
    ...     moments.add(np.array(value))
    >>> float(moments.mean), round(float(moments.skew), 4)
    (1.0, 0.7071)
    """

    def __init__(self) -> None:
        self.count = 0
        self.mean: Floats = np.zeros(())
        self._squares: Floats = np.zeros(())
        self._cubes: Floats = np.zeros(())

    def add(self, values: Array) -> None:
        """One more step."""
        n = self.count
        delta = np.asarray(values, np.float64) - self.mean
        share = delta / (n + 1)
        term = delta * share * n
        self._cubes = self._cubes + term * share * (n - 1) - 3 * share * self._squares
        self._squares = self._squares + term
        self.mean = self.mean + share
        self.count = n + 1

    @property
    def deviation(self) -> Floats:
        """Standard deviation; 0 before there were two values."""
        return np.asarray(np.sqrt(self._squares / max(self.count, 1)))

    @property
    def skew(self) -> Floats:
        """Third standardised moment; 0 where nothing has varied."""
        spread = self.deviation
        with np.errstate(divide="ignore", invalid="ignore"):
            skew = self._cubes / (max(self.count, 1) * spread**3)
        return np.where(self._varied & np.isfinite(skew), skew, 0.0)

    def standardised(self, values: Array) -> Floats:
        """(value - mean) / standard deviation; 0 where nothing has varied."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            excess = (values - self.mean) / self.deviation
        return np.where(self._varied & np.isfinite(excess), excess, 0.0)

    @property
    def _varied(self) -> Array:
        # Rounding of the mean alone makes a deviation of some 1e-16 of it.
        return np.asarray(self.deviation > 1e-12 * np.abs(self.mean))
