"""The engines on machine code: they own packed arrays, and a frame that tells where they lie."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tidegate.kernels import jit
from tidegate.kernels.cpu import Target, host
from tidegate.kernels.engine import Engine, FrozenEngine
from tidegate.kernels.frame import Frame
from tidegate.kernels.layer_code import varying_slopes
from tidegate.kernels.layout import Layout, outputs_per_group
from tidegate.kernels.online_code import FUNCTIONS, OnlineCode
from tidegate.kernels.plan import Array, LayerPlan, SharedLoss, State
from tidegate.kernels.recipe import recipe
from tidegate.kernels.reference import Online
from tidegate.kernels.update_code import coefficient_names
from tidegate.kernels.vector import DOUBLE, SINGLE

__all__ = ["CompiledEngine", "CompiledFrozen"]

_ALIGNMENT = 64
_TABLE = 1024
"""Updates whose coefficients are computed at once, from a multiple of it on."""

Function = Callable[[int], None]


def _zeros(size: int, dtype: np.dtype[np.floating]) -> Array:
    """Zeros that start on a cache line."""
    raw = np.zeros(size * dtype.itemsize + _ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % _ALIGNMENT
    return raw[start : start + size * dtype.itemsize].view(dtype)


class _Machine:
    """Packed arrays of one network, the frame that names them, and the code that moves them."""

    def __init__(
        self, online: Online, dtype: np.dtype[np.floating], target: Target, kept: int
    ) -> None:
        plan = online.plan
        precision = SINGLE if dtype == np.float32 else DOUBLE
        units = max(layer.units for layer in plan.layers)
        lanes = target.width(precision, units)
        group = outputs_per_group(plan.outputs)
        self.online, self.plan, self.dtype = online, plan, dtype
        self.layout = Layout(plan, lanes, group)
        cells = tuple(layer.equations for layer in plan.layers)
        averaging = online.averaging is not None
        self.code = OnlineCode(
            cells, online.loss, online.optimiser, averaging, precision, lanes, group
        )
        names = "-".join(type(eq.cell).__name__.lower() for eq in cells)
        library = jit.library(names, recipe(self.code), lambda: self.code.text(target), target)
        functions = [library.function(name, ctypes.c_void_p) for name in FUNCTIONS]
        self.learn, self.predict, self.frozen, self.project = functions
        self.frame = Frame(len(plan.layers))
        self._allocate(kept)
        self._set_sizes()

    @cached_property
    def targets(self) -> int:
        """Target values of a step."""
        return self.online.loss.targets(self.plan.outputs)

    def _allocate(self, kept: int) -> None:
        layout, lanes = self.layout, self.layout.lanes
        self.weights = self._array((1 + kept) * layout.weights.size).reshape(1 + kept, -1)
        self.traces = self._array(layout.traces.size)
        self.memory, new_memory = self._array(layout.memory.size), self._array(layout.memory.size)
        self.hidden, new_hidden = self._array(layout.hidden.size), self._array(layout.hidden.size)
        # The readout's features are the top layer's new hidden values and, right after, a tail.
        tail = layout.features - layout.hidden_features
        features = self._array(new_hidden.size + tail)
        features[new_hidden.size + layout.direct_inputs] = 1
        inputs = -(-(self.plan.inputs + 1) // lanes) * lanes
        self.frame.point("readout", self.weights, layout.weights_start(len(self.plan.layers)))
        self.frame.point("features", features, new_hidden.size - layout.hidden_features)
        if self.plan.direct:
            self.frame.point("seen", features, new_hidden.size)
        else:
            self.frame.point("seen", self._array(inputs))
        self.frame.point("readout_error", self._array(layout.features))
        outputs = layout.groups * layout.group + 2 * max(lanes, 8)
        for name in ("logits", "powers", "delta"):
            self.frame.point(name, self._array(outputs))
        for n, layer in enumerate(self.plan.layers):
            self._point_layer(n, layer, new_memory, features)

    def _point_layer(self, n: int, layer: LayerPlan, new_memory: Array, new_hidden: Array) -> None:
        layout, eq, frame = self.layout, layer.equations, self.frame
        padded, prefix = layout.padded_units(n), f"layer{n}."
        frame.point(prefix + "weights", self.weights, layout.weights_start(n))
        frame.point(prefix + "traces", self.traces, layout.traces_start(n))
        for name, array in (("memory", self.memory), ("new_memory", new_memory)):
            frame.point(prefix + name, array, layout.memory_start(n))
        for name, array in (("hidden", self.hidden), ("new_hidden", new_hidden)):
            frame.point(prefix + name, array, layout.hidden_start(n))
        frame.point(prefix + "net", self._array(padded * len(eq.fed_by("hidden"))))
        frame.point(prefix + "slopes", self._array(padded * len(varying_slopes(eq))))
        frame.point(prefix + "immediate", self._array(layer.inputs * layout.lanes))
        if n + 1 < len(self.plan.layers):
            frame.point(prefix + "error", self._array(padded * len(eq.hidden)))
        else:
            frame[prefix + "error"] = frame["readout_error"]
        frame[prefix + "units"] = layer.units
        frame[prefix + "blocks"] = layout.blocks(n)
        frame[prefix + "weights_block"] = layout.block_size(layer.weights())
        frame[prefix + "traces_block"] = layout.block_size(layer.traces())

    def _set_sizes(self) -> None:
        frame, layout, plan = self.frame, self.layout, self.plan
        frame["inputs"], frame["outputs"] = plan.inputs, plan.outputs
        frame["input_blocks"] = -(-(plan.inputs + 1) // layout.lanes)
        frame["targets"], frame["groups"] = self.targets, layout.groups
        frame["feature_blocks"] = layout.features // layout.lanes
        frame["stride"] = layout.weights.size
        frame.set_double("clip", self.online.clip)

    def _array(self, size: int) -> Array:
        return _zeros(size, self.dtype)

    def restore(self, state: State) -> None:
        """Pack a state: of moments and average as many as are kept."""
        layout = self.layout
        averages = [state.average] if state.average.size else []
        for row, array in zip(
            self.weights, [state.weights, *state.moments, *averages], strict=False
        ):
            layout.weights.pack(array, row)
        layout.traces.pack(state.traces, self.traces)
        self._start_memory()
        layout.memory.pack(state.memory, self.memory)
        layout.hidden.pack(state.hidden, self.hidden)
        self.frame["updates"] = state.updates
        self.project(self.frame.address)

    def forget(self) -> None:
        """Memories to their start values, hidden values and traces to 0."""
        self.traces[...] = 0
        self.hidden[...] = 0
        self._start_memory()
        self.project(self.frame.address)

    def _start_memory(self) -> None:
        """Padded lanes too: their memories never move from there."""
        for n, layer in enumerate(self.plan.layers):
            names, start = layer.equations.memory, self.layout.memory_start(n)
            size = len(names) * self.layout.padded_units(n)
            vectors = self.memory[start : start + size].reshape(-1, self.layout.lanes)
            for k, name in enumerate(names):
                vectors[k :: len(names)] = layer.equations.cell.start.get(name, 0.0)


class CompiledEngine(Engine):
    """An online learner on machine code.

    Args:
        online: what learns, and by which rules.
        state: where it starts (copied).
        target: the processor at hand, or a lesser one it can stand in for.
    """

    def __init__(self, online: Online, state: State, target: Target | None = None) -> None:
        kept = len(online.optimiser.moments) + (online.averaging is not None)
        self._machine = _Machine(online, state.weights.dtype, target or host(), kept)
        self._online, self._frame = online, self._machine.frame
        self._names = coefficient_names(online.optimiser)
        width = len(self._names) + (online.averaging is not None)
        self._table = np.zeros((_TABLE, width), state.weights.dtype)
        self._frame.point("table", self._table)
        self._one = _OneStep(self._machine)
        self._classes = _classes(online)
        self.restore(state)

    @property
    def state(self) -> State:
        machine, layout = self._machine, self._machine.layout
        moments = len(self._online.optimiser.moments)
        weights = layout.weights.unpack(machine.weights)
        average = weights[-1] if machine.code.averaging else weights[0, :0]
        return State(
            weights=weights[0].copy(),
            moments=weights[1 : 1 + moments].copy(),
            average=average.copy(),
            traces=layout.traces.unpack(machine.traces),
            memory=layout.memory.unpack(machine.memory),
            hidden=layout.hidden.unpack(machine.hidden),
            counts=np.array([self._steps, self._frame["updates"]], np.int64),
        )

    @property
    def steps(self) -> int:
        return self._steps

    def restore(self, state: State) -> None:
        self._machine.restore(state)
        self._steps = state.steps
        self._room, self._filled = 0, -1

    def forget(self) -> None:
        self._machine.forget()

    def predict(self, x: Array) -> Array:
        one = self._one
        one.x[:] = x
        if not one.pointed:
            one.point()
        self._machine.predict(self._frame.address)
        return one.prediction.copy()

    def learn(self, x: Array, target: Array) -> tuple[Array, int]:
        one = self._one
        one.x[:], one.target[:] = x, target
        if self._classes is not None and one.target[0] not in self._classes:
            self._check_classes(one.target)
        if not one.pointed:
            one.point()
        if not self._room:
            self._fill_table()
        self._machine.learn(self._frame.address)
        self._steps += 1
        self._room -= 1
        return one.prediction.copy(), one.flag[0]

    def run(self, xs: Array, targets: Array) -> tuple[Array, NDArray[np.uint8]]:
        xs, targets = (np.ascontiguousarray(a, np.float64) for a in (xs, targets))
        if self._classes is not None:
            self._check_classes(targets)
        predictions = np.empty((len(xs), self._online.plan.outputs), self._table.dtype)
        flags = np.empty(len(xs), np.uint8)
        arrays = {"x": xs, "target": targets, "prediction": predictions, "flag": flags}
        start, self._one.pointed = 0, False
        while start < len(xs):
            if not self._room:
                self._fill_table()
            steps = min(len(xs) - start, self._room)
            for name, array in arrays.items():
                self._frame.point(name, array, start * (array.size // len(array)))
            self._frame["steps"] = steps
            self._machine.learn(self._frame.address)
            start += steps
            self._steps += steps
            self._room -= steps
        return predictions, flags

    def _check_classes(self, targets: Array) -> None:
        """Let the loss refuse, before anything changes, a target that is no class."""
        plan = self._online.plan
        known = targets[np.isfinite(targets)]
        wrong = known[~np.isin(known, np.arange(plan.outputs))]
        if wrong.size:
            self._online.loss.error(np.zeros(plan.outputs), wrong[:1])

    def _fill_table(self) -> None:
        """Coefficients of the updates to come; always the same rows together, the same bits.

        A step makes at most one update, so the room left in the table says how many steps may go
        without another look.
        """
        updates = self._frame["updates"]
        first = updates - updates % _TABLE
        if first != self._filled:
            rows = np.arange(first, first + _TABLE)
            coefficients = self._online.optimiser.coefficients(rows)
            for k, name in enumerate(self._names):
                self._table[:, k] = coefficients[name]
            if self._online.averaging is not None:
                self._table[:, -1] = self._online.averaging.shares(rows)
            self._frame["first_update"] = self._filled = first
        self._room = first + _TABLE - updates


class _OneStep:
    """Buffers of calls that are one step long, so that a call allocates and points at nothing."""

    def __init__(self, machine: _Machine) -> None:
        self._frame = machine.frame
        self.x = np.zeros(machine.plan.inputs)
        self.target = np.zeros(machine.targets)
        self.prediction = np.zeros(machine.plan.outputs, machine.dtype)
        self.flag = bytearray(1)
        self.pointed = False

    def point(self) -> None:
        """Make the frame point here."""
        self._frame.point("x", self.x)
        self._frame.point("target", self.target)
        self._frame.point("prediction", self.prediction)
        self._frame.point("flag", np.frombuffer(self.flag, np.uint8))
        self._frame["steps"] = 1
        self.pointed = True


def _classes(online: Online) -> frozenset[int] | None:
    """The targets that a loss over classes takes; None for other losses."""
    if isinstance(online.loss, SharedLoss):
        return frozenset(range(online.plan.outputs))
    return None


class CompiledFrozen(FrozenEngine):
    """A frozen network on machine code: its memories and hidden values are its own."""

    def __init__(self, online: Online, state: State, target: Target | None = None) -> None:
        self._machine = _Machine(online, state.weights.dtype, target or host(), kept=0)
        self._machine.restore(state)

    def run(self, xs: Array) -> Array:
        machine, frame = self._machine, self._machine.frame
        xs = np.ascontiguousarray(xs, np.float64)
        predictions = np.empty((len(xs), machine.plan.outputs), machine.dtype)
        frame.point("x", xs)
        frame.point("prediction", predictions)
        frame["steps"] = len(xs)
        machine.frozen(frame.address)
        return predictions

    def forget(self) -> None:
        self._machine.forget()
