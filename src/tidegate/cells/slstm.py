"""The LSTM with exponential gates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate.cells.base import Cell, Step, both
from tidegate.cells.functions import Value, exp, fixed, log, log_sigmoid, maximum, sigmoid, tanh
from tidegate.cells.laws import Law

__all__ = ["SLSTM"]


@dataclass(frozen=True)
class SLSTM(Cell):
    """sLSTM: an exponential input gate, under a stabiliser m and a normaliser n.

    m_t = max(log f + m_(t-1), net_i), i' = exp(net_i - m_t), f' = exp(log f + m_(t-1) - m_t) with
    log f = log sigmoid(net_f), c_t = f' c_(t-1) + i' g_t, n_t = f' n_(t-1) + i', h_t = o_t c_t /
    n_t. What means something is c / n: of it f' n_(t-1) / n_t is kept. m only rescales and passes
    no error; it starts so low that the first step writes with i' = 1, and n is at least 1 after it.

    Use it where a single strong input must be able to overwrite everything, as the exponential
    gate can.

    Source: Beck et al., "xLSTM: Extended Long Short-Term Memory" (2024), equations 8 to 17; forget
    biases from 5 down to -7 over the units as in the authors' code.

    Args:
        depth: where the layer stands in its stack, 0 (first) to 1 (last); bends those biases.

    >>> from types import SimpleNamespace as Values
    >>> past = Values(c=0.0, n=0.0, m=SLSTM().start["m"])
    >>> step = SLSTM().step(Values(i=300.0, f=0.0, g=0.5, o=0.0), past, Values())
    >>> float(step.n), round(float(step.h), 6)
    (1.0, 0.231059)
    """

    depth: float = 0.0

    slots = {"i": both, "f": both, "g": both, "o": both}
    memory = ("c", "n", "m")
    start = {"m": -1e4}

    def step(self, z: Any, past: Any, par: Any) -> Step:
        kept = log_sigmoid(z.f) + past.m
        m = fixed(maximum(kept, z.i))
        i, f = exp(z.i - m), exp(kept - m)
        g, o = tanh(z.g), sigmoid(z.o)
        c, n = f * past.c + i * g, f * past.n + i
        gates = {"i": i, "f": f, "g": g, "o": o}
        return Step(h=o * (c / n), c=c, n=n, m=m, gates=gates)

    def biases(self) -> Mapping[str, Law]:
        return {"f": self._spread}

    def read(self, memory: Any) -> Mapping[str, Value]:
        return {"c": memory.c / memory.n}

    def log_retention(self, z: Any, past: Any, par: Any, now: Step) -> Mapping[str, Value]:
        kept = log_sigmoid(z.f) + past.m - now.m
        return {"c": kept + log(past.n) - log(now.n), "n": kept}

    def _spread(self, rng: np.random.Generator, units: int) -> NDArray[np.float64]:
        place = np.arange(units) / max(units - 1, 1)
        return np.asarray(5.0 - 12.0 * place ** (0.3 + 1.3 * self.depth))
