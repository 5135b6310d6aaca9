"""What the lanes of a vector are: the units of one learner, or as many learners side by side.

The code of layers, readout and losses is the same for both. Where lanes are units, a value that
all of them meet (an input, a hidden value, an error) is one number, spread over the lanes, and a
sum over units is a sum over lanes. Where lanes are learners, every learner has its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from tidegate.kernels.code.emit import Index, Reals
from tidegate.kernels.code.vector import Vector, totals

__all__ = ["Arrangement", "LearnerLanes", "UnitLanes"]


@dataclass(frozen=True)
class Arrangement(ABC):
    """What lanes are.

    Attributes:
        lanes: of a vector.
    """

    lanes: int

    @property
    @abstractmethod
    def each(self) -> int:
        """How many numbers a value is that all lanes meet."""

    @abstractmethod
    def total(self, vector: Vector) -> Vector:
        """The sum over units, ``each`` numbers wide."""

    @abstractmethod
    def store_totals(self, sums: list[Vector], array: Reals, first: Index) -> None:
        """Write the totals of ``sums`` as values number ``first`` and on; some more may follow."""

    def value(self, array: Reals, number: Index | int) -> Vector:
        """Value ``number`` of an array, in all lanes."""
        return array.load(number * self.each, width=self.each).spread(self.lanes)


class UnitLanes(Arrangement):
    """Lanes are units of one learner."""

    @property
    def each(self) -> int:
        return 1

    def total(self, vector: Vector) -> Vector:
        return vector.total()

    def store_totals(self, sums: list[Vector], array: Reals, first: Index) -> None:
        step = min(self.lanes, 1 << (len(sums) - 1).bit_length())
        padded = sums + [sums[0].like(0.0)] * (-len(sums) % step)
        for start in range(0, len(padded), step):
            array.store(totals(padded[start : start + step]), first + start)


class LearnerLanes(Arrangement):
    """Lanes are learners."""

    @property
    def each(self) -> int:
        return self.lanes

    def total(self, vector: Vector) -> Vector:
        return vector

    def store_totals(self, sums: list[Vector], array: Reals, first: Index) -> None:
        for n, vector in enumerate(sums):
            array.store(vector, (first + n) * self.lanes)
