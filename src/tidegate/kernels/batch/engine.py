"""The compiled functions of batch runs: loops and products for all cells, and one cell's own."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import llvmlite.ir as ir  # type: ignore[import-untyped]

from tidegate.cells.base import Cell
from tidegate.kernels.batch.backward_code import write_backward
from tidegate.kernels.batch.cell import cell_text
from tidegate.kernels.batch.cell_plan import CellPlan, cell_plan
from tidegate.kernels.batch.forward_code import write_forward
from tidegate.kernels.batch.lane import CellParts
from tidegate.kernels.batch.sheet import Sheet
from tidegate.kernels.code import jit
from tidegate.kernels.code.calls import Argument, address_in, call
from tidegate.kernels.code.cpu import Target, flushing
from tidegate.kernels.code.emit import Emitter, Words
from tidegate.kernels.code.products import PACK, write_products
from tidegate.kernels.code.tiles import Tiling
from tidegate.kernels.code.vector import LLVM, Precision
from tidegate.kernels.online.recipe import graph_text

__all__ = ["PACKING", "Engine", "engine"]

_CODE = ("calculus", "cells.functions", "kernels.batch", "kernels.code")
_SHEET = ctypes.c_void_p
_NUMBER = ctypes.c_int64


@dataclass(frozen=True)
class Engine:
    """The functions of one cell in one precision on one kind of processor."""

    plan: CellPlan
    precision: Precision
    target: Target

    @cached_property
    def tiling(self) -> Tiling:
        """How products are cut."""
        return Tiling.of(self.target, self.precision)

    @cached_property
    def _loops(self) -> jit.Library:
        name = f"batch-{self.precision.bits}"
        return jit.library(name, f"{name} {_sources()}", self.loops_text, self.target)

    @cached_property
    def _cell(self) -> jit.Library:
        plan = self.plan
        name = f"{type(plan.equations.cell).__name__.lower()}-batch-{self.precision.bits}"
        parts = CellParts(plan, self.precision, self.tiling)
        recipe = f"{name} {_sources()} {_plan_text(plan)}"
        return jit.library(name, recipe, lambda: cell_text(parts), self.target)

    def cell_address(self, name: str) -> int:
        """Where a function of the cell starts; 0 where it has none."""
        return self._cell.address(name)

    @cached_property
    def prepare(self) -> Callable[..., None]:
        """``prepare(sheet)``: pack weights."""
        return self._loops.function("prepare", _SHEET)

    @cached_property
    def forward(self) -> Callable[..., None]:
        """``forward(sheet)``: some rows, all steps."""
        return self._loops.function("flushed_forward", _SHEET)

    @cached_property
    def forward_all(self) -> Callable[..., None]:
        """``forward_all(sheet)``: pack weights, then all rows and steps."""
        return self._loops.function("flushed_forward_all", _SHEET)

    @cached_property
    def backward_all(self) -> Callable[..., None]:
        """``backward_all(sheet)``: pack weights, then all rows and steps back."""
        return self._loops.function("flushed_backward_all", _SHEET)

    @cached_property
    def back_steps(self) -> Callable[..., None]:
        """``back_steps(sheet, first_time, count, number)``: some rows, a chunk of steps."""
        return self._loops.function("flushed_back_steps", _SHEET, *[_NUMBER] * 3)

    @cached_property
    def back_products(self) -> Callable[..., None]:
        """``back_products(sheet, first_time, count, number)``: a share of a chunk's products."""
        return self._loops.function("flushed_back_products", _SHEET, *[_NUMBER] * 3)

    def loops_text(self) -> str:
        """The LLVM text of what all cells share."""
        module = ir.Module("batch")
        products = write_products(module, self.tiling, self.precision)
        write_forward(module, products, self.tiling, self.precision)
        write_backward(module, products, self.tiling, self.precision)
        _prepare(module, products.pack, self.tiling, self.precision)
        for name in ("forward", "backward"):
            _after_preparing(module, name, self.precision)
        exported = ("forward", "forward_all", "backward_all", "back_steps", "back_products")
        for name in exported:
            flushing(module.globals[name], f"flushed_{name}", self.target)
        return str(module)


def engine(cell: Cell, precision: Precision, target: Target) -> Engine:
    """The engine of a cell; equal cells share one."""
    return _engine(cell_plan(cell), precision, target)


@cache
def _engine(plan: CellPlan, precision: Precision, target: Target) -> Engine:
    return Engine(plan, precision, target)


@cache
def _sources() -> str:
    return jit.sources(*(f"tidegate.{name}" for name in _CODE))


def _plan_text(plan: CellPlan) -> str:
    eq = plan.equations
    groups = {
        "memory": eq.memory, "hidden": eq.hidden, "gates": eq.gates, "back": plan.back,
        "saved": plan.saved, "shown": plan.shown, "errors": plan.errors,
        **{f"gate {gate}": back for gate, back in plan.gate_back.items()},
    }  # fmt: skip
    nodes = {(kind, name): node for kind, group in groups.items() for name, node in group.items()}
    return f"{dict(eq.cell.slots)} {eq.parameters} {plan.kept} {graph_text(nodes)}"


def _after_preparing(module: LLVM, name: str, precision: Precision) -> None:
    code = Emitter(module, f"{name}_all", {"sheet": Words}, precision)
    for function in ("prepare", name):
        call(code, module.globals[function], code.arguments)
    code.finish()


PACKING = ("to", "to_offset", "from", *(name for name in PACK if name not in ("target", "source")))
"""Words of a packing: positions in the sheet of both addresses, and the rest of ``PACK``."""


def _prepare(module: LLVM, pack: LLVM, tiling: Tiling, precision: Precision) -> None:
    """Add ``prepare(sheet)``: carry out the packings that a table lists, and sum the biases."""
    code = Emitter(module, "prepare", {"sheet": Words}, precision)
    sheet = Sheet(code, code.arguments[0])
    with code.loop(sheet.index("pack_count")) as k:
        row = address_in(sheet.table("packs"), k * len(PACKING))
        arguments: list[Argument] = [
            sheet.word(row.index(0)).at(row.index(1)),
            sheet.word(row.index(2)),
        ]
        for n, name in enumerate(PACKING[3:], start=3):
            table = Words(code.builder, row.reals(n, precision).pointer)
            arguments.append(table if PACK[name] is Words else row.index(n))
        call(code, pack, arguments)
    with code.when(sheet.index("second_bias") >= 1):
        _add_second_bias(code, sheet, tiling)
    code.finish()


def _add_second_bias(code: Emitter, sheet: Sheet, tiling: Tiling) -> None:
    """torch keeps two biases of one form, of which cells see the sum."""
    units, blocks, lanes = sheet.index("units"), sheet.index("blocks"), tiling.lanes
    packed, second = sheet.reals("bias"), sheet.reals("second_bias")
    with code.loop(sheet.index("biased")) as slot, code.loop(blocks) as b:
        for start in range(0, tiling.block, lanes):
            unit = b * tiling.block + start
            mask = code.lane_numbers(lanes, unit) < units
            at = (slot * blocks + b) * tiling.block + start
            more = second.load_where(mask, slot * units + unit)
            packed.store(packed.load(at, width=lanes) + more, at)
