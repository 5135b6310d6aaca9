"""Rows that are reset or beyond their length: copied, held or cleared, one by one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import llvmlite.ir as ir  # type: ignore[import-untyped]

from tidegate.kernels.batch.sheet import Sheet
from tidegate.kernels.code.emit import I64, Emitter, Index, Reals
from tidegate.kernels.code.tiles import Tiling
from tidegate.kernels.code.vector import Mask

__all__ = ["clear_blocks", "copy_blocks", "copy_rows", "flagged"]


@contextmanager
def flagged(code: Emitter, sheet: Sheet, time: Index, bits: int) -> Iterator[Index]:
    """Write code for every row whose flag at a time has one of the bits; -1 means every row."""
    byte = ir.IntType(8)
    flags = sheet.reals("flags").pointer
    first_row = sheet.index("first_row")
    with code.when(sheet.index("flags") >= 1):
        with code.loop(sheet.index("end_row") - first_row) as k:
            row = first_row + k
            place = code.builder.gep(
                flags, [(time * sheet.index("rows") + row).raw], source_etype=byte
            )
            flag = code.builder.zext(code.builder.load(place, align=1, typ=byte), I64)
            if bits < 0:
                yield row
            else:
                some = code.builder.and_(flag, I64(bits))
                with code.when(Mask(code.builder, code.builder.icmp_signed("!=", some, I64(0)))):
                    yield row


def copy_rows(
    code: Emitter, sheet: Sheet, time: Index, bits: int, source: Reals, source_row: Index,
    target: Reals, width: Index,
) -> None:  # fmt: skip
    """target[row, :] = source[row, :] for flagged rows."""
    with flagged(code, sheet, time, bits) as row:
        with code.loop(width) as k:
            target.store(source.load(row * source_row + k), row * width + k)


def copy_blocks(
    code: Emitter, sheet: Sheet, tiling: Tiling, time: Index, bits: int, source: Reals,
    target: Reals, blocks: Index,
) -> None:  # fmt: skip
    """target[:, row, :] = source[:, row, :] for flagged rows of blocked arrays."""
    with flagged(code, sheet, time, bits) as row:
        with code.loop(blocks) as b:
            place = (b * sheet.index("rows") + row) * tiling.block
            for start in range(0, tiling.block, tiling.lanes):
                target.store(source.load(place + start, width=tiling.lanes), place + start)


def clear_blocks(
    code: Emitter, sheet: Sheet, tiling: Tiling, time: Index, bits: int, target: Reals,
    stride: Index, blocks: Index,
) -> None:  # fmt: skip
    """target[:, row, :] = 0 for flagged rows of a blocked array."""
    zero = code.number(0.0, width=tiling.lanes)
    with flagged(code, sheet, time, bits) as row:
        with code.loop(blocks) as b:
            for start in range(0, tiling.block, tiling.lanes):
                target.store(zero, b * stride + row * tiling.block + start)
