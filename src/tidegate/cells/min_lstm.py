"""The LSTM stripped of everything that looks back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidegate.cells.base import Cell, Step, input
from tidegate.cells.functions import log_sigmoid, sigmoid

__all__ = ["MinLSTM"]


@dataclass(frozen=True)
class MinLSTM(Cell):
    """minLSTM: gates and candidate depend on the input alone, and the two gates sum to 1.

    f_t = f / (f + i), i_t = i / (f + i) of two logistic gates, h_t = f_t h_(t-1) + i_t n_t with a
    linear candidate. The quotient is written as sigmoid(log f - log i), the same number without
    0 / 0 where both gates are shut. It is run step by step, so it is the same however a stream is
    cut. Retention: f_t.

    Use it for long sequences when the gates need not know the state: no product in the step, so it
    is fast.

    Source: Feng et al., "Were RNNs All We Needed?" (2024), section 3.2.

    >>> from types import SimpleNamespace as Values
    >>> step = MinLSTM().step(Values(f=-800.0, i=-800.0, n=2.0), Values(h=1.0), Values())
    >>> float(step.h)
    1.5
    """

    slots = {"f": input, "i": input, "n": input}
    memory = ("h",)

    def step(self, z: Any, past: Any, par: Any) -> Step:
        f = sigmoid(log_sigmoid(z.f) - log_sigmoid(z.i))
        i = 1 - f
        return Step(h=f * past.h + i * z.n, gates={"f": f, "i": i})
