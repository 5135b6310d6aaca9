"""The gated unit with a single gate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidegate.cells.base import Cell, Step, both
from tidegate.cells.functions import sigmoid, tanh

__all__ = ["MGU"]


@dataclass(frozen=True)
class MGU(Cell):
    """Minimal gated unit: one gate resets what the candidate sees and updates the state.

    n_t = tanh(W x_t + U (f_t * h_(t-1)) + b), h_t = (1 - f_t) h_(t-1) + f_t n_t.
    Retention: 1 - f.

    Use it where a GRU is still too large: two thirds of its weights; it cannot learn online.

    Source: Zhou et al., "Minimal Gated Unit for Recurrent Neural Networks", International Journal
    of Automation and Computing 13 (2016), equations 8 to 10.

    >>> from types import SimpleNamespace as Values
    >>> float(MGU().step(Values(f=0.0, n=0.0), Values(h=0.8), Values()).h)
    0.4
    """

    slots = {"f": both, "n": both(times="f")}
    memory = ("h",)

    def step(self, z: Any, past: Any, par: Any) -> Step:
        f, n = sigmoid(z.f), tanh(z.n)
        return Step(h=(1 - f) * past.h + f * n, gates={"f": f, "n": n})
