"""The LSTM that learns to forget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidegate.cells.base import Cell, Step, both
from tidegate.cells.functions import sigmoid, tanh
from tidegate.cells.laws import Law, constant

__all__ = ["LSTM"]


@dataclass(frozen=True)
class LSTM(Cell):
    """LSTM with forget gate, with the equations and slot order of ``torch.nn.LSTM``.

    c_t = f_t c_(t-1) + i_t g_t, h_t = o_t tanh(c_t). Retention: f.

    Use it first: it is the one that others are compared with, and its forget gate can be read as a
    half-life.

    Source: Gers, Schmidhuber & Cummins, "Learning to Forget: Continual Prediction with LSTM",
    Neural Computation 12 (2000), section 3, equation for s_c with forget gate.

    Args:
        forget_bias: what every forget gate's bias starts with; 0 is a half-life of 1 step,
            2 of 5.5 steps, 5 of 103 steps.

    >>> from types import SimpleNamespace as Values
    >>> z = Values(i=0.0, f=0.0, g=1.0, o=0.0)
    >>> step = LSTM().step(z, Values(c=2.0), Values())
    >>> round(float(step.c), 6), float(step.gates["f"])
    (1.380797, 0.5)
    """

    forget_bias: float = 0.0

    slots = {"i": both, "f": both, "g": both, "o": both}
    memory = ("c",)

    def step(self, z: Any, past: Any, par: Any) -> Step:
        i, f, g, o = sigmoid(z.i), sigmoid(z.f), tanh(z.g), sigmoid(z.o)
        c = f * past.c + i * g
        return Step(h=o * tanh(c), c=c, gates={"i": i, "f": f, "g": g, "o": o})

    def biases(self) -> Mapping[str, Law]:
        return {"f": constant(self.forget_bias)}
