"""Laws for the numbers a unit starts with: biases and parameters of its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["Law", "constant", "uniform"]

#: (random generator, units) -> the start value of every unit, float64, shape (units,)
Law = Callable[[np.random.Generator, int], NDArray[np.float64]]


def constant(value: float) -> Law:
    """Every unit starts with ``value``.

    >>> constant(2.0)(np.random.default_rng(0), 3)
    array([2., 2., 2.])
    """
    return lambda rng, units: np.full(units, float(value))


def uniform(low: float, high: float) -> Law:
    """Every unit draws its own number between ``low`` and ``high``.

    >>> bool(np.all(abs(uniform(-0.1, 0.1)(np.random.default_rng(0), 50)) <= 0.1))
    True
    """
    return lambda rng, units: rng.uniform(low, high, units)
