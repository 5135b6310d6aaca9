"""Optimisers as equations: the same text is the NumPy reference and the machine code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from tidegate._core.errors import UsageError
from tidegate.cells.functions import Value, sqrt
from tidegate.kernels.plan import Array, Optimiser, Rule
from tidegate.learn.schedules import Schedule, as_schedule

__all__ = ["SGD", "Adam", "Momentum"]

LEAST_EPS = 1e-18


@dataclass(frozen=True)
class SGD(Optimiser):
    """Stochastic gradient descent: w <- w - rate g.

    >>> SGD(0.1).coefficients(np.array([0]))["rate"]
    array([0.1])
    """

    rate: float | Schedule = 0.1

    def __post_init__(self) -> None:
        as_schedule(self.rate, "SGD")

    def coefficients(self, updates: Array) -> Mapping[str, Array]:
        return {"rate": as_schedule(self.rate, "SGD").rates(updates)}

    def update(self, weight: Value, gradient: Value, moment: Any, c: Any) -> Rule:
        return Rule(weight - c.rate * gradient, {})


@dataclass(frozen=True)
class Momentum(Optimiser):
    """Gradient descent with a heavy ball: v <- mu v + g, w <- w - rate v.

    Source: Polyak, "Some methods of speeding up the convergence of iteration methods" (1964).

    >>> Momentum(0.1, 0.9).moments
    ('velocity',)
    """

    rate: float | Schedule = 0.01
    momentum: float = 0.9

    moments = ("velocity",)

    def __post_init__(self) -> None:
        as_schedule(self.rate, "Momentum")
        _check_share("Momentum momentum", self.momentum)

    def coefficients(self, updates: Array) -> Mapping[str, Array]:
        rates = as_schedule(self.rate, "Momentum").rates(updates)
        return {"rate": rates, "momentum": np.full(len(rates), self.momentum)}

    def update(self, weight: Value, gradient: Value, moment: Any, c: Any) -> Rule:
        velocity = c.momentum * moment.velocity + gradient
        return Rule(weight - c.rate * velocity, {"velocity": velocity})


@dataclass(frozen=True)
class Adam(Optimiser):
    """Adam with epsilon inside the root: w <- w - rate m / sqrt(v + eps^2), m and v corrected.

    A large ``eps`` makes rare gradients take steps in proportion to their size, and lets a learner
    that has learned come to rest; ``eps = 1e-8`` never does.

    Raises:
        UsageError: an option is out of range; the square of ``eps`` must not vanish in float32,
            or a weight without a gradient would be divided by 0.

    Source: Kingma & Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015, algorithm 1.

    >>> Adam(0.02).coefficients(np.array([0]))["rate"].round(12)
    array([0.2])
    """

    rate: float | Schedule = 0.01
    eps: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999

    moments = ("mean", "square")

    def __post_init__(self) -> None:
        as_schedule(self.rate, "Adam")
        _check_share("Adam beta1", self.beta1)
        _check_share("Adam beta2", self.beta2)
        if not LEAST_EPS <= self.eps < float("inf"):
            raise UsageError("Adam eps", f"at least {LEAST_EPS:g}", repr(self.eps), "Try 1e-3.")

    def coefficients(self, updates: Array) -> Mapping[str, Array]:
        rates = as_schedule(self.rate, "Adam").rates(updates)
        ones = np.ones(len(rates))
        return {
            "rate": rates / (1 - _faded(self.beta1, updates)),
            "correction": 1 / (1 - _faded(self.beta2, updates)),
            "eps2": self.eps**2 * ones,
            "beta1": self.beta1 * ones,
            "beta2": self.beta2 * ones,
            "rest1": (1 - self.beta1) * ones,
            "rest2": (1 - self.beta2) * ones,
        }

    def update(self, weight: Value, gradient: Value, moment: Any, c: Any) -> Rule:
        mean = c.beta1 * moment.mean + c.rest1 * gradient
        square = c.beta2 * moment.square + c.rest2 * (gradient * gradient)
        step = c.rate * mean / sqrt(square * c.correction + c.eps2)
        return Rule(weight - step, {"mean": mean, "square": square})


def _faded(beta: float, updates: Array) -> Array:
    """beta ** (updates + 1), by way of exp: a power takes as long as a whole step."""
    exponents = updates + 1.0
    return np.exp(log(beta) * exponents) if beta > 0 else np.zeros(len(exponents))


def _check_share(owner: str, share: float) -> None:
    if not 0 <= share < 1:
        raise UsageError(owner, "a share from 0 to below 1", repr(share), "Try 0.9.")
