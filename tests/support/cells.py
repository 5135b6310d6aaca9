"""Cells of every shape the form must hold: the ones of the package, and some only tests define."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidegate import cells
from tidegate.cells import GRU, LSTM, LSTM1997, RNN, Cell, Step, UpdateGate, both, constant, uniform
from tidegate.cells.functions import exp, fixed, log, maximum, sigmoid, tanh


@dataclass(frozen=True)
class ShapedGRU(Cell):
    """The GRU as the interfaces write it, beside the package's own."""

    slots = {"r": both, "z": both, "n_x": cells.input, "n_h": cells.hidden}
    memory = ("h",)

    def step(self, z: Any, past: Any, par: Any) -> Step:
        r, u = sigmoid(z.r), sigmoid(z.z)
        n = tanh(z.n_x + r * z.n_h)
        return Step(h=(1 - u) * n + u * past.h, gates={"r": r, "z": u})


class MGU(Cell):
    """Minimal gated unit: f multiplies h before the product of the candidate."""

    slots = {"f": both, "n": both(times="f")}
    memory = ("h",)

    def step(self, z: Any, past: Any, par: Any) -> Step:
        f, n = sigmoid(z.f), tanh(z.n)
        return Step(h=(1 - f) * past.h + f * n, gates={"f": f})


class Peephole(Cell):
    """i and f see the old c, o sees the new one."""

    slots = {"i": both, "f": both, "g": both, "o": both}
    memory = ("c",)
    parameters = {"p_i": uniform(-0.5, 0.5), "p_f": uniform(-0.5, 0.5), "p_o": uniform(-0.5, 0.5)}

    def step(self, z: Any, past: Any, par: Any) -> Step:
        i, f = sigmoid(z.i + par.p_i * past.c), sigmoid(z.f + par.p_f * past.c)
        g = tanh(z.g)
        c = f * past.c + i * g
        o = sigmoid(z.o + par.p_o * c)
        return Step(h=o * tanh(c), c=c, gates={"i": i, "f": f, "g": g, "o": o})


class Block2000(Cell):
    """A memory block of two cells under shared gates, squashed as in 2000."""

    slots = {"i": both, "f": both, "o": both, "g1": both, "g2": both}
    memory = ("c1", "c2")
    hidden = ("h1", "h2")

    def step(self, z: Any, past: Any, par: Any) -> Step:
        i, f, o = sigmoid(z.i), sigmoid(z.f), sigmoid(z.o)
        c1 = f * past.c1 + i * (4 * sigmoid(z.g1) - 2)
        c2 = f * past.c2 + i * (4 * sigmoid(z.g2) - 2)
        h1, h2 = o * (2 * sigmoid(c1) - 1), o * (2 * sigmoid(c2) - 1)
        return Step(h1=h1, h2=h2, c1=c1, c2=c2, gates={"i": i, "f": f, "o": o})


class SLSTM(Cell):
    """Exponential gates under a stabiliser m and a normaliser n."""

    slots = {"i": both, "f": both, "z": both, "o": both}
    memory = ("c", "n", "m")

    def step(self, z: Any, past: Any, par: Any) -> Step:
        m = fixed(maximum(z.f + past.m, z.i))
        i, f = exp(z.i - m), exp(z.f + past.m - m)
        c, n = f * past.c + i * tanh(z.z), f * past.n + i
        return Step(h=sigmoid(z.o) * (c / n), c=c, n=n, m=m, gates={"i": i, "f": f})

    def read(self, memory: Any) -> dict[str, Any]:
        return {"c": memory.c / memory.n}

    def log_retention(self, z: Any, past: Any, par: Any, now: Step) -> dict[str, Any]:
        kept = z.f + past.m - now.m
        return {"c": kept + log(past.n) - log(now.n), "n": kept, "m": 0 * z.f}


class Recalling(Cell):
    """Its output sees the old memory beside the new one; a start value away from 0."""

    slots = {"f": both, "g": cells.input, "o": cells.hidden}
    memory = ("c",)
    parameters = {"w": constant(0.3)}
    start = {"c": 0.25}

    def step(self, z: Any, past: Any, par: Any) -> Step:
        f = sigmoid(z.f)
        c = f * past.c + (1 - f) * tanh(z.g)
        return Step(h=tanh(c + par.w * past.c) * sigmoid(z.o), c=c, gates={"f": f})


class OwnOutput(Cell):
    """Gates see their own unit's old output only (eLSTM's shape): h is a memory too."""

    slots = {"f": cells.input, "g": cells.input}
    memory = ("c", "h")
    parameters = {"u_f": uniform(-0.5, 0.5), "u_g": uniform(-0.5, 0.5)}

    def step(self, z: Any, past: Any, par: Any) -> Step:
        f, g = sigmoid(z.f + par.u_f * past.h), tanh(z.g + par.u_g * past.h)
        c = f * past.c + (1 - f) * g
        return Step(h=tanh(c), c=c, gates={"f": f})


class Delay(Cell):
    """One memory is another's past: its new value is a leaf of the graph."""

    slots = {"f": both, "g": both}
    memory = ("c", "d")
    parameters = {"w": constant(0.7)}
    start = {"d": 0.5}

    def step(self, z: Any, past: Any, par: Any) -> Step:
        c = sigmoid(z.f) * past.c + tanh(z.g)
        return Step(h=tanh(c + par.w * past.c) * past.d, c=c, d=past.c)


PACKAGED = [RNN(), LSTM1997(), LSTM(forget_bias=1.0), GRU(), UpdateGate()]
SHAPES = [ShapedGRU(), Peephole(), Block2000(), SLSTM(), Recalling(), OwnOutput(), Delay()]
ONLINE = [*PACKAGED, *SHAPES]
EVERY = [*ONLINE, MGU()]
DISCOVERED = [cells.named(n) for n in cells.names() if cells.named(n) not in [*PACKAGED, LSTM()]]


def name(cell: Cell) -> str:
    return type(cell).__name__
