"""The memory block of 1997, which cannot forget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidegate.cells.base import Cell, Feed, Step, both
from tidegate.cells.functions import sigmoid
from tidegate.cells.laws import Law, ramp

__all__ = ["Block1997"]


@dataclass(frozen=True)
class Block1997(Cell):
    """Memory block of 1997: several cells under shared input and output gates, none to forget.

    A unit of this cell is a block. Cell v of a block: s_t = s_(t-1) + i_t g(net), y_t = o_t h(s_t)
    with g(x) = 4 sigmoid(x) - 2 and h(x) = 2 sigmoid(x) - 1. Output gates are biased -1, -2, -3
    ..., block by block, as for the embedded Reber grammar; the cell inputs are not biased.
    Retention: 1.

    Use it to run the experiments of 1997 again.

    Source: Hochreiter & Schmidhuber, "Long Short-Term Memory", Neural Computation 9 (1997),
    section 4 and appendix A.1; biases: section 5.1.

    Args:
        size: cells of a block.

    >>> block = Block1997(size=3)
    >>> block.memory, list(block.slots)
    (('c1', 'c2', 'c3'), ['i', 'o', 'g1', 'g2', 'g3'])
    """

    size: int = 2

    def __post_init__(self) -> None:
        cells = range(1, self.size + 1)
        inputs = {f"g{v}": both(bias=False) for v in cells}
        gates: dict[str, Feed] = {"i": both, "o": both}
        vars(self).update(
            slots=gates | inputs,
            memory=tuple(f"c{v}" for v in cells),
            hidden=tuple(f"h{v}" for v in cells),
        )

    def step(self, z: Any, past: Any, par: Any) -> Step:
        i, o = sigmoid(z.i), sigmoid(z.o)
        new = {}
        for v in range(1, self.size + 1):
            g = 4 * sigmoid(getattr(z, f"g{v}")) - 2
            c = getattr(past, f"c{v}") + i * g
            new[f"c{v}"], new[f"h{v}"] = c, o * (2 * sigmoid(c) - 1)
        return Step(gates={"i": i, "o": o}, **new)

    def biases(self) -> Mapping[str, Law]:
        return {"o": ramp(-1.0, -1.0)}
