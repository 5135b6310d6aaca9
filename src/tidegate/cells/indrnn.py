"""The plain recurrent network whose units stay alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tidegate.cells.base import Cell, Step, input
from tidegate.cells.functions import maximum
from tidegate.cells.laws import uniform

__all__ = ["IndRNN"]


@dataclass(frozen=True)
class IndRNN(Cell):
    """Independently recurrent network: h_t = relu(W x_t + u h_(t-1) + b), u one number per unit.

    Retention: u where the unit is active, 0 where it is not; above 1 it grows, below 0 it swings.

    Use it deep, layer upon layer, where every unit should have one fixed time scale of its own.

    Source: Li et al., "Independently Recurrent Neural Network (IndRNN)", CVPR 2018, equation 2;
    u starts uniform in [0, 1].

    >>> from types import SimpleNamespace as Values
    >>> float(IndRNN().step(Values(n=1.0), Values(h=2.0), Values(u=0.5)).h)
    2.0
    """

    name: ClassVar[str] = "indrnn"

    slots = {"n": input}
    memory = ("h",)
    parameters = {"u": uniform(0.0, 1.0)}

    def step(self, z: Any, past: Any, par: Any) -> Step:
        return Step(h=maximum(z.n + par.u * past.h, 0.0))
