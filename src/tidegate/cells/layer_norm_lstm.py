"""The LSTM with layer normalisation before its gates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidegate.cells.base import Cell, Step, both
from tidegate.cells.functions import sigmoid, tanh
from tidegate.cells.laws import constant

__all__ = ["LayerNormLSTM"]


@dataclass(frozen=True)
class LayerNormLSTM(Cell):
    """LSTM whose pre-activations are normalised over the units; the memory is not.

    The norm stands on W x_t + U h_(t-1), gate by gate: mean 0 and variance 1 over the units of a
    row (with 1e-5 added to the variance); then come a gain and a shift for every unit and gate.
    c_t and what the output sees of it are as in :class:`~tidegate.cells.lstm.LSTM`. Other variants
    normalise the two products apart, or c_t as well; weights do not carry over between them. A
    constant added to all units' pre-activations of a gate changes nothing. Retention: f.

    Use it deep or with large learning rates, in batches; it cannot learn online.

    Source: Ba, Kiros & Hinton, "Layer Normalization" (2016), equation 4, gate by gate.

    >>> from types import SimpleNamespace as Values
    >>> z = Values(i=0.0, f=0.0, g=0.0, o=0.0)
    >>> par = Values(**dict.fromkeys(LayerNormLSTM.parameters, 0.0))
    >>> float(LayerNormLSTM().step(z, Values(c=2.0), par).c)
    1.0
    """

    slots = dict.fromkeys(("i", "f", "g", "o"), both(bias=False, norm=True))
    memory = ("c",)
    parameters = {f"k_{s}": constant(1.0) for s in "ifgo"} | {
        f"b_{s}": constant(0.0) for s in "ifgo"
    }

    def step(self, z: Any, past: Any, par: Any) -> Step:
        i, f = sigmoid(par.k_i * z.i + par.b_i), sigmoid(par.k_f * z.f + par.b_f)
        g, o = tanh(par.k_g * z.g + par.b_g), sigmoid(par.k_o * z.o + par.b_o)
        c = f * past.c + i * g
        return Step(h=o * tanh(c), c=c, gates={"i": i, "f": f, "g": g, "o": o})
