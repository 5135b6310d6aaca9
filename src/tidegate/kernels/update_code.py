"""An optimiser's equations as code: one vector of weights, its moments, its average."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from tidegate.kernels.emit import Emitter, Index, Reals
from tidegate.kernels.frame import FrameCode
from tidegate.kernels.plan import Optimiser
from tidegate.kernels.vector import Vector

__all__ = ["UpdateCode", "coefficient_names"]


def coefficient_names(optimiser: Optimiser) -> tuple[str, ...]:
    """What a row of the table of coefficients holds, in order."""
    return tuple(optimiser.coefficients(np.zeros(1, np.int64)))


class UpdateCode:
    """The update of this step: coefficients are read once, then weights are updated by vectors.

    Moments, and the average as the last, lie ``stride`` numbers after the weights and each other.
    """

    def __init__(
        self, code: Emitter, frame: FrameCode, optimiser: Optimiser, averaging: bool, lanes: int
    ) -> None:
        self._optimiser, self._averaging = optimiser, averaging
        self._stride = frame.size("stride")
        names = coefficient_names(optimiser)
        row = frame.count("updates") - frame.size("first_update")
        table = frame.reals("table").at(row * (len(names) + averaging))
        self._coefficients = {name: table.load(k).spread(lanes) for k, name in enumerate(names)}
        if averaging:
            self._share = table.load(len(names)).spread(lanes)

    def __call__(
        self, place: Reals, offset: Index | int, weight: Vector, gradient: Vector
    ) -> Vector:
        """Store and return the new value of the ``weight`` that lies at ``offset``."""
        kept = [place.at(self._stride * (k + 1)) for k in range(len(self._optimiser.moments))]
        moments = {
            name: array.load(offset, width=weight.width)
            for name, array in zip(self._optimiser.moments, kept, strict=True)
        }
        rule = self._optimiser.update(
            weight, gradient, SimpleNamespace(**moments), SimpleNamespace(**self._coefficients)
        )
        for name, array in zip(self._optimiser.moments, kept, strict=True):
            array.store(rule.moments[name], offset)
        place.store(rule.weight, offset)
        if self._averaging:
            self._average(place.at(self._stride * (len(kept) + 1)), offset, rule.weight)
        updated: Vector = rule.weight
        return updated

    def _average(self, place: Reals, offset: Index | int, weight: Vector) -> None:
        average = place.load(offset, width=weight.width)
        place.store(average + (weight - average) * self._share, offset)
