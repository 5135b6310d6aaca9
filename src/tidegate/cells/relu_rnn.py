"""The plain recurrent network with rectified units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidegate.cells.base import Cell, Step, both
from tidegate.cells.functions import maximum

__all__ = ["ReluRNN"]


@dataclass(frozen=True)
class ReluRNN(Cell):
    """Simple recurrent network with rectified units: ``torch.nn.RNN`` with ``nonlinearity="relu"``.

    h_t = max(W x_t + U h_(t-1) + b, 0). It has no memory with a direct path, hence no retention.

    Use it to load such networks from torch; it grows without bounds easily.

    Source: Le, Jaitly & Hinton, "A Simple Way to Initialize Recurrent Networks of Rectified Linear
    Units" (2015), section 3.

    >>> from types import SimpleNamespace as Values
    >>> float(ReluRNN().step(Values(n=-0.5), Values(h=0.0), Values()).h)
    0.0
    """

    slots = {"n": both}

    def step(self, z: Any, past: Any, par: Any) -> Step:
        return Step(h=maximum(z.n, 0.0))
