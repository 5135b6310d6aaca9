"""Where everything lies in the packed state of a compiled learner.

Units are the lanes of vectors: a layer is *blocks* of as many units as a vector has lanes, the
last one padded. Per block lie, row after row and one vector per slot, the hidden rows, the input
rows, the biases and the per-unit parameters; so one pass over memory meets all that a block needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np
from numpy.typing import NDArray

from tidegate.kernels.plan import ZONES, Array, LayerPlan, Plan

__all__ = ["Layout", "Packing", "outputs_per_group"]

LARGEST_GROUP = 8
"""Outputs whose sums are made together: as many accumulators stay in registers."""


def outputs_per_group(outputs: int) -> int:
    """Outputs per group of the readout, so that the groups are even.

    >>> [outputs_per_group(n) for n in (1, 7, 8, 9, 17)]
    [1, 7, 8, 5, 6]
    """
    return ceil(outputs / ceil(outputs / LARGEST_GROUP))


@dataclass(frozen=True)
class Packing:
    """One flat array packed: where each logical number lies, and how many places there are.

    Attributes:
        places: (logical size,) positions in the packed array.
        size: of the packed array; the places nobody names are padding.
    """

    places: NDArray[np.int64]
    size: int

    def pack(self, logical: Array, into: Array) -> None:
        """Write ``logical`` (..., logical size) to its places in ``into`` (..., size)."""
        into[..., self.places] = logical

    def unpack(self, packed: Array) -> Array:
        """The logical numbers of ``packed`` (..., size), copied."""
        return np.asarray(packed[..., self.places])


@dataclass(frozen=True)
class Layout:
    """The packed places of a plan's weights, traces, memories and hidden values.

    Attributes:
        plan: the network.
        lanes: units per block.
        group: outputs per group of the readout.

    >>> from tidegate.learn import Network
    >>> layout = Layout(Network(inputs=2, outputs=3, cell="lstm", units=5).plan, 4, 3)
    >>> layout.blocks(0), layout.weights.size, layout.hidden.places
    (2, 292, array([0, 1, 2, 3, 4]))
    """

    plan: Plan
    lanes: int
    group: int

    def blocks(self, n: int) -> int:
        """Blocks of layer ``n``."""
        return ceil(self.plan.layers[n].units / self.lanes)

    def padded_units(self, n: int) -> int:
        """Lanes of all blocks of layer ``n``."""
        return self.blocks(n) * self.lanes

    @property
    def groups(self) -> int:
        """Groups of outputs."""
        return ceil(self.plan.outputs / self.group)

    @property
    def direct_inputs(self) -> int:
        """Inputs that the readout sees."""
        return self.plan.inputs if self.plan.direct else 0

    @property
    def hidden_features(self) -> int:
        """Places of the top layer's hidden values among the readout's features."""
        top = len(self.plan.layers) - 1
        return len(self.plan.layers[top].equations.hidden) * self.padded_units(top)

    @property
    def features(self) -> int:
        """Places of hidden values, inputs and the constant 1 that the readout multiplies."""
        tail = ceil((self.direct_inputs + 1) / self.lanes) * self.lanes
        return self.hidden_features + tail

    def weights_start(self, n: int) -> int:
        """Where layer ``n`` starts; for n = number of layers, the readout."""
        return sum(self._layer_size(k, la.weights()) for k, la in enumerate(self.plan.layers[:n]))

    def traces_start(self, n: int) -> int:
        """Where the traces of layer ``n`` start."""
        return sum(self._layer_size(k, la.traces()) for k, la in enumerate(self.plan.layers[:n]))

    def memory_start(self, n: int) -> int:
        """Where the memories of layer ``n`` start."""
        return sum(
            len(la.equations.memory) * self.padded_units(k)
            for k, la in enumerate(self.plan.layers[:n])
        )

    def hidden_start(self, n: int) -> int:
        """Where the hidden values of layer ``n`` start."""
        return sum(
            len(la.equations.hidden) * self.padded_units(k)
            for k, la in enumerate(self.plan.layers[:n])
        )

    @cached_property
    def weights(self) -> Packing:
        """Of weights, moments and average."""
        layers = [la.weights() for la in self.plan.layers]
        places = [self._layer(n, w, self.weights_start(n)) for n, w in enumerate(layers)]
        start = self.weights_start(len(layers))
        size = start + self.groups * self.group * self.features
        return Packing(np.concatenate([*places, self._readout(start)]), size)

    @cached_property
    def traces(self) -> Packing:
        """Of eligibility traces."""
        layers = [la.traces() for la in self.plan.layers]
        places = [self._layer(n, e, self.traces_start(n)) for n, e in enumerate(layers)]
        return Packing(np.concatenate(places), self.traces_start(len(layers)))

    @cached_property
    def memory(self) -> Packing:
        """Of memories: [blocks][memories][lanes]."""
        places = [
            self._vectors(n, 1, len(la.equations.memory)) + self.memory_start(n)
            for n, la in enumerate(self.plan.layers)
        ]
        flat = [place.reshape(-1) for place in places]
        return Packing(np.concatenate(flat), self.memory_start(len(flat)))

    @cached_property
    def hidden(self) -> Packing:
        """Of hidden values: [hidden names][blocks x lanes]."""
        places = [
            (self._hidden_places(n, la) + self.hidden_start(n)).reshape(-1)
            for n, la in enumerate(self.plan.layers)
        ]
        return Packing(np.concatenate(places), self.hidden_start(len(places)))

    def block_size(self, shapes: dict[str, tuple[int, ...]]) -> int:
        """Numbers of one block, for the shapes of a layer's weights or traces by zone."""
        return sum(int(np.prod(shape[:-1])) for shape in shapes.values()) * self.lanes

    def _layer_size(self, n: int, shapes: dict[str, tuple[int, ...]]) -> int:
        return self.blocks(n) * self.block_size(shapes)

    def _layer(self, n: int, shapes: dict[str, tuple[int, ...]], start: int) -> NDArray[np.int64]:
        block, within = self.block_size(shapes), 0
        places = []
        for zone in (*ZONES, "unit"):
            rows, kinds = (1, shapes[zone][0]) if zone == "unit" else shapes[zone][:2]
            vectors = self._vectors(n, rows, kinds, block) + start + within
            places.append(vectors.reshape(-1))
            within += rows * kinds * self.lanes
        return np.concatenate(places)

    def _vectors(
        self, n: int, rows: int, kinds: int, block: int | None = None
    ) -> NDArray[np.int64]:
        """Places (rows, kinds, units) of vectors, row by row in blocks of size ``block``."""
        unit = np.arange(self.plan.layers[n].units)
        size = rows * kinds * self.lanes if block is None else block
        vector = np.arange(rows * kinds).reshape(rows, kinds, 1) * self.lanes
        return np.asarray(vector + unit // self.lanes * size + unit % self.lanes)

    def _hidden_places(self, n: int, layer: LayerPlan) -> NDArray[np.int64]:
        names = np.arange(len(layer.equations.hidden))[:, None]
        return np.asarray(names * self.padded_units(n) + np.arange(layer.units))

    def _readout(self, start: int) -> NDArray[np.int64]:
        """[groups][feature blocks][outputs of a group][lanes]."""
        top = len(self.plan.layers) - 1
        hidden = self._hidden_places(top, self.plan.layers[top]).reshape(-1)
        tail = self.hidden_features + np.arange(self.direct_inputs + 1)
        feature = np.concatenate([hidden, tail])[:, None]
        output = np.arange(self.plan.outputs)
        block = output // self.group * (self.features // self.lanes) + feature // self.lanes
        vector = block * self.group + output % self.group
        return np.asarray(start + vector * self.lanes + feature % self.lanes).reshape(-1)
