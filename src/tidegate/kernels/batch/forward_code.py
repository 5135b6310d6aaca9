"""The loops of a forward run: products with the input ahead, then step after step."""

from __future__ import annotations

from tidegate.kernels.batch.carry import give_last, take_start
from tidegate.kernels.batch.lane import STEP
from tidegate.kernels.batch.rows import copy_rows
from tidegate.kernels.batch.sheet import Sheet, call_known
from tidegate.kernels.code.calls import Kinds, call, entry, internal
from tidegate.kernels.code.emit import Emitter, Index, Words
from tidegate.kernels.code.products import Products, smaller
from tidegate.kernels.code.tiles import Tiling
from tidegate.kernels.code.vector import LLVM, Precision

__all__ = ["INACTIVE", "RESET", "write_forward"]

RESET, INACTIVE = 1, 2
"""Bits of a row's flag at a time."""
_MOMENT: Kinds = {
    "sheet": Words, "time": Index, "before": Index, "after": Index, "input_row": Index,
}  # fmt: skip
_STRIP = 4
"""Unit blocks that are stepped together, while their products are at hand."""


def write_forward(module: LLVM, products: Products, tiling: Tiling, precision: Precision) -> None:
    """Add ``forward(sheet)``: the rows first_row to end_row of all steps."""
    step = _step(module, products, tiling, precision)
    code = Emitter(module, "forward", {"sheet": Words}, precision)
    (words,) = code.arguments
    sheet = Sheet(code, words)
    steps, chunk, reverse = (sheet.index(n) for n in ("steps", "chunk", "reverse"))
    rows = sheet.index("rows")
    take_start(code, sheet)
    with code.loop((steps + (chunk - 1)) // chunk) as c:
        done = c * chunk
        count = smaller(code, steps - done, chunk)
        first_time = done + reverse * (steps - count - done * 2)
        _input_product(code, sheet, products, tiling, first_time, count)
        with code.loop(count) as k:
            step_number = done + k
            time = step_number + reverse * (steps - 1 - step_number * 2)
            after = time + 1 - reverse
            row = (time - first_time) * rows
            call(code, step, [words, time, time + reverse, after, row])
    give_last(code, sheet)
    code.finish()


def _input_product(
    code: Emitter, sheet: Sheet, products: Products, tiling: Tiling, time: Index, count: Index
) -> None:
    first, inputs = sheet.index("first_row"), sheet.index("inputs")
    row = time * sheet.index("rows") + first
    many = (count - 1) * sheet.index("rows") + sheet.index("end_row") - first
    call(code, products.product, [
        many, 1, inputs, sheet.table("nowhere"), sheet.reals("x").at(row * inputs), inputs,
        sheet.reals("packed_input"), 0, sheet.index("input_slots") * sheet.index("blocks"),
        sheet.reals("from_input").at(first * tiling.block), tiling.block,
        sheet.index("input_stride"),
    ])  # fmt: skip


def _step(module: LLVM, products: Products, tiling: Tiling, precision: Precision) -> LLVM:
    code = Emitter(module, "step", _MOMENT, precision)
    words, time, before, after, input_row = code.arguments
    sheet = Sheet(code, words)
    _start_anew(code, sheet, time, before)
    moment = [words, time, before, after]
    pointwise = sheet.function("pointwise", STEP.values())
    blocks = sheet.index("blocks")
    with code.either(sheet.index("staged") >= 1) as (staged, strips):
        with strips, code.loop((blocks + (_STRIP - 1)) // _STRIP) as strip:
            first = strip * _STRIP
            end = smaller(code, blocks, first + _STRIP)
            _hidden_product(code, sheet, products, tiling, before, first, end)
            call(code, pointwise, [*moment, first, end, input_row, first])
        with staged:
            zero = code.index(0)
            _hidden_product(code, sheet, products, tiling, before, zero, blocks)
            everything = [*moment, zero, blocks, input_row, zero]
            call_known(code, sheet, "normalise_first", STEP.values(), everything)
            call_known(code, sheet, "gate", STEP.values(), everything)
            _second_products(code, sheet, products, tiling)
            call_known(code, sheet, "normalise_second", STEP.values(), everything)
            call(code, pointwise, everything)
    _hold_inactive(code, sheet, time, before, after)
    return internal(code)


def _hidden_product(
    code: Emitter, sheet: Sheet, products: Products, tiling: Tiling,
    before: Index, first: Index, end: Index,
) -> None:  # fmt: skip
    width = sheet.index("hiddens") * sheet.index("units")
    rows, first_row = sheet.index("rows"), sheet.index("first_row")
    slots = sheet.index("hidden_slots")
    call(code, products.product, [
        sheet.index("end_row") - first_row, 1, width, sheet.table("nowhere"),
        sheet.reals("state").at((before * rows + first_row) * width), width,
        sheet.reals("packed_hidden"), first * slots, end * slots,
        sheet.reals("from_hidden").at(first_row * tiling.block), tiling.block,
        rows * tiling.block,
    ])  # fmt: skip


def _second_products(code: Emitter, sheet: Sheet, products: Products, tiling: Tiling) -> None:
    """Slot after slot, each from the hidden values times its gate."""
    width = sheet.index("hiddens") * sheet.index("units")
    rows, first_row = sheet.index("rows"), sheet.index("first_row")
    blocks = sheet.index("blocks")
    with code.loop(sheet.index("second_slots")) as slot:
        gate = entry(sheet.table("second_gate"), slot)
        right = sheet.reals("packed_second").at(slot * blocks * tiling.block * width)
        result = sheet.reals("from_second").at((slot * blocks * rows + first_row) * tiling.block)
        call(code, products.product, [
            sheet.index("end_row") - first_row, 1, width, sheet.table("nowhere"),
            sheet.reals("gated").at((gate * rows + first_row) * width), width,
            right, 0, blocks, result, tiling.block, rows * tiling.block,
        ])  # fmt: skip


def _start_anew(code: Emitter, sheet: Sheet, time: Index, before: Index) -> None:
    """Rows that are reset begin this step where a sequence begins."""
    hidden = sheet.index("hiddens") * sheet.index("units")
    memory = sheet.index("kept") * sheet.index("units")
    for array, width in (("state", hidden), ("memory", memory)):
        here = sheet.reals(array).at(sheet.block(array, before) * sheet.index("rows") * width)
        copy_rows(code, sheet, time, RESET, sheet.reals(f"{array}_start"), code.index(0),
                  here, width)  # fmt: skip


def _hold_inactive(code: Emitter, sheet: Sheet, time: Index, before: Index, after: Index) -> None:
    """Results go out; rows beyond their length stay what they were."""
    rows = sheet.index("rows")
    for array, out, names in (("state", "output", "hiddens"), ("memory", "memory_after", "kept")):
        width = sheet.index(names) * sheet.index("units")
        was, now = (
            sheet.reals(array).at(sheet.block(array, block) * rows * width)
            for block in (before, after)
        )
        with code.when(sheet.index(out) >= 1):
            given = sheet.reals(out).at(time * rows * width)
            copy_rows(code, sheet, time, -1, now, width, given, width)
        copy_rows(code, sheet, time, INACTIVE, was, width, now, width)
