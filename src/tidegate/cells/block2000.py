"""The memory block with forget gate, exactly as published in 2000."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidegate.cells.base import Cell, Feed, Step, both
from tidegate.cells.functions import sigmoid
from tidegate.cells.laws import Law, ramp

__all__ = ["Block2000"]


@dataclass(frozen=True)
class Block2000(Cell):
    """Memory block of 2000: several cells under shared input, forget and output gates.

    A unit of this cell is a block. Cell v of a block: s_t = f_t s_(t-1) + i_t g(net), y_t = o_t
    h(s_t) with g(x) = 4 sigmoid(x) - 2 and h(x) = 2 sigmoid(x) - 1. The gates see the outputs of
    all cells and are biased, block by block: input and output gates -0.5, -1, -1.5 ..., forget
    gates 0.5, 1, 1.5 ...; the cell inputs are not biased. Retention: f.

    Use it to run the experiments of 2000 again, or where several values should be kept and let go
    together.

    Source: Gers, Schmidhuber & Cummins, "Learning to Forget: Continual Prediction with LSTM",
    Neural Computation 12 (2000), equations 1 to 11; biases and connections: section 4.2.

    Args:
        size: cells of a block.

    >>> block = Block2000(size=2)
    >>> block.memory, block.hidden, list(block.slots)
    (('c1', 'c2'), ('h1', 'h2'), ['i', 'f', 'o', 'g1', 'g2'])
    """

    size: int = 2

    def __post_init__(self) -> None:
        cells = range(1, self.size + 1)
        inputs = {f"g{v}": both(bias=False) for v in cells}
        gates: dict[str, Feed] = {"i": both, "f": both, "o": both}
        vars(self).update(
            slots=gates | inputs,
            memory=tuple(f"c{v}" for v in cells),
            hidden=tuple(f"h{v}" for v in cells),
        )

    def step(self, z: Any, past: Any, par: Any) -> Step:
        i, f, o = sigmoid(z.i), sigmoid(z.f), sigmoid(z.o)
        new = {}
        for v in range(1, self.size + 1):
            g = 4 * sigmoid(getattr(z, f"g{v}")) - 2
            c = f * getattr(past, f"c{v}") + i * g
            new[f"c{v}"], new[f"h{v}"] = c, o * (2 * sigmoid(c) - 1)
        return Step(gates={"i": i, "f": f, "o": o}, **new)

    def biases(self) -> Mapping[str, Law]:
        return {"i": ramp(-0.5, -0.5), "f": ramp(0.5, 0.5), "o": ramp(-0.5, -0.5)}
