"""What goes into the first step and comes out of the last: states forward, errors back."""

from __future__ import annotations

from collections.abc import Iterator

from tidegate.kernels.batch.sheet import Sheet
from tidegate.kernels.code.emit import Emitter, Index
from tidegate.kernels.code.tiles import Tiling
from tidegate.kernels.code.vector import Mask

__all__ = ["carried_blocks", "give_errors", "give_last", "take_errors", "take_start"]


def take_start(code: Emitter, sheet: Sheet) -> None:
    """The state before the first step, (names, B, H), into its block; else the cell's own."""
    first = sheet.index("reverse") * sheet.index("steps")
    for array, given, names in (("state", "hidden0", "hiddens"), ("memory", "memory0", "kept")):
        block = sheet.block(array, first)
        with code.either(sheet.index(given) >= 1) as (some, none):
            with some:
                for place, in_block, _ in _places(code, sheet, names, block):
                    sheet.reals(array).store(sheet.reals(given).load(place), in_block)
            with none:
                for _, in_block, unit in _places(code, sheet, names, block):
                    own = sheet.reals(f"{array}_start").load(unit)
                    sheet.reals(array).store(own, in_block)


def give_last(code: Emitter, sheet: Sheet) -> None:
    """The state after the last step, from its block."""
    last = sheet.index("steps") * (code.index(1) - sheet.index("reverse"))
    for array, to, names in (
        ("state", "last_hidden", "hiddens"), ("memory", "last_memory", "kept"),
    ):  # fmt: skip
        for place, in_block, _ in _places(code, sheet, names, sheet.block(array, last)):
            sheet.reals(to).store(sheet.reals(array).load(in_block), place)


def carried_blocks(sheet: Sheet) -> Index:
    """Blocks of errors that go from step to step: hidden values, kept memories, direct paths."""
    names = sheet.index("hiddens") + sheet.index("kept")
    return (names + sheet.index("hiddens") * sheet.index("direct")) * sheet.index("blocks")


def take_errors(code: Emitter, sheet: Sheet, tiling: Tiling) -> None:
    """Errors on the last state, 0 where none are given, and 0 on direct paths."""
    hiddens, kept, direct = (sheet.index(n) for n in ("hiddens", "kept", "direct"))
    carry = sheet.reals("carry")
    parts = (("d_last_hidden", code.index(0), hiddens), ("d_last_memory", hiddens, kept))
    for given, first, names in parts:
        for place, in_carry, mask in _blocks(code, sheet, tiling, names):
            at = in_carry + first * _name_stride(sheet, tiling)
            with code.either(sheet.index(given) >= 1) as (some, none):
                with some:
                    carry.store(sheet.reals(given).load_where(mask, place), at)
                with none:
                    carry.store(code.number(0.0, width=tiling.lanes), at)
    for _, in_carry, _ in _blocks(code, sheet, tiling, hiddens * direct):
        at = in_carry + (hiddens + kept) * _name_stride(sheet, tiling)
        carry.store(code.number(0.0, width=tiling.lanes), at)


def give_errors(code: Emitter, sheet: Sheet, tiling: Tiling) -> None:
    """Errors on the state before the first step, (names, B, H), where they are wanted."""
    with code.when(sheet.index("d_hidden0") >= 1):
        _give_errors(code, sheet, tiling)


def _give_errors(code: Emitter, sheet: Sheet, tiling: Tiling) -> None:
    hiddens, kept = sheet.index("hiddens"), sheet.index("kept")
    stride, carry = _name_stride(sheet, tiling), sheet.reals("carry")
    direct = (hiddens + kept) * stride
    for place, at, mask in _blocks(code, sheet, tiling, hiddens):
        error = code.variable(carry.load(at, width=tiling.lanes))
        with code.when(sheet.index("direct") >= 1):
            error.value = error.value + carry.load(at + direct, width=tiling.lanes)
        sheet.reals("d_hidden0").store_where(mask, error.value, place)
    for place, at, mask in _blocks(code, sheet, tiling, kept):
        value = carry.load(at + hiddens * stride, width=tiling.lanes)
        sheet.reals("d_memory0").store_where(mask, value, place)


def _name_stride(sheet: Sheet, tiling: Tiling) -> Index:
    return sheet.index("blocks") * sheet.index("rows") * tiling.block


def _places(
    code: Emitter, sheet: Sheet, names: str, block: Index
) -> Iterator[tuple[Index, Index, Index]]:
    """Loops over numbers; offsets in (names, B, H), a block of (T + 1, B, names * H), a row."""
    rows, units, first = (sheet.index(n) for n in ("rows", "units", "first_row"))
    count = sheet.index(names)
    with code.loop(count) as name, code.loop(sheet.index("end_row") - first) as k:
        row = first + k
        with code.loop(units) as unit:
            yield (
                (name * rows + row) * units + unit,
                ((block * rows + row) * count + name) * units + unit,
                name * units + unit,
            )


def _blocks(
    code: Emitter, sheet: Sheet, tiling: Tiling, names: Index
) -> Iterator[tuple[Index, Index, Mask]]:
    """Loops over vectors; offsets in (names, B, H) and blocked, and the units that exist."""
    rows, units, first = (sheet.index(n) for n in ("rows", "units", "first_row"))
    blocks = sheet.index("blocks")
    with code.loop(names) as name, code.loop(blocks) as b:
        with code.loop(sheet.index("end_row") - first) as k:
            row = first + k
            for start in range(0, tiling.block, tiling.lanes):
                unit = b * tiling.block + start
                mask = code.lane_numbers(tiling.lanes, unit) < units
                in_block = ((name * blocks + b) * rows + row) * tiling.block + start
                yield (name * rows + row) * units + unit, in_block, mask
