"""Retention, half-life and pre-activation: one gate said in three ways, and in words.

A gate f = sigmoid(z) that stays as it is leaves f^n of a memory after n steps, and half of it after
one half-life h = ln 2 / -ln f. Each function takes a number or an array and gives float64 of the
same shape, within a few units in the last place over the whole range of floats. The logarithm of
the retention, -softplus(-z), is what to keep: f itself cannot tell 9e51 steps from forever.

Where there is no half-life the number is NaN (nothing is kept, or it grows) or inf (kept forever,
or for longer than a float64 can say); :func:`half_life_words` says which.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tidegate.gates.values import Floats, floats

__all__ = [
    "half_life_from_log_retention",
    "half_life_from_preactivation",
    "half_life_from_retention",
    "half_life_words",
    "log_retention_from_half_life",
    "log_retention_from_preactivation",
    "preactivation_from_half_life",
    "preactivation_from_log_retention",
    "preactivation_from_retention",
    "retention_from_half_life",
    "retention_from_preactivation",
]

LN2 = float(np.log(2.0))
LN2_REST = 2.3190468138462996e-17  # ln 2 - LN2
FAR = 40.0  # beyond this exp(-z) is softplus(-z) to the last bit


def log_retention_from_preactivation(preactivation: ArrayLike) -> Floats:
    """log sigmoid(z) = -softplus(-z), in nats per step.

    >>> float(log_retention_from_preactivation(120.0))
    -7.667648e-53
    """
    z = floats("preactivation", preactivation)
    with np.errstate(under="ignore"):
        return (np.minimum(z, 0) - np.log1p(np.exp(-np.abs(z))))[()]


def retention_from_preactivation(preactivation: ArrayLike) -> Floats:
    """sigmoid(z) = 1 / (1 + exp(-z)): exactly 1 from z = 36.74 on.

    >>> float(retention_from_preactivation(1.0))
    0.7310586
    """
    z = floats("preactivation", preactivation)
    with np.errstate(under="ignore"):
        small = np.exp(-np.abs(z))
        return (np.where(z < 0, small, 1.0) / (1.0 + small))[()]


def preactivation_from_retention(retention: ArrayLike) -> Floats:
    """z = ln(f / (1 - f)) for 0 <= f <= 1; NaN elsewhere: no logistic gate gives it.

    >>> preactivation_from_retention([0.5, 0.9, 1.0])
    array([0. , 2.19722458, inf])
    """
    f = floats("retention", retention)
    with np.errstate(all="ignore"):
        # 2 f - 1 is exact near 1/2, where the quotient of the other form has lost z.
        middle = 2.0 * np.arctanh(2.0 * f - 1.0)
        return np.where(np.abs(f - 0.5) < 0.25, middle, np.log(f / (1.0 - f)))[()]


def preactivation_from_log_retention(log_retention: ArrayLike) -> Floats:
    """z = -ln(exp(-L) - 1) for L <= 0; NaN above.

    >>> float(preactivation_from_log_retention(-7.66764807372e-53))
    120.0
    """
    kept = floats("log_retention", log_retention)
    with np.errstate(all="ignore"):
        middle = -np.log1p(2.0 * np.expm1(-((kept + LN2) + LN2_REST)))
        near = -np.log(np.expm1(-kept))
        far = kept - np.log1p(-np.exp(kept))
        ends = np.where(kept > -0.5, near, far)
        z = np.where(np.abs(kept + LN2) < 0.3, middle, ends)
    return np.where(kept > 0, np.nan, z)[()]


def half_life_from_log_retention(log_retention: ArrayLike) -> Floats:
    """h = ln 2 / -L in steps, for -inf < L < 0; inf at 0, NaN elsewhere.

    >>> half_life_from_log_retention([-0.1, 0.0, 0.1, -np.inf])
    array([6.93147181, inf, nan, nan])
    """
    kept = floats("log_retention", log_retention)
    with np.errstate(all="ignore"):
        steps = LN2 / -np.minimum(kept, -0.0)
    return np.where((kept > 0) | np.isneginf(kept) | np.isnan(kept), np.nan, np.abs(steps))[()]


def half_life_from_retention(retention: ArrayLike) -> Floats:
    """h = ln 2 / -ln |f| in steps, for 0 < |f| < 1; inf at 1, NaN elsewhere.

    >>> half_life_from_retention([0.9, 0.95, 0.999])
    array([  6.57881348,  13.51340733, 692.80054918])
    """
    f = floats("retention", retention)
    with np.errstate(divide="ignore"):
        return half_life_from_log_retention(np.log(np.abs(f)))


def half_life_from_preactivation(preactivation: ArrayLike) -> Floats:
    """h = ln 2 / softplus(-z) in steps; inf from z = 710.1 on, where it exceeds every float64.

    >>> float(half_life_from_preactivation(0.0)), f"{half_life_from_preactivation(120.0):.1e}"
    (1.0, '9.0e+51')
    """
    z = floats("preactivation", preactivation)
    with np.errstate(all="ignore"):
        far = np.exp(z - 1.0) * (LN2 * np.e)
    return np.where(z > FAR, far, half_life_from_log_retention(_near(z)))[()]


def preactivation_from_half_life(half_life: ArrayLike) -> Floats:
    """z = -ln(2^(1/h) - 1) for a half-life h > 0 in steps; inf for inf, NaN where h <= 0.

    >>> preactivation_from_half_life([1.0, 100.0, 9.0e51]).round(4)
    array([  0.    ,   4.9682, 119.9956])
    """
    h = floats("half_life", half_life)
    with np.errstate(all="ignore"):
        rate = LN2 / h
        long = np.log(h) - np.log(LN2) - rate / 2.0
        middle = -np.log1p(2.0 * np.expm1(LN2 * ((1.0 - h) / h)))
        short = -rate - np.log1p(-np.exp(-rate))
        near = -np.log(np.expm1(rate))
        short = np.where(h > 0.5, middle, short)
        z = np.where(h > 1e8, long, np.where(h > 2.0, near, short))
    return np.where(h > 0, np.where(np.isposinf(h), np.inf, z), np.nan)[()]


def retention_from_half_life(half_life: ArrayLike) -> Floats:
    """f = 2^(-1/h) for a half-life h > 0 in steps; NaN where h <= 0.

    >>> retention_from_half_life([1.0, 692.8])
    array([0.5  , 0.999])
    """
    h = floats("half_life", half_life)
    with np.errstate(all="ignore"):
        return np.where(h > 0, np.exp2(-1.0 / h), np.nan)[()]


def log_retention_from_half_life(half_life: ArrayLike) -> Floats:
    """L = -ln 2 / h in nats per step, for a half-life h > 0 in steps; NaN where h <= 0.

    >>> float(log_retention_from_half_life(1.0))
    -0.693147
    """
    h = floats("half_life", half_life)
    with np.errstate(all="ignore"):
        return np.where(h > 0, -LN2 / h, np.nan)[()]


def half_life_words(log_retention: float) -> str:
    """The half-life of one log-retention, in words also where it is no number.

    ``none`` where nothing is kept (or there is no retention: NaN), ``grows`` where |R| > 1,
    ``forever`` where |R| = 1.

    >>> [half_life_words(kept) for kept in (-0.1, 0.0, 0.1, -np.inf)]
    ['6.931 steps', 'forever', 'grows', 'none']
    """
    kept = float(floats("log_retention", log_retention))
    if np.isnan(kept) or kept == -np.inf:
        return "none"
    if kept >= 0:
        return "grows" if kept > 0 else "forever"
    steps = float(half_life_from_log_retention(kept))
    return f"{steps:.4g} steps" if np.isfinite(steps) else "more than 1.8e+308 steps"


def _near(z: Floats) -> Floats:
    return np.asarray(log_retention_from_preactivation(np.minimum(z, FAR)))
