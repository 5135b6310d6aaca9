"""Matrix products of any size in register tiles, and the packing they need.

Results of a product are blocked or by rows, whatever their strides say; see
:mod:`tidegate.kernels.code.tiles` for the order of every sum.
"""

from __future__ import annotations

from dataclasses import dataclass

from tidegate.kernels.code.calls import Kinds, call_of, entry, internal, pieces
from tidegate.kernels.code.emit import Emitter, Index, Reals, Words
from tidegate.kernels.code.tiles import Tiling, column_rows, packed_rows
from tidegate.kernels.code.vector import LLVM, Precision

__all__ = ["PACK", "PRODUCT", "Products", "smaller", "write_products"]

PRODUCT: Kinds = {
    "rows": Index, "outer": Index, "inner": Index, "table": Words, "left": Reals,
    "left_row": Index, "right": Reals, "first": Index, "end": Index, "result": Reals,
    "result_row": Index, "result_block": Index,
}  # fmt: skip
"""result[row, block] = sum over k of left[row, k] right[k, block], for blocks first to end.

left(row, k) lies at ``table[o] + row * left_row + i`` for k = o * inner + i. ``right`` is packed;
``first`` is the first block of a group. Blocks count from ``first`` in the result.
"""
COLUMNS: Kinds = {
    "count": Index, "rows": Index, "left": Reals, "left_step": Index, "right": Reals,
    "right_block": Index, "blocks": Index, "result": Reals, "add": Index,
}  # fmt: skip
"""result[block, row, :] (+)= sum over k of left[k, row] right[block, k, :]; result is blocked."""
PACK: Kinds = {
    "target": Reals, "source": Reals, "columns": Words, "blocks": Index, "lane_step": Index,
    "outer": Index, "inner": Index, "starts": Words, "row_step": Index,
}  # fmt: skip
"""Pack a right matrix [k][block], groups of blocks side by side.

``columns`` holds for every block where its first column starts and how many it has, ``starts`` for
every o where its first row starts and how many it has; rows are ``row_step`` apart, columns
``lane_step``. What is beyond either becomes 0.
"""
FOLD: Kinds = {
    "target": Reals, "source": Reals, "rows": Index, "columns": Index, "add": Index,
}  # fmt: skip
"""target[row, column] (+)= source[column, row] for a block of rows or less."""


@dataclass(frozen=True)
class Products:
    """Functions of a module."""

    product: LLVM
    columns: LLVM
    pack: LLVM
    fold: LLVM


def write_products(module: LLVM, tiling: Tiling, precision: Precision) -> Products:
    """Add the products to a module."""
    return Products(
        _product(module, tiling, precision),
        _columns(module, tiling, precision),
        _pack(module, tiling, precision),
        _fold(module, tiling, precision),
    )


def smaller(code: Emitter, a: Index, b: Index | int) -> Index:
    """The smaller of two numbers."""
    other = b if isinstance(b, Index) else code.index(b)
    return Index(code.builder, code.builder.select((a < other).raw, a.raw, other.raw))


def _product(module: LLVM, tiling: Tiling, precision: Precision) -> LLVM:
    tiles = packed_rows(module, tiling, precision)
    code = Emitter(module, "product", PRODUCT, precision)
    (rows, outer, inner, table, left, left_row, right, first, end, result, row, block) = (
        code.arguments
    )
    group = tiling.group
    with code.loop((end - first + (group - 1)) // group) as g:
        start = first + g * group
        blocks = smaller(code, end - start, group)
        arguments = [
            rows, outer, inner, table, left, left_row,
            right.at(start * outer * inner * tiling.block),
            result.at(g * group * block), row, block,
        ]  # fmt: skip
        calls = {n: call_of(code, tile, arguments) for n, tile in tiles.items()}
        pieces(code, blocks, calls)
    return internal(code)


def _columns(module: LLVM, tiling: Tiling, precision: Precision) -> LLVM:
    tiles = column_rows(module, tiling, precision)
    code = Emitter(module, "columns", COLUMNS, precision)
    count, rows, left, left_step, right, right_block, blocks, result, add = code.arguments
    wide = max(tiles)
    size = rows * tiling.block
    with code.loop((blocks + (wide - 1)) // wide) as pair:
        start = pair * wide
        arguments = [
            rows, count, left, left_step, right.at(start * right_block), right_block,
            result.at(start * size), code.index(tiling.block), size, add,
        ]  # fmt: skip
        calls = {n: call_of(code, tile, arguments) for n, tile in tiles.items()}
        pieces(code, smaller(code, blocks - start, wide), calls)
    return internal(code)


def _pack(module: LLVM, tiling: Tiling, precision: Precision) -> LLVM:
    code = Emitter(module, "pack", PACK, precision)
    target, source, columns, blocks, lane_step, outer, inner, starts, row_step = code.arguments
    group, block = tiling.group, tiling.block
    with code.loop(blocks) as b:
        first = (b // group) * group
        width = smaller(code, blocks - first, group)
        place = target.at(first * outer * inner * block + (b - first) * block)
        column, lanes = entry(columns, b * 2), entry(columns, b * 2 + 1)
        with code.loop(outer) as o:
            row, count = entry(starts, o * 2), entry(starts, o * 2 + 1)
            with code.loop(inner) as i:
                to = place.at((o * inner + i) * width * block)
                here = source.at(column + row + i * row_step)
                valid = Index(code.builder, code.builder.select(
                    (i < count).raw, lanes.raw, code.index(0).raw))  # fmt: skip
                _pack_row(code, tiling, to, here, lane_step, valid)
    code.finish()
    return code.function


def _pack_row(
    code: Emitter, tiling: Tiling, to: Reals, source: Reals, lane_step: Index, valid: Index
) -> None:
    """One block of one row, lane by lane where its numbers lie apart."""
    with code.either(lane_step.equals(1)) as (near, apart):
        with near:
            for start in range(0, tiling.block, tiling.lanes):
                mask = code.lane_numbers(tiling.lanes, start) < valid
                to.store(source.load_where(mask, start), start)
        with apart:
            for start in range(0, tiling.block, tiling.lanes):
                to.store(code.number(0.0, width=tiling.lanes), start)
            with code.loop(valid) as lane:
                to.store(source.load(lane * lane_step), lane)


def _fold(module: LLVM, tiling: Tiling, precision: Precision) -> LLVM:
    code = Emitter(module, "fold", FOLD, precision)
    target, source, rows, columns, add = code.arguments
    with code.loop(rows) as row:
        line = target.at(row * columns)
        with code.either(add >= 1) as (more, anew):
            with more, code.loop(columns) as column:
                value = line.load(column) + source.load(column * tiling.block + row)
                line.store(value, column)
            with anew, code.loop(columns) as column:
                line.store(source.load(column * tiling.block + row), column)
    return internal(code)
