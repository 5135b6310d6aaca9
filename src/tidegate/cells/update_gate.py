"""One gate that decides alone, from the input, how much of the old state to replace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidegate.cells.base import Cell, Step, input
from tidegate.cells.functions import sigmoid, tanh

__all__ = ["UpdateGate"]


@dataclass(frozen=True)
class UpdateGate(Cell):
    """Update-gate cell: gate and candidate depend on the input alone.

    z_t = sigmoid(a x_t + b), h_t = (1 - z_t) h_(t-1) + z_t tanh(c x_t + d). Retention: 1 - z.
    Units do not see each other, so the online gradient through the memory path is exact.

    Use it where a stream is long and units few: learning costs a few numbers per unit, and the
    online gradient is exact.

    Source: the minimal gated recurrence; Feng et al., "Were RNNs All We Needed?" (2024),
    section 3.1 (minGRU), with tanh on the candidate.

    >>> from types import SimpleNamespace as Values
    >>> step = UpdateGate().step(Values(z=0.0, n=0.0), Values(h=0.8), Values())
    >>> float(step.h)
    0.4
    """

    slots = {"z": input, "n": input}
    memory = ("h",)

    def step(self, z: Any, past: Any, par: Any) -> Step:
        u, n = sigmoid(z.z), tanh(z.n)
        return Step(h=(1 - u) * past.h + u * n, gates={"z": u, "n": n})
