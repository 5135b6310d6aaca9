"""The LSTM with nothing left but its forget gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidegate.cells.base import Cell, Step, both
from tidegate.cells.functions import sigmoid, tanh
from tidegate.cells.laws import Law, chrono

__all__ = ["JANET"]


@dataclass(frozen=True)
class JANET(Cell):
    """Just another network: h_t = f h_(t-1) + (1 - sigmoid(net_f - beta)) tanh(net_g).

    beta lets a unit keep and write at once. Forget biases start by the chrono law. Retention: f.

    Use it for long dependencies with few weights: half of those of an LSTM.

    Source: van der Westhuizen & Lasenby, "The unreasonable effectiveness of the forget gate"
    (2018), equations 6 to 9.

    Args:
        beta: by how much the write gate's net input is below the forget gate's.
        longest: the longest dependency expected, in steps.

    >>> from types import SimpleNamespace as Values
    >>> step = JANET().step(Values(f=1.0, g=0.0), Values(h=1.0), Values())
    >>> round(float(step.h), 6), float(step.gates["i"])
    (0.731059, 0.5)
    """

    beta: float = 1.0
    longest: float = 100.0

    slots = {"f": both, "g": both}
    memory = ("h",)

    def step(self, z: Any, past: Any, par: Any) -> Step:
        f, i, g = sigmoid(z.f), 1 - sigmoid(z.f - self.beta), tanh(z.g)
        return Step(h=f * past.h + i * g, gates={"f": f, "i": i, "g": g})

    def biases(self) -> Mapping[str, Law]:
        return {"f": chrono(self.longest)}
