"""The LSTM whose forget gate a second gate refines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tidegate.cells.base import Cell, Step, both
from tidegate.cells.functions import sigmoid, tanh
from tidegate.cells.laws import uniform_gate

__all__ = ["URLSTM"]


@dataclass(frozen=True)
class URLSTM(Cell):
    """UR-LSTM: a refine gate r moves the forget gate f within f (1 - f) of where it stands.

    k_t = 2 r f + (1 - 2 r) f^2, c_t = k_t c_(t-1) + (1 - k_t) g_t, with f = sigmoid(net_f + b) and
    r = sigmoid(net_r - b); b starts so that f is uniform over the units. Retention: k.

    Use it where dependencies span many scales at once, or where forget gates saturate and stop
    learning.

    Source: Gu et al., "Improving the Gating Mechanism of Recurrent Neural Networks", ICML 2020,
    equations 9 to 13.

    >>> from types import SimpleNamespace as Values
    >>> z = Values(f=0.0, r=40.0, g=0.0, o=0.0)
    >>> round(float(URLSTM().step(z, Values(c=1.0), Values(b=0.0)).c), 12)
    0.75
    """

    name: ClassVar[str] = "ur_lstm"

    slots = {"f": both, "r": both, "g": both, "o": both}
    memory = ("c",)
    parameters = {"b": uniform_gate()}

    def step(self, z: Any, past: Any, par: Any) -> Step:
        f, r = sigmoid(z.f + par.b), sigmoid(z.r - par.b)
        g, o = tanh(z.g), sigmoid(z.o)
        k = 2 * r * f + (1 - 2 * r) * f * f
        c = k * past.c + (1 - k) * g
        return Step(h=o * tanh(c), c=c, gates={"f": f, "r": r, "k": k, "g": g, "o": o})
