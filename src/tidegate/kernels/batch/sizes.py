"""How large everything of a batch run is: blocks, chunks, and the parts of its scratch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate.calculus import Equations
from tidegate.kernels.batch.engine import Engine

__all__ = ["LINE", "Regions", "Sizes", "Words"]

Words = NDArray[np.int64]

LINE = 64
"""Bytes of a cache line, where every part of the scratch begins."""
_AHEAD_BYTES = 2**18
_AHEAD_ROWS = 48
_RING_ROWS = 256


class Regions:
    """Named parts of one scratch array, each from a cache line on.

    Attributes:
        starts: where each part lies, in bytes.
        bytes: size of the whole.
    """

    def __init__(self, itemsize: int, shapes: dict[str, tuple[int, ...]]) -> None:
        self.starts: dict[str, int] = {}
        self.bytes = 0
        for name, shape in shapes.items():
            self.starts[name] = self.bytes
            self.bytes += -(-prod(shape) * itemsize // LINE) * LINE


@dataclass(frozen=True, eq=False)
class Sizes:
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
    def saved_rows(self) -> int:
        """Names of the saved values, and room behind them for a number of every normalised slot."""
        return len(self.engine.plan.saved) + -(-len(self.eq.normalised) // self.units)

    @cached_property
    def ring_stride(self) -> int:
        """Numbers from block to block of the ring."""
        return self.chunk * self.rows * self.block

    @cached_property
    def forward_regions(self) -> Regions:
        """The scratch of a forward run."""
        plan, eq, block, blocks = self.engine.plan, self.eq, self.block, self.blocks
        packed = (blocks, block)
        first, second = len(plan.first), len(plan.second)
        held = blocks if plan.gates or eq.normalised else min(blocks, 4)
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
            "normal": (len(eq.normalised) * blocks, self.rows, block),
            "gated": (len(plan.gates), self.rows, self.width),
        })  # fmt: skip

    @cached_property
    def backward_regions(self) -> Regions:
        """The scratch of the way back."""
        plan, eq, block, blocks = self.engine.plan, self.eq, self.block, self.blocks
        carried = (len(eq.hidden) * (1 + plan.direct) + len(plan.kept)) * blocks
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
            "carry": (carried, *rows),
            "stash": (carried, *rows),
            "ring": (len(plan.sources) * blocks, *ring),
            "d_gated": (len(plan.gates) * hiddens, *rows),
            "gated_ring": (len(plan.gates), self.chunk * self.rows, self.width),
            "d_x_blocks": (ragged, *ring),
            "parts": (parts, block),
            "part_sums": (len(plan.sources) * blocks, block),
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
