"""Packed arrays of a network, and the frame that tells code where they lie.

The last axis of every array is the learner: one for a learner on its own, whose units are the
lanes of vectors; as many as a vector has lanes where learners lie side by side.
"""

from __future__ import annotations

import numpy as np

from tidegate.kernels.engine import Mark
from tidegate.kernels.online.frame import Frame
from tidegate.kernels.online.layer_code import varying_slopes
from tidegate.kernels.online.layout import Layout
from tidegate.kernels.plan import Array, LayerPlan, State
from tidegate.kernels.reference import Online

__all__ = ["Machine"]

_ALIGNMENT = 64


class Machine:
    """The state of learners of one shape as code sees it.

    Args:
        online: what learns.
        layout: where everything lies.
        learners: side by side; more than one only where ``layout.lanes`` is 1.
        dtype: of all numbers.
        kept: arrays kept beside the weights: moments and average; none for frozen networks.

    Attributes:
        frame: what code is told.
        weights: (1 + kept, places, learners); traces, memory, hidden: (places, learners).
    """

    def __init__(
        self,
        online: Online,
        layout: Layout,
        learners: int,
        dtype: np.dtype[np.floating],
        kept: int,
    ) -> None:
        self.online, self.plan, self.layout = online, online.plan, layout
        self.learners, self.dtype = learners, dtype
        self.targets = online.loss.targets(self.plan.outputs)
        self.frame = Frame(len(self.plan.layers))
        self.weights = self._array((1 + kept) * layout.weights.size).reshape(1 + kept, -1, learners)
        self.traces = self._array(layout.traces.size)
        self.memory = self._array(layout.memory.size)
        self.hidden = self._array(layout.hidden.size)
        self._start = self._start_memory()
        self._point_readout()
        self._point_layers()
        self._set_sizes()

    def restore(self, state: State, learner: int = 0) -> None:
        """Pack a state: of moments and average as many as are kept."""
        layout = self.layout
        averages = [state.average] if state.average.size else []
        arrays = [state.weights, *state.moments, *averages]
        for places, array in zip(self.weights, arrays, strict=False):
            layout.weights.pack(array, places[:, learner])
        layout.traces.pack(state.traces, self.traces[:, learner])
        self.memory[:, learner] = self._start
        layout.memory.pack(state.memory, self.memory[:, learner])
        layout.hidden.pack(state.hidden, self.hidden[:, learner])

    def state(self, steps: int, updates: int, learner: int = 0) -> State:
        """The state of one learner, unpacked."""
        layout, moments = self.layout, len(self.online.optimiser.moments)
        weights = layout.weights.unpack(self.weights[..., learner])
        average = weights[1 + moments :].reshape(-1)
        return State(
            weights=weights[0].copy(),
            moments=weights[1 : 1 + moments].copy(),
            average=average.copy(),
            traces=layout.traces.unpack(self.traces[:, learner]),
            memory=layout.memory.unpack(self.memory[:, learner]),
            hidden=layout.hidden.unpack(self.hidden[:, learner]),
            counts=np.array([steps, updates], np.int64),
        )

    def mark(self, steps: int, updates: int) -> Mark:
        """All arrays as they are."""
        weights, traces = self.weights.copy(), self.traces.copy()
        return Mark(weights, traces, self.memory.copy(), self.hidden.copy(), steps, updates)

    def rewind(self, mark: Mark) -> None:
        """Arrays of a ``mark``: of what is kept beside the weights, as much as is kept here."""
        self.weights[...] = mark.weights[: len(self.weights)]
        self.traces[...] = mark.traces
        self.memory[...], self.hidden[...] = mark.memory, mark.hidden

    def forget(self) -> None:
        """Memories to their start values, hidden values and traces to 0."""
        self.traces[...] = 0
        self.hidden[...] = 0
        self.memory[...] = self._start[:, None]

    def _start_memory(self) -> Array:
        """(places,) start values of memories, in padded lanes as well."""
        found = np.zeros(self.layout.memory.size, self.dtype)
        for n, layer in enumerate(self.plan.layers):
            names, start = layer.equations.memory, self.layout.memory_start(n)
            size = len(names) * self.layout.padded_units(n)
            vectors = found[start : start + size].reshape(-1, self.layout.lanes)
            for k, name in enumerate(names):
                vectors[k :: len(names)] = layer.equations.cell.start.get(name, 0.0)
        return found

    def _array(self, places: int) -> Array:
        """Zeros (places, learners) that start on a cache line."""
        size = places * self.learners * self.dtype.itemsize
        raw = np.zeros(size + _ALIGNMENT, np.uint8)
        start = -raw.ctypes.data % _ALIGNMENT
        return raw[start : start + size].view(self.dtype).reshape(places, self.learners)

    def _point(self, name: str, array: Array, place: int = 0) -> None:
        self.frame.point(name, array, place * self.learners)

    def _point_readout(self) -> None:
        """The readout's features are the top layer's new hidden values and, after them, a tail."""
        layout, plan = self.layout, self.plan
        hidden = layout.hidden.size
        self._features = self._array(hidden + layout.features - layout.hidden_features)
        self._features[hidden + layout.direct_inputs] = 1
        self._point("features", self._features, hidden - layout.hidden_features)
        padded = -(-(plan.inputs + 1) // layout.lanes) * layout.lanes
        if plan.direct:
            self._point("seen", self._features, hidden)
        else:
            self._point("seen", self._array(padded))
        self._point("readout", self.weights, layout.weights_start(len(plan.layers)))
        self._point("readout_error", self._array(layout.features))
        outputs = layout.groups * layout.group + 2 * max(layout.lanes, layout.group)
        for name in ("logits", "powers", "delta"):
            self._point(name, self._array(outputs))

    def _point_layers(self) -> None:
        new_memory = self._array(self.layout.memory.size)
        for n, layer in enumerate(self.plan.layers):
            self._point_layer(n, layer, new_memory)

    def _point_layer(self, n: int, layer: LayerPlan, new_memory: Array) -> None:
        layout, eq, frame = self.layout, layer.equations, self.frame
        padded, prefix = layout.padded_units(n), f"layer{n}."
        self._point(prefix + "weights", self.weights, layout.weights_start(n))
        self._point(prefix + "traces", self.traces, layout.traces_start(n))
        for name, array in (("memory", self.memory), ("new_memory", new_memory)):
            self._point(prefix + name, array, layout.memory_start(n))
        for name, array in (("hidden", self.hidden), ("new_hidden", self._features)):
            self._point(prefix + name, array, layout.hidden_start(n))
        self._point(prefix + "net", self._array(padded * len(eq.fed_by("hidden"))))
        self._point(prefix + "slopes", self._array(padded * len(varying_slopes(eq))))
        self._point(prefix + "immediate", self._array(layer.inputs * layout.lanes))
        if n + 1 < len(self.plan.layers):
            self._point(prefix + "error", self._array(padded * len(eq.hidden)))
        else:
            frame[prefix + "error"] = frame["readout_error"]
        frame[prefix + "units"] = layer.units
        frame[prefix + "blocks"] = layout.blocks(n)
        frame[prefix + "weights_block"] = layout.block_size(layer.weights()) * self.learners
        frame[prefix + "traces_block"] = layout.block_size(layer.traces()) * self.learners

    def _set_sizes(self) -> None:
        frame, layout, plan = self.frame, self.layout, self.plan
        frame["inputs"], frame["outputs"] = plan.inputs, plan.outputs
        frame["input_blocks"] = -(-(plan.inputs + 1) // layout.lanes)
        frame["targets"], frame["groups"] = self.targets, layout.groups
        frame["feature_blocks"] = layout.features // layout.lanes
        frame["stride"] = layout.weights.size * self.learners
        frame.set_double("clip", self.online.clip)
