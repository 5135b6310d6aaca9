"""The LSTM whose gates look at the memory they guard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidegate.cells.base import Cell, Step, both
from tidegate.cells.functions import sigmoid, tanh
from tidegate.cells.laws import uniform

__all__ = ["Peephole"]


@dataclass(frozen=True)
class Peephole(Cell):
    """LSTM with peepholes: i and f see the old memory of their own unit, o sees the new one.

    i_t and f_t get p c_(t-1), o_t gets p c_t, one weight per unit and gate. Retention: f plus what
    comes through the peepholes, c_(t-1) f (1 - f) p_f + g i (1 - i) p_i; it may leave [0, 1]. Error
    flows through the peepholes (in 2002 it did not).

    Use it where exact timing matters: counting steps between events, periodic signals.

    Source: Gers, Schraudolph & Schmidhuber, "Learning Precise Timing with LSTM Recurrent Networks",
    JMLR 3 (2002), section 2.2; tanh for both squashing functions as in today's LSTM.

    >>> from types import SimpleNamespace as Values
    >>> z, par = Values(i=0.0, f=0.0, g=0.0, o=0.0), Values(p_i=0.0, p_f=1.0, p_o=0.0)
    >>> round(float(Peephole().step(z, Values(c=1.0), par).c), 6)
    0.731059
    """

    slots = {"i": both, "f": both, "g": both, "o": both}
    memory = ("c",)
    parameters = {"p_i": uniform(-0.1, 0.1), "p_f": uniform(-0.1, 0.1), "p_o": uniform(-0.1, 0.1)}

    def step(self, z: Any, past: Any, par: Any) -> Step:
        i, f = sigmoid(z.i + par.p_i * past.c), sigmoid(z.f + par.p_f * past.c)
        g = tanh(z.g)
        c = f * past.c + i * g
        o = sigmoid(z.o + par.p_o * c)
        return Step(h=o * tanh(c), c=c, gates={"i": i, "f": f, "g": g, "o": o})
