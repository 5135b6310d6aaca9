"""The GRU stripped of everything that looks back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidegate.cells.base import Cell, Step, input
from tidegate.cells.functions import sigmoid

__all__ = ["MinGRU"]


@dataclass(frozen=True)
class MinGRU(Cell):
    """minGRU: gate and candidate depend on the input alone, and the candidate is linear.

    h_t = (1 - z_t) h_(t-1) + z_t (W x_t + b). Retention: 1 - z. With tanh on the candidate it is
    :class:`~tidegate.cells.update_gate.UpdateGate`.

    Use it for long sequences when the gate need not know the state; the smallest gated cell here.

    Source: Feng et al., "Were RNNs All We Needed?" (2024), section 3.1.

    >>> from types import SimpleNamespace as Values
    >>> float(MinGRU().step(Values(z=0.0, n=2.0), Values(h=1.0), Values()).h)
    1.5
    """

    slots = {"z": input, "n": input}
    memory = ("h",)

    def step(self, z: Any, past: Any, par: Any) -> Step:
        u = sigmoid(z.z)
        return Step(h=(1 - u) * past.h + u * z.n, gates={"z": u})
