"""Slots that are normalised over the units of a row, and the errors on what they were before.

Ba, Kiros & Hinton, "Layer Normalization" (2016), equation 4 without gain and shift, which are
parameters of the units.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tidegate.kernels.batch.lane import BACK, STEP, CellParts, Lane, rows_of, units_of
from tidegate.kernels.batch.sheet import Sheet
from tidegate.kernels.batch.step import VARIANCE_FLOOR
from tidegate.kernels.code.calls import Kinds
from tidegate.kernels.code.emit import Emitter, Index
from tidegate.kernels.code.functions import sqrt
from tidegate.kernels.code.vector import LLVM, Vector

__all__ = ["write_norms"]


def write_norms(module: LLVM, parts: CellParts) -> None:
    """Add what a cell needs of ``normalise_first`` and ``_second``, and of the ways back.

    Slots of the second products come second; forward they wait for the others, back they are
    first.
    """
    second, normalised = parts.plan.second, parts.plan.equations.normalised
    for slots, name in (
        ([s for s in normalised if s not in second], "first"),
        ([s for s in normalised if s in second], "second"),
    ):
        if slots:
            _function(module, parts, f"normalise_{name}", STEP, slots, _Row.normalise)
            _function(module, parts, f"normalise_back_{name}", BACK, slots, _Row.back)


def _function(
    module: LLVM, parts: CellParts, name: str, kinds: Kinds, slots: list[str],
    write: Callable[[_Row, str], None],
) -> None:  # fmt: skip
    code = Emitter(module, name, kinds, parts.precision)
    said = dict(zip(kinds, code.arguments, strict=True))
    sheet = Sheet(code, said["sheet"])
    for index in rows_of(code, sheet):
        row = _Row(code, said, parts, sheet, index)
        for slot in slots:
            write(row, slot)
    code.finish()


class _Row:
    """All units of one row at one step."""

    def __init__(
        self, code: Emitter, said: Mapping[str, Index], parts: CellParts, sheet: Sheet, row: Index
    ) -> None:
        self.code, self.said, self.parts, self.sheet, self.row = code, said, parts, sheet, row

    def each(self, write: Callable[[Lane], None]) -> None:
        """Write code for all units."""
        for lane in units_of(self.code, self.said, self.parts, self.sheet, self.row):
            write(lane)

    def mean(self, of: Callable[[Lane], Vector]) -> Vector:
        """The mean over units, as width 1."""
        total = self.code.variable(self.code.number(0.0, width=self.parts.tiling.lanes))

        def add(lane: Lane) -> None:
            value = of(lane)
            total.value = total.value + (
                value if lane.mask is None else lane.mask.select(value, 0.0)
            )

        self.each(add)
        return total.value.total() / self.sheet.index("units").real(self.parts.precision)

    def normalise(self, slot: str) -> None:
        """Mean 0 and variance 1; 1 / standard deviation is kept for the way back."""
        normal, saved = self.sheet.reals("normal"), self.sheet.reals("saved")
        mean = self.mean(lambda lane: lane.net(slot))

        def centred(lane: Lane) -> Vector:
            return lane.net(slot) - mean

        def squared(lane: Lane) -> Vector:
            difference = centred(lane)
            return difference * difference

        spread = 1.0 / sqrt(self.mean(squared) + VARIANCE_FLOOR)
        self.each(
            lambda lane: lane.store_blocked(normal, centred(lane) * spread, lane.normal(slot))
        )
        with self.code.when(self.sheet.index("keep") >= 1):
            first = Lane(
                self.code, self.said, self.parts, self.sheet, self.row, self.code.index(0),
                self.code.index(0), None,
            )  # fmt: skip
            saved.store(spread, first.spread(slot))

    def back(self, slot: str) -> None:
        """Errors in the ring become those on what was normalised."""
        ring, saved = self.sheet.reals("ring"), self.sheet.reals("saved")
        plan, width = self.parts.plan, self.parts.tiling.lanes
        source, value = plan.sources.index(f"z.{slot}"), list(plan.saved).index(f"z.{slot}")
        rows = self.sheet.index("saved_rows")

        def error(lane: Lane) -> Vector:
            return ring.load(lane.ring(source), width=width)

        def normal(lane: Lane) -> Vector:
            return lane.load(saved, lane.at_time("time", rows, value))

        mean, along = self.mean(error), self.mean(lambda lane: error(lane) * normal(lane))
        first = Lane(
            self.code, self.said, self.parts, self.sheet, self.row, self.code.index(0),
            self.code.index(0), None,
        )  # fmt: skip
        spread = saved.load(first.spread(slot))
        self.each(
            lambda lane: lane.store_blocked(
                ring, (error(lane) - mean - normal(lane) * along) * spread, lane.ring(source)
            )
        )
