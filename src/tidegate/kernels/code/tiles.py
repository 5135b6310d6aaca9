"""Register tiles: the inner loops of every matrix product.

A *block* is 64 bytes of numbers, whole vectors on any processor. A tile of R rows and N blocks
keeps its R * N results in registers and adds one product to each for every k. Whatever the size
of a tile, each result is one chain of fused multiply-adds over k in ascending order from 0, so its
bits depend on its row and column alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from tidegate.kernels.code.calls import Kinds, call_of, entry, internal, pieces
from tidegate.kernels.code.cpu import Target
from tidegate.kernels.code.emit import Emitter, Index, Reals, Variable, Words
from tidegate.kernels.code.vector import LLVM, Precision, Vector

__all__ = ["Tiling", "column_rows", "packed_rows"]

BLOCK_BITS = 512


@dataclass(frozen=True)
class Tiling:
    """Sizes of tiles for one kind of processor and one precision.

    Attributes:
        lanes: numbers in a vector.
        block: numbers in a block.
        packed: blocks of a tile -> most rows, where the right matrix is packed.
        columns: the same where it lies in blocks by columns.

    >>> from tidegate.kernels.code.cpu import HASWELL
    >>> from tidegate.kernels.code.vector import SINGLE
    >>> Tiling.of(HASWELL, SINGLE)
    Tiling(lanes=8, block=16, packed={1: 6}, columns={1: 6})
    """

    lanes: int
    block: int
    packed: Mapping[int, int]
    columns: Mapping[int, int]

    @staticmethod
    def of(target: Target, precision: Precision) -> Tiling:
        """Tiles that leave registers for what is loaded: 24 of 32 hold results, 12 or 8 of 16."""
        vectors = BLOCK_BITS // target.vector_bits
        wide = target.architecture != "x86_64" or target.vector_bits == 512
        results = 24 if wide else 12 if vectors == 2 else 8
        most = {n: min(12, results // (n * vectors)) for n in (1, 2, 3, 4)}
        widest = 4 if vectors == 1 else 1
        packed = {n: rows for n, rows in most.items() if n <= widest}
        columns = {n: rows for n, rows in most.items() if n <= max(1, widest // 2)}
        return Tiling(
            target.vector_bits // precision.bits, BLOCK_BITS // precision.bits, packed, columns
        )

    @property
    def group(self) -> int:
        """Blocks that are packed side by side."""
        return max(self.packed)


_PACKED: Kinds = {
    "outer": Index, "inner": Index, "table": Words,
    "left": Reals, "left_row": Index, "right": Reals,
    "result": Reals, "result_row": Index, "result_block": Index,
}  # fmt: skip
_COLUMNS: Kinds = {
    "count": Index, "left": Reals, "left_step": Index, "right": Reals, "right_block": Index,
    "result": Reals, "result_row": Index, "result_block": Index, "add": Index,
}  # fmt: skip


def packed_rows(module: LLVM, tiling: Tiling, precision: Precision) -> dict[int, LLVM]:
    """Blocks side by side -> a function for any number of rows.

    ``rows``, then: left(row, k) lies at ``table[o] + row * left_row + i`` for k = o * inner + i;
    the right matrix is packed [k][block]; results go to ``row * result_row + block *
    result_block``.
    """
    found = {}
    for blocks, most in tiling.packed.items():
        tiles = {
            rows: _packed_tile(module, tiling, precision, rows, blocks)
            for rows in range(1, most + 1)
        }
        found[blocks] = _rows(module, precision, f"packed_{blocks}", _PACKED, tiles, _left_packed)
    return found


def column_rows(module: LLVM, tiling: Tiling, precision: Precision) -> dict[int, LLVM]:
    """Blocks side by side -> a function for any number of rows.

    ``rows``, then: left(row, k) lies at ``k * left_step + row``; block b of the right matrix at
    ``b * right_block + k * block``; results as in :func:`packed_rows`, and what is there counts
    where ``add`` is not 0.
    """
    found = {}
    for blocks, most in tiling.columns.items():
        tiles = {
            rows: _column_tile(module, tiling, precision, rows, blocks)
            for rows in range(1, most + 1)
        }
        found[blocks] = _rows(
            module, precision, f"columns_{blocks}", _COLUMNS, tiles, _left_columns
        )
    return found


class _Results:
    """The results of a tile, in registers: rows x vectors."""

    def __init__(self, code: Emitter, tiling: Tiling, rows: int, blocks: int) -> None:
        self.code, self.tiling = code, tiling
        self.places = [
            (row, block, start)
            for row, block in product(range(rows), range(blocks))
            for start in range(0, tiling.block, tiling.lanes)
        ]
        zero = code.number(0.0, width=tiling.lanes)
        self.values: list[Variable[Vector]] = [code.variable(zero) for _ in self.places]

    def load(self, memory: Reals, row: Index, block: Index) -> None:
        for value, (r, b, start) in zip(self.values, self.places, strict=True):
            value.value = memory.load(row * r + block * b + start, width=self.tiling.lanes)

    def store(self, memory: Reals, row: Index, block: Index) -> None:
        for value, (r, b, start) in zip(self.values, self.places, strict=True):
            memory.store(value.value, row * r + block * b + start)

    def add(self, left: Reals, left_row: Index, right: Reals, right_block: Index) -> None:
        """One k: a number of every row times the vectors of every block."""
        numbers: dict[int, Vector] = {}
        vectors: dict[tuple[int, int], Vector] = {}
        lanes = self.tiling.lanes
        for _, b, start in self.places:
            if (b, start) not in vectors:
                vectors[b, start] = right.load(right_block * b + start, width=lanes)
        for value, (r, b, start) in zip(self.values, self.places, strict=True):
            if r not in numbers:
                numbers[r] = left.load(left_row * r).spread(lanes)
            value.value = numbers[r].fma(vectors[b, start], value.value)


def _packed_tile(
    module: LLVM, tiling: Tiling, precision: Precision, rows: int, blocks: int
) -> LLVM:
    code = Emitter(module, f"packed_{rows}x{blocks}", _PACKED, precision)
    outer, inner, table, left, left_row, right, result, row, block = code.arguments
    results = _Results(code, tiling, rows, blocks)
    step = blocks * tiling.block
    with code.loop(outer) as o:
        left_part = left.at(entry(table, o))
        right_part = right.at(o * inner * step)
        with code.loop(inner) as k:
            results.add(
                left_part.at(k), left_row, right_part.at(k * step), code.index(tiling.block)
            )
    results.store(result, row, block)
    return internal(code)


def _column_tile(
    module: LLVM, tiling: Tiling, precision: Precision, rows: int, blocks: int
) -> LLVM:
    code = Emitter(module, f"columns_{rows}x{blocks}", _COLUMNS, precision)
    count, left, left_step, right, right_block, result, row, block, add = code.arguments
    results = _Results(code, tiling, rows, blocks)
    with code.when(add >= 1):
        results.load(result, row, block)
    with code.loop(count) as k:
        results.add(left.at(k * left_step), code.index(1), right.at(k * tiling.block), right_block)
    results.store(result, row, block)
    return internal(code)


def _left_packed(row: Index, left: Reals, arguments: Mapping[str, Any]) -> Reals:
    return left.at(row * arguments["left_row"])


def _left_columns(row: Index, left: Reals, arguments: Mapping[str, Any]) -> Reals:
    return left.at(row)


def _rows(
    module: LLVM,
    precision: Precision,
    name: str,
    kinds: Kinds,
    tiles: Mapping[int, LLVM],
    left_at: Callable[[Index, Reals, Mapping[str, Any]], Reals],
) -> LLVM:
    """Any number of rows in tiles of nearly the same height."""
    code = Emitter(module, name, {"rows": Index, **kinds}, precision)
    rows, *rest = code.arguments
    told = dict(zip(kinds, rest, strict=True))
    most = max(tiles)
    count = (rows + (most - 1)) // most
    with code.when(count >= 1):
        height = rows // count
        taller = rows - height * count
        row = code.variable(code.index(0))
        with code.loop(count) as tile:
            now = height + code.flag(tile < taller, 1)
            left = left_at(row.value, told["left"], told)
            result = told["result"].at(row.value * told["result_row"])
            arguments = (told | {"left": left, "result": result}).values()
            pieces(code, now, {high: call_of(code, t, arguments) for high, t in tiles.items()})
            row.value = row.value + now
    return internal(code)
