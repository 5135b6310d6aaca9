"""Laws for the numbers a unit starts with: biases and parameters of its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tidegate._core.errors import UsageError

__all__ = [
    "Law",
    "chrono",
    "constant",
    "half_life",
    "half_lives",
    "minus",
    "ramp",
    "uniform",
    "uniform_gate",
]

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


def ramp(first: float, by: float) -> Law:
    """Unit k starts with ``first + k * by``: the biases block by block of 2000.

    >>> ramp(0.5, 0.5)(np.random.default_rng(0), 4)
    array([0.5, 1. , 1.5, 2. ])
    """
    return lambda rng, units: first + by * np.arange(units, dtype=np.float64)


def minus(law: Law) -> Law:
    """The mirror of ``law``: an input gate that starts as open as a forget gate is closed.

    >>> minus(ramp(0.5, 0.5))(np.random.default_rng(0), 2)
    array([-0.5, -1. ])
    """
    return lambda rng, units: -law(rng, units)


def half_life(steps: float) -> Law:
    """The bias of a logistic gate that keeps half over ``steps`` steps.

    Raises:
        UsageError: ``steps`` is not above 0.

    >>> half_life(1.0)(np.random.default_rng(0), 1)
    array([0.])
    >>> round(float(half_life(692.8)(np.random.default_rng(0), 1)[0]), 3)
    6.907
    """
    _check_steps("half_life", steps)
    return constant(float(_bias(np.float64(steps))))


def half_lives(shortest: float, longest: float) -> Law:
    """Every unit draws its half-life, uniformly on the scale of logarithms, in steps.

    Raises:
        UsageError: an end is not above 0, or they are in the wrong order.

    >>> drawn = half_lives(1.0, 100.0)(np.random.default_rng(0), 50)
    >>> bool(drawn.min() >= 0), bool(drawn.max() <= half_life(100.0)(None, 1))
    (True, True)
    """
    _check_steps("half_lives", shortest)
    if not shortest <= longest:
        raise UsageError(
            "half_lives", "the shorter end first", f"{shortest} and {longest}", "Swap them."
        )
    low, high = np.log(shortest), np.log(longest)
    return lambda rng, units: _bias(np.exp(rng.uniform(low, high, units)))


def chrono(longest: float) -> Law:
    """The chrono initialisation of forget biases: log of a number between 1 and ``longest`` - 1.

    Source: Tallec & Ollivier, "Can recurrent neural networks warp time?" (2018), section 2; the
    input gate's bias is its mirror, :func:`minus`.

    Args:
        longest: the longest dependency expected, in steps; above 2.

    Raises:
        UsageError: ``longest`` is not above 2.

    >>> drawn = chrono(100)(np.random.default_rng(0), 50)
    >>> bool(np.all((0 <= drawn) & (drawn <= np.log(99))))
    True
    """
    if not longest > 2:
        raise UsageError("chrono", "more than 2 steps", repr(longest), "Try chrono(100).")
    return lambda rng, units: np.log(rng.uniform(1.0, longest - 1.0, units))


def uniform_gate() -> Law:
    """Biases whose gates are uniform between 1/units and 1 - 1/units.

    Source: Gu et al., "Improving the Gating Mechanism of Recurrent Neural Networks", ICML 2020,
    section 3.2 (uniform gate initialisation).

    >>> gates = 1 / (1 + np.exp(-uniform_gate()(np.random.default_rng(0), 10)))
    >>> bool(np.all((0.1 <= gates) & (gates <= 0.9)))
    True
    """

    def law(rng: np.random.Generator, units: int) -> NDArray[np.float64]:
        low = min(1.0 / units, 0.5)
        gate = rng.uniform(low, 1.0 - low, units)
        return np.asarray(np.log(gate) - np.log1p(-gate))

    return law


def _bias(steps: NDArray[np.float64] | np.float64) -> NDArray[np.float64]:
    """logit of 2 ** (-1 / steps), without rounding the gate on the way."""
    rate = np.log(2.0) / steps
    return np.asarray(-rate - np.log(-np.expm1(-rate)))


def _check_steps(owner: str, steps: float) -> None:
    if not steps > 0:
        raise UsageError(owner, "a number of steps above 0", repr(steps), "Try 10.")
