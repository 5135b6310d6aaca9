"""The plain recurrent network: all it holds must pass through the squashing function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidegate.cells.base import Cell, Step, both
from tidegate.cells.functions import tanh

__all__ = ["RNN"]


@dataclass(frozen=True)
class RNN(Cell):
    """Elman's simple recurrent network, with the equations of ``torch.nn.RNN``.

    h_t = tanh(W x_t + U h_(t-1) + b). It has no memory with a direct path, hence no retention.

    Use it as the control without gates: whatever it holds fades or explodes with the powers of its
    weights.

    Source: Elman, "Finding Structure in Time", Cognitive Science 14 (1990), section 2.

    >>> from types import SimpleNamespace as Values
    >>> round(float(RNN().step(Values(n=0.5), Values(h=0.0), Values()).h), 6)
    0.462117
    """

    slots = {"n": both}

    def step(self, z: Any, past: Any, par: Any) -> Step:
        return Step(h=tanh(z.n))
