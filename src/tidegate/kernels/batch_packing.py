"""Which weights are packed in which order for products; see :data:`products.PACK`."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tidegate.kernels.batch_layout import Layout, address
from tidegate.kernels.batch_plan import Weights

__all__ = ["Packing", "packing_back", "packing_forward"]

Words = NDArray[np.int64]


@dataclass(eq=False)
class Packing:
    """Rows of words, complete but for where weights and scratch lie."""

    rows: list[list[int]] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    tables: list[Words] = field(default_factory=list)

    def add(
        self, target: int, source: str, columns: Words, lane_step: int, inner: int, starts: Words,
        row_step: int,
    ) -> None:  # fmt: skip
        """One packing to ``target`` bytes into the scratch."""
        columns, starts = np.ascontiguousarray(columns), np.ascontiguousarray(starts)
        if not columns.size:
            return
        self.tables += [columns, starts]
        self.sources.append(source)
        self.rows.append([
            target, 0, address(columns), len(columns), lane_step, len(starts), inner,
            address(starts), row_step,
        ])  # fmt: skip

    def table(self, weights: Weights, base: int) -> Words:
        """The table for these weights and this scratch."""
        table = np.array(self.rows, np.int64).reshape(-1, 9)
        table[:, 0] += base
        table[:, 1] = [address(getattr(weights, name)) for name in self.sources]
        return table


def packing_forward(layout: Layout) -> Packing:
    """Input and hidden weights by unit blocks, biases and parameters padded."""
    eq, plan, to = layout.eq, layout.engine.plan, layout.forward_regions.starts
    packing = Packing()
    inputs, width = layout.inputs, layout.width
    places = range(len(eq.fed_by("input")))
    packing.add(
        to["packed_input"], "input", layout.unit_columns(places, inputs), inputs, inputs,
        np.array([[0, inputs]]), 1,
    )  # fmt: skip
    rows = np.array([[0, width]])
    fed = eq.fed_by("hidden")
    columns = layout.unit_columns([fed.index(s) for s in plan.first], width)
    packing.add(to["packed_hidden"], "hidden", columns, width, width, rows, 1)
    size = layout.blocks * width * layout.block * layout.itemsize
    for n, slot in enumerate(plan.second):
        columns = layout.unit_columns([fed.index(slot)], width)
        packing.add(to["packed_second"] + n * size, "hidden", columns, width, width, rows, 1)
    _add_vectors(packing, layout, to["bias"], "bias", len(eq.fed_by("bias")))
    _add_vectors(packing, layout, to["unit"], "unit", len(eq.parameters))
    return packing


def packing_back(layout: Layout) -> Packing:
    """The same weights the other way round, and parameters padded."""
    eq, plan, to = layout.eq, layout.engine.plan, layout.backward_regions.starts
    packing = Packing()
    inputs, width, block = layout.inputs, layout.width, layout.block
    fed = eq.fed_by("hidden")
    columns = layout.unit_rows(range(len(eq.hidden)), 1)
    rows = layout.unit_rows([fed.index(s) for s in plan.first], width)
    packing.add(to["back_hidden"], "hidden", columns, 1, block, rows, width)
    start = to["back_second"]
    for gate in plan.gates:
        slots = [fed.index(s) for s in plan.second if eq.second_product[s] == gate]
        rows = layout.unit_rows(slots, width)
        packing.add(start, "hidden", columns, 1, block, rows, width)
        start += len(rows) * block * len(columns) * block * layout.itemsize
    columns = np.array([[b, min(block, inputs - b)] for b in range(0, inputs, block)])
    rows = layout.unit_rows(range(len(eq.fed_by("input"))), inputs)
    packing.add(to["back_input"], "input", columns, 1, block, rows, inputs)
    _add_vectors(packing, layout, to["unit"], "unit", len(eq.parameters))
    return packing


def _add_vectors(packing: Packing, layout: Layout, target: int, source: str, count: int) -> None:
    """(count, H) to (count, blocks, block)."""
    columns = layout.unit_rows(range(count), 1)
    packing.add(target, source, columns, 1, 1, np.array([[0, 1]]), 1)
