"""The LSTM whose input gate is what its forget gate leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidegate.cells.base import Cell, Step, both
from tidegate.cells.functions import sigmoid, tanh
from tidegate.cells.laws import Law, constant

__all__ = ["Coupled"]


@dataclass(frozen=True)
class Coupled(Cell):
    """LSTM with coupled gates: c_t = f_t c_(t-1) + (1 - f_t) g_t, so |c| never exceeds 1.

    Retention: f.

    Use it where memory must stay in bounds: a quarter fewer weights than an LSTM, and no
    saturation.

    Source: Greff et al., "LSTM: A Search Space Odyssey", IEEE TNNLS 28 (2017), variant CIFG.

    Args:
        forget_bias: what every forget gate's bias starts with.

    >>> from types import SimpleNamespace as Values
    >>> step = Coupled().step(Values(f=0.0, g=0.0, o=0.0), Values(c=2.0), Values())
    >>> float(step.c)
    1.0
    """

    forget_bias: float = 0.0

    slots = {"f": both, "g": both, "o": both}
    memory = ("c",)

    def step(self, z: Any, past: Any, par: Any) -> Step:
        f, g, o = sigmoid(z.f), tanh(z.g), sigmoid(z.o)
        c = f * past.c + (1 - f) * g
        return Step(h=o * tanh(c), c=c, gates={"f": f, "g": g, "o": o})

    def biases(self) -> Mapping[str, Law]:
        return {"f": constant(self.forget_bias)}
