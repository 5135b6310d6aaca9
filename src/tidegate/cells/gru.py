"""The gated recurrent unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidegate.cells.base import Cell, Step, both, hidden, input
from tidegate.cells.functions import sigmoid, tanh

__all__ = ["GRU"]


@dataclass(frozen=True)
class GRU(Cell):
    """Gated recurrent unit with the equations of ``torch.nn.GRU`` (reset after the product).

    n_t = tanh(W x_t + b + r_t (U h_(t-1) + b')), h_t = (1 - z_t) n_t + z_t h_(t-1).
    Retention: z.

    Use it where an LSTM is too large: three gates' worth of weights, one state, and weights that
    carry over from torch and cuDNN.

    Source: Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder", EMNLP 2014,
    equations 5 to 8, with the reset gate where cuDNN and torch put it.

    >>> from types import SimpleNamespace as Values
    >>> z = Values(r=0.0, z=0.0, n_x=1.0, n_h=0.0)
    >>> round(float(GRU().step(z, Values(h=1.0), Values()).h), 6)
    0.880797
    """

    slots = {"r": both, "z": both, "n_x": input, "n_h": hidden}
    memory = ("h",)

    def step(self, z: Any, past: Any, par: Any) -> Step:
        r, u = sigmoid(z.r), sigmoid(z.z)
        n = tanh(z.n_x + r * z.n_h)
        return Step(h=(1 - u) * n + u * past.h, gates={"r": r, "z": u, "n": n})
