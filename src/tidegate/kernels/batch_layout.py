"""Where everything of a batch run lies: one scratch array, tables of offsets, sheets of words.

All of it depends on the cell and on sizes only, so it is made once for each size and kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate.calculus import Equations
from tidegate.kernels.batch_engine import Engine
from tidegate.kernels.batch_sheet import NAMES, POSITION

__all__ = ["Layout", "Regions", "address", "layout"]

Array = NDArray[Any]
Words = NDArray[np.int64]

_LINE = 64
_AHEAD_BYTES = 2**18
_AHEAD_ROWS = 48
_RING_ROWS = 256


def address(array: Array) -> int:
    """Where an array starts."""
    return int(array.__array_interface__["data"][0])


class Regions:
    """Named parts of one scratch array, each from a cache line on."""

    def __init__(self, itemsize: int, shapes: dict[str, tuple[int, ...]]) -> None:
        self.shapes = shapes
        self.itemsize = itemsize
        self.starts: dict[str, int] = {}
        end = 0
        for name, shape in shapes.items():
            self.starts[name] = end
            end += -(-prod(shape) * itemsize // _LINE) * _LINE
        self.bytes = end
        self._positions = np.array([POSITION[name] for name in shapes if name in POSITION])
        self._offsets = np.array([self.starts[n] for n in shapes if n in POSITION], np.int64)

    def allocate(self) -> tuple[NDArray[np.uint8], int]:
        """The array, and the address from which the parts are counted."""
        memory = np.empty(self.bytes + _LINE, np.uint8)
        start = address(memory)
        return memory, start + -start % _LINE

    def tell(self, sheet: Words, base: int) -> None:
        """Write the addresses of all parts into a sheet."""
        sheet[self._positions] = self._offsets + base

    def view(self, memory: NDArray[np.uint8], base: int, name: str, dtype: Any) -> Array:
        """One part as an array."""
        start = base - address(memory) + self.starts[name]
        shape = self.shapes[name]
        part: Array = memory[start : start + prod(shape) * self.itemsize].view(dtype).reshape(shape)
        return part


@dataclass(frozen=True, eq=False)
class Layout:
    """Sizes of one run.

    Attributes:
        steps, rows, inputs, units: T, B, I, H.
        reverse: whether steps go from the last time to the first.
    """

    engine: Engine
    steps: int
    rows: int
    inputs: int
    units: int
    reverse: bool

    @cached_property
    def eq(self) -> Equations:
        return self.engine.plan.equations

    @cached_property
    def block(self) -> int:
        """Numbers in a block."""
        return self.engine.tiling.block

    @cached_property
    def blocks(self) -> int:
        """Blocks of units."""
        return -(-self.units // self.block)

    @cached_property
    def width(self) -> int:
        """Hidden values of a row."""
        return len(self.eq.hidden) * self.units

    @cached_property
    def itemsize(self) -> int:
        return self.engine.precision.bits // 8

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float32 if self.itemsize == 4 else np.float64)

    @cached_property
    def ahead(self) -> int:
        """Steps whose products with the input are taken at once."""
        size = len(self.eq.fed_by("input")) * self.blocks * self.block * self.rows * self.itemsize
        steps = max(_AHEAD_BYTES // max(size, 1), -(-_AHEAD_ROWS // self.rows))
        return min(self.steps, steps)

    @cached_property
    def chunk(self) -> int:
        """Steps whose errors lie in the ring at once."""
        return min(self.steps, max(1, _RING_ROWS // self.rows))

    @cached_property
    def carried(self) -> int:
        """Blocks of errors that go from step to step."""
        plan = self.engine.plan
        hiddens = len(self.eq.hidden)
        return (hiddens * (1 + plan.direct) + len(plan.kept)) * self.blocks

    @cached_property
    def sizes(self) -> Words:
        """A sheet with every size and every address that stays."""
        plan, eq, engine = self.engine.plan, self.eq, self.engine
        sheet = np.zeros(len(NAMES), np.int64)
        numbers = {
            "steps": self.steps, "rows": self.rows, "end_row": self.rows, "inputs": self.inputs,
            "units": self.units, "blocks": self.blocks, "hiddens": len(eq.hidden),
            "kept": len(plan.kept), "reverse": self.reverse, "two_products": bool(plan.gates),
            "input_slots": len(eq.fed_by("input")), "hidden_slots": len(plan.first),
            "second_slots": len(plan.second), "carried": self.carried,
            "sources": len(plan.sources), "gates": len(plan.gates), "shares": 1,
            "input_blocks": -(-self.inputs // self.block),
            "pointwise": engine.cell_address("pointwise"), "gate": engine.cell_address("gate"),
            "pointwise_back": engine.cell_address("pointwise_back"),
            "gate_back": engine.cell_address("gate_back"),
        }  # fmt: skip
        tables = {
            "nowhere": self.nowhere, "second_gate": self.second_gate,
            "hidden_table": self.ring_offsets(plan.first),
            "second_table": self.ring_offsets(plan.second),
            "second_counts": self.second_counts,
            "input_table": self.ring_offsets(eq.fed_by("input")),
        }  # fmt: skip
        self.__dict__["_tables"] = tables  # the sheet holds their addresses
        for name, value in (numbers | {n: address(t) for n, t in tables.items()}).items():
            sheet[POSITION[name]] = value
        return sheet

    @cached_property
    def nowhere(self) -> Words:
        """A table of one offset, 0."""
        return np.zeros(1, np.int64)

    @cached_property
    def second_gate(self) -> Words:
        """The gate of every second-product slot, by number."""
        plan = self.engine.plan
        gates = [plan.gates.index(self.eq.second_product[s]) for s in plan.second]
        return np.array(gates, np.int64)

    @cached_property
    def second_counts(self) -> Words:
        """For every gate: the first entry of its slots' blocks, and how many there are."""
        gates = list(self.second_gate)
        counts = [gates.count(g) * self.blocks for g in range(len(self.engine.plan.gates))]
        return np.array([[sum(counts[:g]), n] for g, n in enumerate(counts)], np.int64)

    @cached_property
    def ring_stride(self) -> int:
        """Numbers from block to block of the ring."""
        return self.chunk * self.rows * self.block

    def ring_offsets(self, slots: Sequence[str]) -> Words:
        """Where the blocks of slots lie in the ring."""
        order = list(self.eq.slots)
        numbers = [order.index(s) * self.blocks + b for s in slots for b in range(self.blocks)]
        return np.array(numbers, np.int64) * self.ring_stride

    @cached_property
    def forward_regions(self) -> Regions:
        """The scratch of a forward run."""
        plan, eq, block, blocks = self.engine.plan, self.eq, self.block, self.blocks
        packed = (blocks, block)
        first, second = len(plan.first), len(plan.second)
        held = blocks if plan.gates else min(blocks, 4)
        inputs = len(eq.fed_by("input"))
        return Regions(self.itemsize, {
            "packed_input": (inputs * blocks, self.inputs, block),
            "packed_hidden": (first * blocks, self.width, block),
            "packed_second": (second * blocks, self.width, block),
            "bias": (len(eq.fed_by("bias")), *packed),
            "unit": (len(eq.parameters), *packed),
            "from_input": (inputs * blocks, self.ahead * self.rows, block),
            "from_hidden": (first * held, self.rows, block),
            "from_second": (second * blocks, self.rows, block),
            "gated": (len(plan.gates), self.rows, self.width),
            "state_start": (self.width,),
            "memory_start": (len(plan.kept) * self.units,),
        })  # fmt: skip

    @cached_property
    def backward_regions(self) -> Regions:
        """The scratch of the way back."""
        plan, eq, block, blocks = self.engine.plan, self.eq, self.block, self.blocks
        ring, rows = (self.chunk * self.rows, block), (self.rows, block)
        hiddens = len(eq.hidden) * blocks
        first, second = len(plan.first) * blocks, len(plan.second) * blocks
        inputs = len(eq.fed_by("input")) * blocks
        parts = (first + second) * self.width + inputs * self.inputs
        ragged = -(-self.inputs // block) if self.inputs % block else 0
        input_blocks = -(-self.inputs // block)
        return Regions(self.itemsize, {
            "back_hidden": (first * block, hiddens, block),
            "back_second": (second * block, hiddens, block),
            "back_input": (inputs * block, input_blocks, block),
            "unit": (len(eq.parameters), blocks, block),
            "carry": (self.carried, *rows),
            "stash": (self.carried, *rows),
            "ring": (len(plan.sources) * blocks, *ring),
            "d_gated": (len(plan.gates) * hiddens, *rows),
            "gated_ring": (len(plan.gates), self.chunk * self.rows, self.width),
            "d_x_blocks": (ragged, *ring),
            "parts": (parts, block),
            "part_sums": (len(plan.sources) * blocks, block),
            "sums": (len(plan.sources), blocks * block),
        })  # fmt: skip

    def unit_columns(self, slots: Iterable[int], row: int) -> Words:
        """Columns for packing: block by block of units, the slots at these places side by side."""
        return np.array(
            [(slot * self.units * row + b * self.block * row, self._valid(b))
             for b in range(self.blocks) for slot in slots],
            np.int64,
        ).reshape(-1, 2)  # fmt: skip

    def unit_rows(self, slots: Iterable[int], row: int) -> Words:
        """Rows for packing: slot by slot, its units block by block."""
        return np.array(
            [((slot * self.units + b * self.block) * row, self._valid(b))
             for slot in slots for b in range(self.blocks)],
            np.int64,
        ).reshape(-1, 2)  # fmt: skip

    def _valid(self, block: int) -> int:
        return min(self.block, self.units - block * self.block)


@lru_cache(maxsize=256)
def layout(engine: Engine, steps: int, rows: int, inputs: int, units: int, reverse: bool) -> Layout:
    """The layout of a size; made once."""
    return Layout(engine, steps, rows, inputs, units, reverse)
