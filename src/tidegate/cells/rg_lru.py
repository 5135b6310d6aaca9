"""The gated linear recurrence of Griffin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tidegate.cells.base import Cell, Step, input
from tidegate.cells.functions import exp, log_sigmoid, maximum, sigmoid, sqrt

__all__ = ["RGLRU"]

_SHARPNESS = 8.0
_LEAST = 1e-12  # of 1 - a^2: the slope of the root stays finite where a rounds to 1


def _ring(rng: np.random.Generator, units: int) -> NDArray[np.float64]:
    """softplus(rate) = -log radius, the radius uniform by area in the ring 0.9 to 0.999."""
    radius = np.sqrt(rng.uniform(0.9**2, 0.999**2, units))
    return np.asarray(np.log(np.expm1(-np.log(radius))))


@dataclass(frozen=True)
class RGLRU(Cell):
    """RG-LRU: a decay of the unit's own, raised to the power of a recurrence gate.

    a_t = exp(-8 r_t softplus(rate)), h_t = a_t h_(t-1) + sqrt(1 - a_t^2) i_t x_t, r and i logistic
    gates of the input; x_t is a linear map of the input, as the block before it in Griffin gives.
    Retention: a.

    Use it for very long memories: its decays start slow and are learned apart from the gates.

    Source: De et al., "Griffin: Mixing Gated Linear Recurrences with Local Attention" (2024),
    equations 1 to 4 and 6; start of the rates as in the authors' code.

    >>> from types import SimpleNamespace as Values
    >>> z, par = Values(r=-40.0, i=0.0, x=1.0), Values(rate=0.0)
    >>> round(float(RGLRU().step(z, Values(h=1.0), par).h), 5)
    1.0
    """

    name: ClassVar[str] = "rg_lru"

    slots = {"r": input, "i": input, "x": input(bias=False)}
    memory = ("h",)
    parameters = {"rate": _ring}

    def step(self, z: Any, past: Any, par: Any) -> Step:
        r, i = sigmoid(z.r), sigmoid(z.i)
        a = exp(_SHARPNESS * r * log_sigmoid(-par.rate))
        h = a * past.h + sqrt(maximum(1 - a * a, _LEAST)) * (i * z.x)
        return Step(h=h, gates={"r": r, "i": i, "a": a})
