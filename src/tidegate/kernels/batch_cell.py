"""A cell's pointwise code for whole sequences: one step of some rows and blocks, and its way back.

The loops and products around it are the same for every cell (``batch_forward``,
``batch_backward``) and call these functions by address.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import llvmlite.ir as ir  # type: ignore[import-untyped]

from tidegate.calculus.graph import Node
from tidegate.kernels.batch_sheet import Sheet
from tidegate.kernels.calls import Kinds, prefetch
from tidegate.kernels.cell_plan import CellPlan
from tidegate.kernels.emit import Emitter, Index, Reals, Words
from tidegate.kernels.pointwise import values
from tidegate.kernels.tiles import Tiling
from tidegate.kernels.vector import LLVM, Mask, Precision, Vector

__all__ = ["BACK", "CELL_FUNCTIONS", "STEP", "CellCode"]

STEP: Kinds = {
    "sheet": Words, "time": Index, "before": Index, "after": Index, "first_block": Index,
    "end_block": Index, "input_row": Index, "hidden_block": Index,
}  # fmt: skip
"""One step of the rows first_row to end_row and the blocks first_block to end_block.

``before`` and ``after`` are the blocks of state, ``input_row`` is row 0 of this time in
``from_input``, ``hidden_block`` the first unit block that ``from_hidden`` holds.
"""
BACK: Kinds = {
    "sheet": Words, "time": Index, "before": Index, "after": Index, "ring_row": Index,
}  # fmt: skip
"""The way back of one step: ``after`` is the block that the next one, in time before, reads;
``ring_row`` is row 0 of this time in the ring."""


CELL_FUNCTIONS = ("pointwise", "pointwise_back", "gate", "gate_back")


@dataclass(frozen=True)
class CellCode:
    """Writes the functions of one cell."""

    plan: CellPlan
    precision: Precision
    tiling: Tiling

    def text(self) -> str:
        """The LLVM text of all functions of the cell."""
        module = ir.Module("cell")
        self._function(module, "pointwise", STEP, _forward)
        self._function(module, "pointwise_back", BACK, _backward)
        if self.plan.gates:
            self._function(module, "gate", STEP, _gate)
            self._function(module, "gate_back", BACK, _gate_backward)
        return str(module)

    def _function(
        self, module: LLVM, name: str, kinds: Kinds, write: Callable[[_Lane], None]
    ) -> None:
        code = Emitter(module, name, kinds, self.precision)
        said = dict(zip(kinds, code.arguments, strict=True))
        for lane in _lanes(code, said, self):
            write(lane)
        code.finish()


class _Lane:
    """Some units of one row at one step: what loads and stores mean there.

    Attributes:
        unit: number of the first unit. mask: the units that exist, or nothing where all do.
    """

    def __init__(
        self, code: Emitter, said: Mapping[str, Index], cell: CellCode, sheet: Sheet,
        row: Index, block: Index, start: Index, mask: Mask | None,
    ) -> None:  # fmt: skip
        self.code, self.said, self.cell, self.sheet = code, said, cell, sheet
        self.plan, self.equations = cell.plan, cell.plan.equations
        self.row, self.block, self.start, self.mask = row, block, start, mask
        self.width = cell.tiling.lanes
        self.unit = block * cell.tiling.block + start

    def load(self, place: Reals, offset: Index) -> Vector:
        """Units of an array without padding."""
        if self.mask is None:
            return place.load(offset, width=self.width)
        return place.load_where(self.mask, offset)

    def store(self, place: Reals, value: Vector, offset: Index) -> None:
        if self.mask is None:
            place.store(value, offset)
        else:
            place.store_where(self.mask, value, offset)

    def fetch(self, array: str, time: str, count: int, *, write: bool) -> None:
        """Fetch what the next step will want of this row."""
        step = self.said["after"] - self.said["before"]
        later = (step * self.sheet.index("rows") * count) * self.sheet.index("units")
        for number in range(count):
            prefetch(
                self.sheet.reals(array), self.at_time(time, count, number) + later, write=write
            )

    def at_time(self, time: str, count: int | Index, number: int | Index) -> Index:
        """Offset in (T, B, count, H)."""
        row = self.said[time] * self.sheet.index("rows") + self.row
        return (row * count + number) * self.sheet.index("units") + self.unit

    def blocked(self, number: Index, stride: Index, row: Index) -> Index:
        """Offset in a blocked array."""
        return number * stride + row * self.cell.tiling.block + self.start

    def padded(self, name: str, number: int) -> Vector:
        """Units of an array (names, blocks, block)."""
        blocks = self.sheet.index("blocks")
        offset = (blocks * number + self.block) * self.cell.tiling.block + self.start
        return self.sheet.reals(name).load(offset, width=self.width)

    def past(self, name: str) -> Vector:
        """A memory or hidden value of the step before."""
        kept, hidden = self.plan.kept, tuple(self.equations.hidden)
        array, names = ("memory", kept) if name in kept else ("state", hidden)
        offset = self.at_time("before", len(names), names.index(name))
        return self.load(self.sheet.reals(array), offset)

    def leaves(self) -> dict[Node, Vector]:
        """Memories and parameters."""
        eq = self.equations
        known = {eq.leaves[f"past.{m}"]: self.past(m) for m in eq.memory}
        for n, name in enumerate(eq.parameters):
            known[eq.leaves[f"par.{name}"]] = self.padded("unit", n)
        return known

    def slot(self, name: str) -> Vector:
        """A pre-activation, from its products and its bias."""
        plan, eq, said = self.plan, self.equations, self.said
        block = self.cell.tiling.block
        rows = self.sheet.index("rows")
        parts = []
        if name in eq.fed_by("input"):
            zone = eq.fed_by("input")
            number = self.block * len(zone) + zone.index(name)
            stride = self.sheet.index("input_stride")
            at = self.blocked(number, stride, said["input_row"] + self.row)
            parts.append(self.sheet.reals("from_input").load(at, width=self.width))
        if name in plan.first:
            number = (self.block - said["hidden_block"]) * len(plan.first) + plan.first.index(name)
            at = self.blocked(number, rows * block, self.row)
            parts.append(self.sheet.reals("from_hidden").load(at, width=self.width))
        if name in plan.second:
            number = self.sheet.index("blocks") * plan.second.index(name) + self.block
            at = self.blocked(number, rows * block, self.row)
            parts.append(self.sheet.reals("from_second").load(at, width=self.width))
        if name in eq.fed_by("bias"):
            parts.append(self.padded("bias", eq.fed_by("bias").index(name)))
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total

    def saved(self) -> dict[Node, Vector]:
        names = self.plan.saved
        place = self.sheet.reals("saved")
        return {
            node: self.load(place, self.at_time("time", len(names), n))
            for n, node in enumerate(names.values())
        }

    def carried(self, number: int) -> Index:
        """Offset in the errors on the step before: hidden values, kept memories, direct paths."""
        blocks = self.sheet.index("blocks")
        stride = self.sheet.index("rows") * self.cell.tiling.block
        return self.blocked(blocks * number + self.block, stride, self.row)

    def ring(self, number: int) -> Index:
        """Offset in the errors on sources."""
        blocks, row = self.sheet.index("blocks"), self.said["ring_row"] + self.row
        return self.blocked(blocks * number + self.block, self.sheet.index("ring_stride"), row)

    def store_blocked(self, place: Reals, value: Vector, offset: Index) -> None:
        """Padding becomes 0, whatever was computed in it."""
        place.store(value if self.mask is None else self.mask.select(value, 0.0), offset)


def _lanes(code: Emitter, said: Mapping[str, Index], cell: CellCode) -> Iterator[_Lane]:
    """Loops over rows and units; yields where their bodies are written: whole vectors, the rest."""
    sheet = Sheet(code, said["sheet"])  # type: ignore[arg-type]
    first = said.get("first_block", code.index(0))
    end = said.get("end_block", sheet.index("blocks"))
    block, lanes = cell.tiling.block, cell.tiling.lanes
    whole = sheet.index("units") // block
    full = Index(code.builder, code.builder.select((end < whole).raw, end.raw, whole.raw))
    first_row = sheet.index("first_row")
    vectors = block // lanes
    with code.loop(sheet.index("end_row") - first_row) as k:
        row = first_row + k
        with code.loop(full - first) as j:
            with _parts(code, vectors, lanes) as start:
                yield _Lane(code, said, cell, sheet, row, first + j, start, None)
        with code.when(full < end):
            with _parts(code, vectors, lanes) as start:
                left = sheet.index("units") - full * block
                mask = code.lane_numbers(lanes, start) < left
                yield _Lane(code, said, cell, sheet, row, full, start, mask)


@contextmanager
def _parts(code: Emitter, vectors: int, lanes: int) -> Iterator[Index]:
    if vectors == 1:
        yield code.index(0)
    else:
        with code.loop(vectors) as part:
            yield part * lanes


def _forward(lane: _Lane) -> None:
    plan, eq, sheet = lane.plan, lane.equations, lane.sheet
    known = lane.leaves() | {eq.leaves[f"z.{s}"]: lane.slot(s) for s in eq.slots}
    hidden, own = list(eq.hidden.values()), [eq.memory[m] for m in plan.kept]
    saved, shown = list(plan.saved.values()), list(plan.shown.values())
    found = values([*hidden, *own, *saved], known)
    known |= dict(zip([*hidden, *own, *saved], found, strict=True))
    for array, nodes in (("state", hidden), ("memory", own)):
        lane.fetch(array, "after", len(nodes), write=True)
        for n, node in enumerate(nodes):
            lane.store(sheet.reals(array), known[node], lane.at_time("after", len(nodes), n))
    for name, array, nodes in (("keep", "saved", saved), ("show", "shown", shown)):
        if nodes:
            with lane.code.when(sheet.index(name) >= 1):
                lane.fetch(array, "time", len(nodes), write=True)
                for n, value in enumerate(values(nodes, known)):
                    lane.store(sheet.reals(array), value, lane.at_time("time", len(nodes), n))


def _gate(lane: _Lane) -> None:
    """Gates times hidden values, rows as they are for the second products."""
    plan, eq, sheet = lane.plan, lane.equations, lane.sheet
    known = lane.leaves()
    for s in eq.slots:
        if s not in plan.second:
            known[eq.leaves[f"z.{s}"]] = lane.slot(s)
    gates = values([eq.gates[g] for g in plan.gates], known)
    for g, gate in enumerate(gates):
        for q in range(len(eq.hidden)):
            at = lane.at_time("before", len(eq.hidden), q)
            h = lane.load(sheet.reals("state"), at)
            here = ((sheet.index("rows") * g + lane.row) * len(eq.hidden) + q) * sheet.index(
                "units"
            ) + lane.unit
            lane.store(sheet.reals("gated"), gate * h, here)


def _backward(lane: _Lane) -> None:
    plan, eq, sheet = lane.plan, lane.equations, lane.sheet
    known = lane.leaves() | lane.saved()
    carry, ring = sheet.reals("carry"), sheet.reals("ring")
    hiddens, width = len(eq.hidden), lane.width
    counts = {"saved": len(plan.saved), "d_output": hiddens}
    for array, count in counts.items():
        lane.fetch(array, "time", count, write=False)
    lane.fetch("memory", "before", len(plan.kept), write=False)
    for q, name in enumerate(eq.hidden):
        error = carry.load(lane.carried(q), width=width)
        if plan.direct:
            error = error + carry.load(lane.carried(hiddens + len(plan.kept) + q), width=width)
        outside = lane.load(sheet.reals("d_output"), lane.at_time("time", hiddens, q))
        known[plan.errors[f"hidden.{name}"]] = error + outside
    for k, name in enumerate(plan.kept):
        known[plan.errors[f"memory.{name}"]] = carry.load(lane.carried(hiddens + k), width=width)
    leaves = [*plan.sources, *(f"past.{m}" for m in eq.memory)]
    found = dict(zip(leaves, values([plan.back[n] for n in leaves], known), strict=True))
    for n, name in enumerate(plan.sources):
        lane.store_blocked(ring, found[name], lane.ring(n))
    for k, name in enumerate(plan.kept):
        lane.store_blocked(carry, found[f"past.{name}"], lane.carried(hiddens + k))
    if plan.direct:
        for q, name in enumerate(eq.hidden):
            zero = lane.code.number(0.0, width=width)
            place = lane.carried(hiddens + len(plan.kept) + q)
            lane.store_blocked(carry, found.get(f"past.{name}", zero), place)


def _gate_backward(lane: _Lane) -> None:
    """Errors on gates times hidden values: through the gates to their slots, and to both pasts."""
    plan, eq, sheet = lane.plan, lane.equations, lane.sheet
    known = lane.leaves() | lane.saved()
    hiddens, width, count = len(eq.hidden), lane.width, len(eq.hidden) + len(plan.kept)
    gates = values([eq.gates[g] for g in plan.gates], known)
    stride = sheet.index("rows") * lane.cell.tiling.block
    for g, gate in enumerate(gates):
        total = lane.code.number(0.0, width=width)
        for q in range(hiddens):
            h = lane.load(sheet.reals("state"), lane.at_time("before", hiddens, q))
            number = sheet.index("blocks") * (g * hiddens + q) + lane.block
            error = sheet.reals("d_gated").load(lane.blocked(number, stride, lane.row), width=width)
            total = error.fma(h, total)
            _add(lane, "carry", lane.carried(count + q), error * gate)
            row = sheet.index("chunk") * sheet.index("rows") * g + lane.said["ring_row"] + lane.row
            here = (row * hiddens + q) * sheet.index("units") + lane.unit
            lane.store(sheet.reals("gated_ring"), gate * h, here)
        known[plan.errors[f"gate.{plan.gates[g]}"]] = total
    for back in plan.gate_back.values():
        _add_gate_back(lane, back, known)


def _add_gate_back(lane: _Lane, back: Mapping[str, Node], known: Mapping[Node, Vector]) -> None:
    plan, eq = lane.plan, lane.equations
    names = [name for name, node in back.items() if not node.is_const(0)]
    for name, value in zip(names, values([back[n] for n in names], known), strict=True):
        if name in plan.sources:
            _add(lane, "ring", lane.ring(plan.sources.index(name)), value)
            continue
        memory, hidden = name.removeprefix("past."), tuple(eq.hidden)
        own = memory in plan.kept
        number = len(hidden) + (
            plan.kept.index(memory) if own else len(plan.kept) + hidden.index(memory)
        )
        _add(lane, "carry", lane.carried(number), value)


def _add(lane: _Lane, array: str, offset: Index, value: Vector) -> None:
    place = lane.sheet.reals(array)
    lane.store_blocked(place, place.load(offset, width=lane.width) + value, offset)
