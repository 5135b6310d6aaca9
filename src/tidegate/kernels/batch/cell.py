"""A cell's pointwise code for whole sequences: one step of some rows and blocks, and its way back.

The loops and products around it are the same for every cell (``batch.forward_code``,
``batch.backward_code``) and call these functions by address.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import llvmlite.ir as ir  # type: ignore[import-untyped]

from tidegate.calculus.graph import Node
from tidegate.kernels.batch.lane import BACK, STEP, CellParts, Lane, rows_of, units_of
from tidegate.kernels.batch.norm import write_norms
from tidegate.kernels.batch.pointwise import values
from tidegate.kernels.batch.sheet import Sheet
from tidegate.kernels.code.calls import Kinds
from tidegate.kernels.code.emit import Emitter, Index
from tidegate.kernels.code.vector import LLVM, Vector

__all__ = ["CELL_FUNCTIONS", "cell_text"]

CELL_FUNCTIONS = (
    "pointwise", "pointwise_back", "gate", "gate_back", "normalise_first", "normalise_second",
    "normalise_back_first", "normalise_back_second",
)  # fmt: skip
"""Names of all functions a cell may have."""


def cell_text(parts: CellParts) -> str:
    """The LLVM text of all functions of a cell."""
    module = ir.Module("cell")
    _function(module, parts, "pointwise", STEP, _forward)
    _function(module, parts, "pointwise_back", BACK, _backward)
    if parts.plan.gates:
        _function(module, parts, "gate", STEP, _gate)
        _function(module, parts, "gate_back", BACK, _gate_backward)
    write_norms(module, parts)
    return str(module)


def _function(
    module: LLVM, parts: CellParts, name: str, kinds: Kinds, write: Callable[[Lane], None]
) -> None:
    code = Emitter(module, name, kinds, parts.precision)
    said = dict(zip(kinds, code.arguments, strict=True))
    sheet = Sheet(code, said["sheet"])
    for row in rows_of(code, sheet):
        for lane in units_of(code, said, parts, sheet, row):
            write(lane)
    code.finish()


def _forward(lane: Lane) -> None:
    plan, eq, sheet = lane.plan, lane.equations, lane.sheet
    known = lane.leaves() | {eq.leaves[f"z.{s}"]: lane.slot(s) for s in eq.slots}
    hidden, own = list(eq.hidden.values()), [eq.memory[m] for m in plan.kept]
    saved, shown = list(plan.saved.values()), list(plan.shown.values())
    found = values([*hidden, *own, *saved], known)
    known |= dict(zip([*hidden, *own, *saved], found, strict=True))
    for array, nodes in (("state", hidden), ("memory", own)):
        lane.fetch(array, "after", len(nodes), write=True)
        for n, node in enumerate(nodes):
            lane.store(
                sheet.reals(array), known[node], lane.in_block(array, "after", len(nodes), n)
            )
    for name, array, nodes, stride in (
        ("keep", "saved", saved, sheet.index("saved_rows")),
        ("show", "shown", shown, lane.code.index(len(shown))),
    ):
        if nodes:
            with lane.code.when(sheet.index(name) >= 1):
                lane.fetch(array, "time", len(nodes), write=True, stride=stride)
                for n, value in enumerate(values(nodes, known)):
                    lane.store(sheet.reals(array), value, lane.at_time("time", stride, n))


def _gate(lane: Lane) -> None:
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


def _backward(lane: Lane) -> None:
    plan, eq, sheet = lane.plan, lane.equations, lane.sheet
    known = lane.leaves() | lane.saved()
    carry, ring = sheet.reals("carry"), sheet.reals("ring")
    hiddens, width = len(eq.hidden), lane.width
    lane.fetch("saved", "time", len(plan.saved), write=False, stride=sheet.index("saved_rows"))
    lane.fetch("d_output", "time", hiddens, write=False)
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


def _gate_backward(lane: Lane) -> None:
    """Errors on gates times hidden values: through the gates to their slots, and to both pasts."""
    plan, eq, sheet = lane.plan, lane.equations, lane.sheet
    known = lane.leaves() | lane.saved()
    hiddens, width, count = len(eq.hidden), lane.width, len(eq.hidden) + len(plan.kept)
    gates = values([eq.gates[g] for g in plan.gates], known)
    stride = sheet.index("rows") * lane.parts.tiling.block
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


def _add_gate_back(lane: Lane, back: Mapping[str, Node], known: Mapping[Node, Vector]) -> None:
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


def _add(lane: Lane, array: str, offset: Index, value: Vector) -> None:
    place = lane.sheet.reals(array)
    lane.store_blocked(place, place.load(offset, width=lane.width) + value, offset)
