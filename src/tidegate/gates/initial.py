"""Biases that let a gate start with the memory one wants, said in steps.

Each function gives a law, (random generator, units) -> biases (units,) float64, as cells take them.
A bias of 1 is a half-life of 2.2 steps only; long memory needs a bias of about ln T.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tidegate._core.errors import UsageError
from tidegate.gates.half_life import preactivation_from_half_life
from tidegate.gates.values import Floats

__all__ = ["Law", "chrono", "for_half_life", "for_half_lives", "negated"]

Law = Callable[[np.random.Generator, int], Floats]


def for_half_life(half_life: float) -> Law:
    """Every unit starts with the half-life given, in steps.

    Raises:
        UsageError: it is not above 0 and finite.

    >>> for_half_life(100.0)(np.random.default_rng(0), 2).round(4)
    array([4.9682, 4.9682])
    """
    bias = preactivation_from_half_life(_checked("half_life", half_life))
    return lambda rng, units: np.full(units, bias)


def for_half_lives(shortest: float, longest: float) -> Law:
    """Half-lives of equal ratio from ``shortest`` to ``longest`` steps, one a unit.

    A single unit gets the geometric middle.

    Raises:
        UsageError: one is not above 0 and finite, or they are the wrong way round.

    >>> for_half_lives(1.0, 10_000.0)(np.random.default_rng(0), 3).round(3)
    array([0.   , 4.968, 9.577])
    """
    low, high = _checked("shortest", shortest), _checked("longest", longest)
    if low > high:
        raise UsageError("longest", f"at least {low:g} steps", f"{high:g}", "Exchange the two.")

    def law(rng: np.random.Generator, units: int) -> Floats:
        if units == 1:
            return preactivation_from_half_life([np.sqrt(low) * np.sqrt(high)])
        return preactivation_from_half_life(np.geomspace(low, high, units))

    return law


def chrono(longest: float) -> Law:
    """ln u with u uniform between 1 and ``longest`` - 1: time constants spread over that range.

    In the paper the input gate's bias is the negative of the same draws.

    Source: Tallec & Ollivier, "Can recurrent neural networks warp time?", ICLR 2018, equation 16.

    Raises:
        UsageError: ``longest`` is not at least 2 steps and finite.

    >>> biases = chrono(1000.0)(np.random.default_rng(0), 50)
    >>> bool(biases.min() >= 0), bool(biases.max() <= np.log(999))
    (True, True)
    """
    if not 2 <= longest < float("inf"):
        raise UsageError("longest", "at least 2 steps, finite", repr(longest), "Try 100.")
    return lambda rng, units: np.log(rng.uniform(1.0, longest - 1.0, units))


def negated(law: Law) -> Law:
    """For a gate that lets go where others keep: retention 1 - sigmoid(z).

    >>> negated(for_half_life(100.0))(np.random.default_rng(0), 1).round(4)
    array([-4.9682])
    """
    return lambda rng, units: -law(rng, units)


def _checked(owner: str, steps: float) -> float:
    if not 0 < steps < float("inf"):
        raise UsageError(owner, "steps above 0, finite", repr(steps), "Try 100.")
    return float(steps)
