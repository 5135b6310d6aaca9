"""The LSTM before it could forget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidegate.cells.base import Cell, Step, both
from tidegate.cells.functions import sigmoid, tanh

__all__ = ["LSTM1997"]


@dataclass(frozen=True)
class LSTM1997(Cell):
    """Long short-term memory of 1997, without a forget gate: its retention is always 1.

    c_t = c_(t-1) + i_t g_t. The squashing functions are those of today's LSTM (logistic gates,
    tanh), so that the forget gate is the only difference from :class:`~tidegate.cells.lstm.LSTM`.

    Use it as the control: it shows on a continual stream what cannot be done without forgetting.

    Source: Hochreiter & Schmidhuber, "Long Short-Term Memory", Neural Computation 9 (1997),
    section 4, equations for s_c and y^c.

    >>> from types import SimpleNamespace as Values
    >>> step = LSTM1997().step(Values(i=-40.0, g=1.0, o=0.0), Values(c=3.0), Values())
    >>> round(float(step.c), 12)
    3.0
    """

    slots = {"i": both, "g": both, "o": both}
    memory = ("c",)

    def step(self, z: Any, past: Any, par: Any) -> Step:
        i, g, o = sigmoid(z.i), tanh(z.g), sigmoid(z.o)
        c = past.c + i * g
        return Step(h=o * tanh(c), c=c, gates={"i": i, "g": g, "o": o})
