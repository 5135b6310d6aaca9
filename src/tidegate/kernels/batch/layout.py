"""Where everything of a batch run lies: scratch, tables of offsets, sheets of words.

All of it depends on the cell and on sizes only, so it is made once for each size and kept.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate.kernels.batch.backward_code import JOB
from tidegate.kernels.batch.cell import CELL_FUNCTIONS
from tidegate.kernels.batch.packing import address, backward_packs, forward_packs
from tidegate.kernels.batch.plan import Saved, Weights, check, start, wrong
from tidegate.kernels.batch.sheet import NAMES, POSITION, TOLD
from tidegate.kernels.batch.sizes import LINE, Regions, Sizes, Words

__all__ = ["Layout", "Shelf", "Workspace"]

Array = NDArray[Any]

_KEPT_BYTES = 2**18
_TOLD = struct.Struct(f"{len(TOLD)}q")


class Workspace:
    """Scratch, and a sheet that knows where its parts and all sizes are."""

    def __init__(self, sheet: Words, regions: Regions) -> None:
        self.memory = np.empty(regions.bytes + LINE, np.uint8)
        start = address(self.memory)
        start += -start % LINE
        self.sheet = sheet.copy()
        for name, offset in regions.starts.items():
            self.sheet[POSITION[name]] = start + offset
        self.address = address(self.sheet)
        self.told = self.sheet.data.cast("B")

    def tell(self, *told: int) -> None:
        """Write the words of ``batch.sheet.TOLD``, in their order."""
        _TOLD.pack_into(self.told, 0, *told)


class Shelf:
    """Workspaces of one size that are not in use; small ones are kept for the next run."""

    def __init__(self, sheet: Words, regions: Regions) -> None:
        self._sheet, self._regions = sheet, regions
        self._free: list[Workspace] = []

    def take(self) -> Workspace:
        try:
            return self._free.pop()
        except IndexError:
            return Workspace(self._sheet, self._regions)

    def give_back(self, workspace: Workspace) -> None:
        if self._regions.bytes <= _KEPT_BYTES:
            self._free.append(workspace)


class Layout:
    """The tables and workspaces of one size.

    Args:
        size: sizes, with at least one row.
        rows: rows of the batch, which may be none.

    Attributes:
        hiddens, kept: shapes of hidden0 and memory0, and of everything that goes with them.
        state, memory, saved, shown: shapes of what a run leaves.
    """

    def __init__(self, size: Sizes, rows: int) -> None:
        self.size = size
        self.engine = size.engine
        plan, steps, units = size.engine.plan, size.steps, size.units
        own = len(plan.kept)
        self.hiddens = (len(size.eq.hidden), rows, units)
        self.kept = (own, rows, units)
        weights = Weights.shapes(size.eq.cell, size.inputs, units).values()
        self._given = (*weights, (steps, rows, size.inputs))
        self.state = (steps + 1, rows, size.width)
        self.memory = (steps + 1, rows, own * units)
        self.saved = (steps, rows, size.saved_rows, units)
        self.shown = (steps, rows, len(plan.shown), units)
        self._saved = (self.state, self.memory, self.saved)
        self._alive: list[Array] = []  # sheets hold addresses of these

    @cached_property
    def forward_work(self) -> int:
        """Multiplications of a forward run, products only."""
        size = self.size
        by_input = len(size.eq.fed_by("input")) * size.inputs
        by_hidden = len(size.eq.fed_by("hidden")) * size.width
        return size.steps * size.rows * size.units * (by_input + by_hidden)

    @cached_property
    def chunk_work(self) -> int:
        """Multiplications of a chunk of the way back."""
        return 2 * self.forward_work * self.size.chunk // self.size.steps

    def check(
        self, weights: Weights, x: Array, hidden0: Array, memory0: Array,
        reset: NDArray[np.uint8] | None, lengths: NDArray[np.int64] | None,
    ) -> None:  # fmt: skip
        """Let nothing pass that does not fit; what fits in the usual way passes quickly."""
        arrays = (*weights, x, hidden0, memory0)
        fits = self.size.steps > 0 and self._fit(arrays, (*self._given, self.hiddens, self.kept))
        if not fits or reset is not None or lengths is not None:
            check(self.size.eq.cell, weights, x, hidden0, memory0, reset, lengths)

    def check_saved(self, saved: Saved) -> None:
        """The same for what a forward run left."""
        arrays = (*saved.weights, saved.x, saved.state, saved.memory, saved.values)
        if not self._fit(arrays, (*self._given, *self._saved)):
            shapes = ", ".join(str(array.shape) for array in arrays)
            expected = ", ".join(str(shape) for shape in (*self._given, *self._saved))
            raise wrong("saved", f"contiguous {self.size.dtype} arrays {expected}", shapes)

    def errors(
        self, d_hidden: Array | None, d_last_hidden: Array | None, d_last_memory: Array | None
    ) -> tuple[Array, Array | None, Array | None]:
        """Errors on what came out, contiguous; 0 on hidden values where none are given."""
        output = (self.size.steps, *self.state[1:])
        on_hidden = self._error("d_hidden", d_hidden, output)
        return (
            np.zeros(output, self.size.dtype) if on_hidden is None else on_hidden,
            self._error("d_last_hidden", d_last_hidden, self.hiddens),
            self._error("d_last_memory", d_last_memory, self.kept),
        )

    def _error(self, name: str, given: Array | None, shape: tuple[int, ...]) -> Array | None:
        if given is None:
            return None
        if given.shape != shape or given.dtype != self.size.dtype:
            raise wrong(name, f"{self.size.dtype} {shape}", f"{given.dtype} {given.shape}")
        return np.ascontiguousarray(given)

    def _fit(self, arrays: Iterable[Array], shapes: Iterable[tuple[int, ...]]) -> bool:
        dtype = self.size.dtype
        return all(
            a.shape == shape and a.dtype == dtype and a.flags.c_contiguous
            for a, shape in zip(arrays, shapes, strict=True)
        )

    @cached_property
    def forward_shelf(self) -> Shelf:
        """Workspaces of forward runs."""
        told = {
            "chunk": self.size.ahead,
            "input_stride": self.size.ahead * self.size.rows * self.size.block,
        }
        return Shelf(self._sheet(told, forward_packs(self.size)), self.size.forward_regions)

    @cached_property
    def backward_shelf(self) -> Shelf:
        """Workspaces of the way back."""
        told = {"chunk": self.size.chunk, "ring_stride": self.size.ring_stride}
        return Shelf(self._sheet(told, backward_packs(self.size)), self.size.backward_regions)

    def _sheet(self, told: dict[str, int], packs: list[Words]) -> Words:
        """A sheet with every size and every address that stays."""
        size, plan, eq, engine = self.size, self.engine.plan, self.size.eq, self.engine
        numbers = {
            "steps": size.steps, "rows": size.rows, "end_row": size.rows, "inputs": size.inputs,
            "units": size.units, "blocks": size.blocks, "hiddens": len(eq.hidden),
            "kept": len(plan.kept), "reverse": size.reverse, "saved_rows": size.saved_rows,
            "staged": bool(plan.gates or eq.normalised),
            "input_slots": len(eq.fed_by("input")), "hidden_slots": len(plan.first),
            "second_slots": len(plan.second), "direct": plan.direct,
            "biased": len(eq.fed_by("bias")),
            "sources": len(plan.sources), "gates": len(plan.gates), "shares": 1,
            "input_blocks": -(-size.inputs // size.block), "pack_count": len(packs[0]),
            "job_count": len(self.jobs),
            **{name: engine.cell_address(name) for name in CELL_FUNCTIONS},
        }  # fmt: skip
        for name, table in (self.tables | {"packs": packs[0]}).items():
            numbers[name] = address(table)
        sheet = np.zeros(len(NAMES), np.int64)
        for name, value in (numbers | told).items():
            sheet[POSITION[name]] = value
        self._alive += packs
        return sheet

    @cached_property
    def tables(self) -> dict[str, Array]:
        """Tables of the loops, by their name in the sheet."""
        plan, eq = self.engine.plan, self.size.eq
        return {
            "nowhere": np.zeros(1, np.int64),
            "second_gate": self.second_gate,
            "second_counts": self.second_counts,
            "hidden_table": self.ring_offsets(plan.first),
            "second_table": self.ring_offsets(plan.second),
            "input_table": self.ring_offsets(eq.fed_by("input")),
            "jobs": self.jobs,
            "source_targets": self.source_targets,
            "state_start": self._start(tuple(eq.hidden)),
            "memory_start": self._start(plan.kept),
        }

    def _start(self, names: Sequence[str]) -> Array:
        values = [start(self.size.eq.cell, name) for name in names]
        return np.repeat(np.array(values, self.size.dtype), self.size.units)

    @cached_property
    def jobs(self) -> Words:
        """One row for every slot and what fed it; see :data:`batch.backward_code.JOB`."""
        plan, eq, stride = self.engine.plan, self.size.eq, self.size.rows * self.size.width
        gates = [plan.gates.index(eq.second_product[s]) for s in plan.second]
        feeds = [(s, "hidden", "state", self.size.reverse * stride, stride) for s in plan.first]
        feeds += [
            (s, "hidden", "gated_ring", gate * self.size.chunk * stride, 0)
            for s, gate in zip(plan.second, gates, strict=True)
        ]
        feeds += [
            (s, "input", "x", 0, self.size.rows * self.size.inputs) for s in eq.fed_by("input")
        ]
        slots, rows, part = list(eq.slots), [], 0
        for slot, zone, left, offset, time in feeds:
            columns = self.size.inputs if zone == "input" else self.size.width
            ring = slots.index(slot) * self.size.blocks * self.size.ring_stride
            place = eq.fed_by(zone).index(slot) * self.size.units * columns
            to = POSITION[f"d_{zone}"]
            rows.append([POSITION[left], offset, time, columns, ring, part, to, place])
            part += self.size.blocks * columns * self.size.block
        return np.array(rows, np.int64).reshape(-1, len(JOB))

    @cached_property
    def source_targets(self) -> Words:
        """Where the sum over each source goes: position in the sheet, or 0, and offset."""
        plan, eq, rows = self.engine.plan, self.size.eq, []
        biased, parameters = list(eq.fed_by("bias")), list(eq.parameters)
        for source in plan.sources:
            kind, _, name = source.partition(".")
            if kind == "par":
                rows.append([POSITION["d_unit"], parameters.index(name) * self.size.units])
            elif name in biased:
                rows.append([POSITION["d_bias"], biased.index(name) * self.size.units])
            else:
                rows.append([0, 0])
        return np.array(rows, np.int64)

    @cached_property
    def second_gate(self) -> Words:
        """The gate of every second-product slot, by number."""
        plan = self.engine.plan
        gates = [plan.gates.index(self.size.eq.second_product[s]) for s in plan.second]
        return np.array(gates, np.int64)

    @cached_property
    def second_counts(self) -> Words:
        """For every gate: the first entry of its slots' blocks, and how many there are."""
        gates = list(self.second_gate)
        counts = [gates.count(g) * self.size.blocks for g in range(len(self.engine.plan.gates))]
        return np.array([[sum(counts[:g]), n] for g, n in enumerate(counts)], np.int64)

    def ring_offsets(self, slots: Sequence[str]) -> Words:
        """Where the blocks of slots lie in the ring."""
        order = list(self.size.eq.slots)
        numbers = [
            order.index(s) * self.size.blocks + b for s in slots for b in range(self.size.blocks)
        ]
        return np.array(numbers, np.int64) * self.size.ring_stride
