"""The LSTM whose units see only themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidegate.cells.base import Cell, Step, input
from tidegate.cells.functions import sigmoid, tanh
from tidegate.cells.laws import uniform

__all__ = ["ELSTM"]


@dataclass(frozen=True)
class ELSTM(Cell):
    """eLSTM: every gate sees the input and the memory of its own unit, never another unit.

    f_t = sigmoid(F x_t + w_f c_(t-1)), g_t = tanh(Z x_t + w_z c_(t-1)), c_t = f_t c_(t-1) +
    (1 - f_t) g_t, h_t = sigmoid(O x_t + w_o c_t) c_t, the w one number per unit, so that the online
    gradient through the memory path is exact. (In the paper the output gate's weights on c_t are a
    full matrix, learned without crossing time.) Retention: f + (1 - f) (1 - g^2) w_z + (c - g)
    f (1 - f) w_f; it may leave [0, 1].

    Use it where the online gradient must be exact although gates look back.

    Source: Irie, Gopalakrishnan & Schmidhuber, "Exploring the Promise and Limits of Real-Time
    Recurrent Learning", ICLR 2024, equations 9 to 12.

    >>> from types import SimpleNamespace as Values
    >>> par = Values(w_f=0.0, w_z=0.0, w_o=0.0)
    >>> float(ELSTM().step(Values(f=0.0, g=0.0, o=0.0), Values(c=2.0), par).h)
    0.5
    """

    slots = {"f": input, "g": input, "o": input}
    memory = ("c",)
    parameters = {"w_f": uniform(-0.1, 0.1), "w_z": uniform(-0.1, 0.1), "w_o": uniform(-0.1, 0.1)}

    def step(self, z: Any, past: Any, par: Any) -> Step:
        f = sigmoid(z.f + par.w_f * past.c)
        g = tanh(z.g + par.w_z * past.c)
        c = f * past.c + (1 - f) * g
        o = sigmoid(z.o + par.w_o * c)
        return Step(h=o * c, c=c, gates={"f": f, "g": g, "o": o})
