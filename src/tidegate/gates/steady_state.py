"""A memory that is driven constantly: where it ends, how fast it gets there, where it is by then.

c_t = R c_(t-1) + w. With 0 < R < 1 it ends at w / (1 - R), and 1 - 1/e of the way takes one time
constant of -1 / ln R steps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tidegate.gates.half_life import LN2, half_life_from_log_retention
from tidegate.gates.half_life import half_life_from_preactivation as _half_life
from tidegate.gates.values import Floats, floats

__all__ = [
    "driven_memory",
    "steady_state",
    "steady_state_from_preactivation",
    "time_constant",
    "time_constant_from_preactivation",
]


def steady_state(log_retention: ArrayLike, write: ArrayLike = 1.0) -> Floats:
    """w / (1 - R) for log-retention L = ln R <= 0; infinite where R = 1, NaN where it grows.

    >>> float(steady_state(np.log(0.99), write=0.1))
    10.0
    """
    kept, written = floats("log_retention", log_retention), floats("write", write)
    with np.errstate(all="ignore"):
        return np.where(kept > 0, np.nan, written / np.abs(np.expm1(kept)))[()]


def steady_state_from_preactivation(preactivation: ArrayLike, write: ArrayLike = 1.0) -> Floats:
    """w / (1 - sigmoid(z)) = w (1 + exp(z)).

    >>> f"{steady_state_from_preactivation(120.0):.1e}"
    '1.3e+52'
    """
    z, written = floats("preactivation", preactivation), floats("write", write)
    with np.errstate(all="ignore"):
        return (written + written * np.exp(z))[()]


def time_constant(log_retention: ArrayLike) -> Floats:
    """-1 / L in steps: 1.44 half-lives; inf where R = 1, NaN where there is none.

    >>> float(time_constant(-0.01))
    100.0
    """
    return np.asarray(half_life_from_log_retention(log_retention) / LN2)[()]


def time_constant_from_preactivation(preactivation: ArrayLike) -> Floats:
    """1 / softplus(-z) in steps.

    >>> float(time_constant_from_preactivation(0.0))
    1.442695
    """
    return np.asarray(_half_life(preactivation) / LN2)[()]


def driven_memory(
    steps: ArrayLike, log_retention: ArrayLike, write: ArrayLike = 1.0, start: ArrayLike = 0.0
) -> Floats:
    """c after ``steps`` steps from ``start``: R^n c_0 + w (1 - R^n) / (1 - R).

    >>> driven_memory([0, 1, 1e5], [np.log(0.99), np.log(0.99), 0.0], write=0.1)
    array([0.e+00, 1.e-01, 1.e+04])
    """
    n, kept = floats("steps", steps), floats("log_retention", log_retention)
    written, before = floats("write", write), floats("start", start)
    with np.errstate(all="ignore"):
        total = np.where(kept == 0, n, np.expm1(n * kept) / np.expm1(kept))
        return (np.exp(n * kept) * before + written * total)[()]
