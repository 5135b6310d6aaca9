"""The gated recurrent unit as it was first published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidegate.cells.base import Cell, Step, both
from tidegate.cells.functions import sigmoid, tanh

__all__ = ["GRU2014"]


@dataclass(frozen=True)
class GRU2014(Cell):
    """Gated recurrent unit of 2014: the reset gate multiplies h before the product.

    n_t = tanh(W x_t + U (r_t * h_(t-1)) + b), h_t = z_t h_(t-1) + (1 - z_t) n_t. The form of
    cuDNN and torch, reset after the product, is :class:`~tidegate.cells.gru.GRU`; weights do not
    carry over from one to the other. Retention: z.

    Use it to run models that were trained with the reset gate before the product; it needs a
    second product in every step, so it is slower and cannot learn online.

    Source: Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder", EMNLP 2014,
    equations 5 to 8.

    >>> from types import SimpleNamespace as Values
    >>> step = GRU2014().step(Values(r=0.0, z=0.0, n=0.0), Values(h=0.8), Values())
    >>> float(step.h)
    0.4
    """

    slots = {"r": both, "z": both, "n": both(times="r")}
    memory = ("h",)

    def step(self, z: Any, past: Any, par: Any) -> Step:
        r, u, n = sigmoid(z.r), sigmoid(z.z), tanh(z.n)
        return Step(h=u * past.h + (1 - u) * n, gates={"r": r, "z": u, "n": n})
