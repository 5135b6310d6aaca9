"""Some units of one row at one step: what loads and stores mean there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from tidegate.calculus.graph import Node
from tidegate.kernels.batch.cell_plan import CellPlan
from tidegate.kernels.batch.sheet import Sheet
from tidegate.kernels.code.calls import Kinds, prefetch
from tidegate.kernels.code.emit import Emitter, Index, Reals, Words
from tidegate.kernels.code.tiles import Tiling
from tidegate.kernels.code.vector import Mask, Precision, Vector

__all__ = ["BACK", "STEP", "CellParts", "Lane", "rows_of", "units_of"]

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


@dataclass(frozen=True)
class CellParts:
    """What the code of a cell is written from."""

    plan: CellPlan
    precision: Precision
    tiling: Tiling


class Lane:
    """Some units of one row at one step: what loads and stores mean there.

    Attributes:
        unit: number of the first unit. mask: the units that exist, or nothing where all do.
    """

    def __init__(
        self, code: Emitter, said: Mapping[str, Index], parts: CellParts, sheet: Sheet,
        row: Index, block: Index, start: Index, mask: Mask | None,
    ) -> None:  # fmt: skip
        self.code, self.said, self.parts, self.sheet = code, said, parts, sheet
        self.plan, self.equations = parts.plan, parts.plan.equations
        self.row, self.block, self.start, self.mask = row, block, start, mask
        self.width = parts.tiling.lanes
        self.unit = block * parts.tiling.block + start

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

    def fetch(
        self, array: str, time: str, count: int, *, write: bool, stride: Index | int | None = None
    ) -> None:
        """Fetch what the next step will want of this row: ``count`` names of ``stride``."""
        every = count if stride is None else stride
        step = self.said["after"] - self.said["before"]
        later = step * self.sheet.index("rows") * every * self.sheet.index("units")
        for number in range(count):
            place = self.at_time(time, every, number) + later
            prefetch(self.sheet.reals(array), place, write=write)

    def at_time(self, time: str, count: int | Index, number: int | Index) -> Index:
        """Offset in (T, B, count, H)."""
        return self._at(self.said[time], count, number)

    def in_block(self, array: str, time: str, count: int, number: int) -> Index:
        """Offset in ``state`` or ``memory``."""
        return self._at(self.sheet.block(array, self.said[time]), count, number)

    def _at(self, time: Index, count: int | Index, number: int | Index) -> Index:
        row = time * self.sheet.index("rows") + self.row
        return (row * count + number) * self.sheet.index("units") + self.unit

    def blocked(self, number: Index, stride: Index, row: Index) -> Index:
        """Offset in a blocked array."""
        return number * stride + row * self.parts.tiling.block + self.start

    def padded(self, name: str, number: int) -> Vector:
        """Units of an array (names, blocks, block)."""
        blocks = self.sheet.index("blocks")
        offset = (blocks * number + self.block) * self.parts.tiling.block + self.start
        return self.sheet.reals(name).load(offset, width=self.width)

    def past(self, name: str) -> Vector:
        """A memory or hidden value of the step before."""
        kept, hidden = self.plan.kept, tuple(self.equations.hidden)
        array, names = ("memory", kept) if name in kept else ("state", hidden)
        offset = self.in_block(array, "before", len(names), names.index(name))
        return self.load(self.sheet.reals(array), offset)

    def leaves(self) -> dict[Node, Vector]:
        """Memories and parameters."""
        eq = self.equations
        known = {eq.leaves[f"past.{m}"]: self.past(m) for m in eq.memory}
        for n, name in enumerate(eq.parameters):
            known[eq.leaves[f"par.{name}"]] = self.padded("unit", n)
        return known

    def slot(self, name: str) -> Vector:
        """A pre-activation as the equations see it."""
        if name not in self.equations.normalised:
            return self.net(name)
        return self.sheet.reals("normal").load(self.normal(name), width=self.width)

    def normal(self, name: str) -> Index:
        """Offset in the normalised slots of a step."""
        number = self.sheet.index("blocks") * self.equations.normalised.index(name) + self.block
        return self.blocked(number, self.sheet.index("rows") * self.parts.tiling.block, self.row)

    def spread(self, name: str) -> Index:
        """Offset of 1 / standard deviation of a normalised slot, kept behind the saved values."""
        rows = self.sheet.index("saved_rows")
        here = self.said["time"] * self.sheet.index("rows") + self.row
        behind = (here * rows + len(self.plan.saved)) * self.sheet.index("units")
        return behind + self.equations.normalised.index(name)

    def net(self, name: str) -> Vector:
        """A pre-activation from its products and its bias."""
        plan, eq, said = self.plan, self.equations, self.said
        block = self.parts.tiling.block
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
            node: self.load(place, self.at_time("time", self.sheet.index("saved_rows"), n))
            for n, node in enumerate(names.values())
        }

    def carried(self, number: int) -> Index:
        """Offset in the errors on the step before: hidden values, kept memories, direct paths."""
        blocks = self.sheet.index("blocks")
        stride = self.sheet.index("rows") * self.parts.tiling.block
        return self.blocked(blocks * number + self.block, stride, self.row)

    def ring(self, number: int) -> Index:
        """Offset in the errors on sources."""
        blocks, row = self.sheet.index("blocks"), self.said["ring_row"] + self.row
        return self.blocked(blocks * number + self.block, self.sheet.index("ring_stride"), row)

    def store_blocked(self, place: Reals, value: Vector, offset: Index) -> None:
        """Padding becomes 0, whatever was computed in it."""
        place.store(value if self.mask is None else self.mask.select(value, 0.0), offset)


def rows_of(code: Emitter, sheet: Sheet) -> Iterator[Index]:
    """A loop over the rows of a thread."""
    first = sheet.index("first_row")
    with code.loop(sheet.index("end_row") - first) as k:
        yield first + k


def units_of(
    code: Emitter, said: Mapping[str, Index], parts: CellParts, sheet: Sheet, row: Index
) -> Iterator[Lane]:
    """Loops over the units of a row; yields where a body is written: whole vectors, the rest."""
    first = said.get("first_block", code.index(0))
    end = said.get("end_block", sheet.index("blocks"))
    block, lanes = parts.tiling.block, parts.tiling.lanes
    whole = sheet.index("units") // block
    full = Index(code.builder, code.builder.select((end < whole).raw, end.raw, whole.raw))
    with code.loop(full - first) as j:
        with _vectors(code, block // lanes, lanes) as start:
            yield Lane(code, said, parts, sheet, row, first + j, start, None)
    with code.when(full < end):
        with _vectors(code, block // lanes, lanes) as start:
            left = sheet.index("units") - full * block
            mask = code.lane_numbers(lanes, start) < left
            yield Lane(code, said, parts, sheet, row, full, start, mask)


@contextmanager
def _vectors(code: Emitter, vectors: int, lanes: int) -> Iterator[Index]:
    if vectors == 1:
        yield code.index(0)
    else:
        with code.loop(vectors) as part:
            yield part * lanes
