"""A network: layers of any cell, and a readout that may also see the input itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tidegate import cells
from tidegate._core.errors import UsageError
from tidegate.calculus import derive
from tidegate.cells import Cell
from tidegate.kernels.plan import Array, LayerPlan, Plan

__all__ = ["Network"]


@dataclass(frozen=True)
class Network:
    """One or more layers of gated cells and a linear readout.

    Every layer sees the layer below (the lowest: the input), its own hidden values of the step
    before, and a bias. The readout sees the top layer and, with ``direct``, the input.

    Args:
        inputs: size of the input vector x.
        outputs: size of the readout (logits).
        cell: a cell, its name, or one of these for every layer.
        units: units of the layer, or of every layer from the input to the readout.
        direct: whether the readout sees x itself.
        scale: weights start uniform in [-scale, scale]; biases start at 0 or as the cell says.

    Raises:
        UsageError: a size is not a whole number of at least 1, there is no such cell, cells and
            units do not match in number, or the scale is negative or not finite.

    >>> network = Network(inputs=7, outputs=7, cell="lstm", units=(16, 8))
    >>> [layer.units for layer in network.plan.layers], network.plan.weights.size
    ([16, 8], 2448)
    """

    inputs: int
    outputs: int
    cell: str | Cell | Sequence[str | Cell] = "lstm"
    units: int | Sequence[int] = 32
    direct: bool = True
    scale: float = 0.2

    def __post_init__(self) -> None:
        for name in ("inputs", "outputs"):
            _check_size(name, getattr(self, name))
        if not 0 <= self.scale < float("inf"):
            raise UsageError("Network scale", "at least 0", repr(self.scale), "Try scale=0.2.")
        self.plan  # noqa: B018  (an impossible network is refused when it is made)

    @cached_property
    def plan(self) -> Plan:
        """The network as kernels see it."""
        units = tuple(self.units) if isinstance(self.units, Sequence) else (self.units,)
        layers: list[LayerPlan] = []
        below = self.inputs
        for cell, count in zip(self._cells(len(units)), units, strict=True):
            _check_size("units", count)
            layers.append(LayerPlan(derive(cell), count, below))
            below = layers[-1].outputs
        return Plan(tuple(layers), self.inputs, self.outputs, self.direct)

    def initial(self, seed: int) -> Array:
        """Start weights (weights,), float64, the same for the same seed everywhere."""
        rng = np.random.default_rng(seed)
        flat = np.zeros(self.plan.weights.size)
        for name, view in self.plan.weights.views(flat).items():
            if not name.endswith((".bias", ".unit")):
                view[...] = rng.uniform(-self.scale, self.scale, view.shape)
        views = self.plan.weights.views(flat)
        for n, layer in enumerate(self.plan.layers):
            cell = layer.equations.cell
            for slot, law in cell.biases().items():
                bias = views[f"layer{n}.bias"][0, layer.equations.fed_by("bias").index(slot)]
                bias[...] = law(rng, layer.units)
            for row, law in zip(views[f"layer{n}.unit"], cell.parameters.values(), strict=True):
                row[...] = law(rng, layer.units)
        return flat

    def _cells(self, layers: int) -> list[Cell]:
        if layers == 0:
            raise UsageError("Network", "at least one layer", "units=()", "Try units=32.")
        given: list[object] = [self.cell] * layers
        if isinstance(self.cell, Sequence) and not isinstance(self.cell, str):
            given = list(self.cell)
        if len(given) != layers:
            raise UsageError(
                "Network",
                "as many cells as units",
                f"{len(given)} cells and {layers} sizes",
                "Give one cell for all layers, or one for each.",
            )
        return [_cell(c) for c in given]


def _cell(given: object) -> Cell:
    if isinstance(given, str):
        return cells.named(given, "Network")
    if not isinstance(given, Cell):
        raise UsageError("Network cell", "a cell or its name", repr(given), 'Try cell="lstm".')
    return given


def _check_size(name: str, size: int) -> None:
    if not isinstance(size, int | np.integer) or size < 1:
        raise UsageError(
            f"Network {name}", "a whole number of at least 1", repr(size), f"Try {name}=8."
        )
