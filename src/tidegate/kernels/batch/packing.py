"""Which weights are packed in which order for products; see :data:`products.PACK`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate.kernels.batch.engine import PACKING
from tidegate.kernels.batch.sheet import POSITION
from tidegate.kernels.batch.sizes import Sizes, Words

__all__ = ["address", "backward_packs", "forward_packs"]


def address(array: NDArray[Any]) -> int:
    """Where an array starts."""
    return int(array.__array_interface__["data"][0])


def forward_packs(size: Sizes) -> list[Words]:
    """Input and hidden weights by unit blocks, biases and parameters padded.

    Returns:
        the table of packings, then the tables that it points to.
    """
    eq, plan, inputs, width = size.eq, size.engine.plan, size.inputs, size.width
    packs = _Packs()
    columns = size.unit_columns(range(len(eq.fed_by("input"))), inputs)
    packs.add("packed_input", 0, "input", columns, inputs, inputs, np.array([[0, inputs]]), 1)
    rows, fed = np.array([[0, width]]), eq.fed_by("hidden")
    columns = size.unit_columns([fed.index(s) for s in plan.first], width)
    packs.add("packed_hidden", 0, "hidden", columns, width, width, rows, 1)
    for n, slot in enumerate(plan.second):
        columns = size.unit_columns([fed.index(slot)], width)
        to = n * size.blocks * width * size.block
        packs.add("packed_second", to, "hidden", columns, width, width, rows, 1)
    packs.add_vectors(size, "bias", len(eq.fed_by("bias")))
    packs.add_vectors(size, "unit", len(eq.parameters))
    return packs.tables()


def backward_packs(size: Sizes) -> list[Words]:
    """The same weights the other way round, and parameters padded."""
    eq, plan, inputs, width, block = (
        size.eq, size.engine.plan, size.inputs, size.width, size.block,
    )  # fmt: skip
    packs, fed = _Packs(), eq.fed_by("hidden")
    columns = size.unit_rows(range(len(eq.hidden)), 1)
    rows = size.unit_rows([fed.index(s) for s in plan.first], width)
    packs.add("back_hidden", 0, "hidden", columns, 1, block, rows, width)
    to = 0
    for gate in plan.gates:
        slots = [fed.index(s) for s in plan.second if eq.second_product[s] == gate]
        rows = size.unit_rows(slots, width)
        packs.add("back_second", to, "hidden", columns, 1, block, rows, width)
        to += len(rows) * block * len(columns) * block
    columns = np.array([[b, min(block, inputs - b)] for b in range(0, inputs, block)])
    rows = size.unit_rows(range(len(eq.fed_by("input"))), inputs)
    packs.add("back_input", 0, "input", columns, 1, block, rows, inputs)
    packs.add_vectors(size, "unit", len(eq.parameters))
    return packs.tables()


class _Packs:
    """Rows of words (``batch.engine.PACKING``) and the tables they point to."""

    def __init__(self) -> None:
        self.rows: list[list[int]] = []
        self.others: list[Words] = []

    def add(
        self, to: str, offset: int, source: str, columns: Words, lane_step: int, inner: int,
        starts: Words, row_step: int,
    ) -> None:  # fmt: skip
        columns, starts = (np.ascontiguousarray(t, np.int64) for t in (columns, starts))
        if columns.size:
            self.others += [columns, starts]
            self.rows.append([
                POSITION[to], offset, POSITION[f"weights_{source}"], address(columns),
                len(columns), lane_step, len(starts), inner, address(starts), row_step,
            ])  # fmt: skip

    def add_vectors(self, size: Sizes, name: str, count: int) -> None:
        """(count, H) to (count, blocks, block)."""
        columns = size.unit_rows(range(count), 1)
        self.add(name, 0, name, columns, 1, 1, np.array([[0, 1]]), 1)

    def tables(self) -> list[Words]:
        return [np.array(self.rows, np.int64).reshape(-1, len(PACKING)), *self.others]
