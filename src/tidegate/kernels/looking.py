"""Looking at a learner at work: what will pass through its layers at the coming step.

The state of a compiled learner is read where it lies. Unpacking it whole would take longer than
many steps of learning; the learning itself is not touched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from tidegate.kernels.compiled import CompiledEngine
from tidegate.kernels.engine import Engine
from tidegate.kernels.layout import Layout
from tidegate.kernels.machine import Machine
from tidegate.kernels.plan import ZONES, Array, LayerPlan
from tidegate.kernels.reference import Online, forward, see

__all__ = ["Look", "looking"]


@dataclass(frozen=True, eq=False)
class Look:
    """One layer at the coming step, before it learns.

    Attributes:
        slots: pre-activations (slots, units).
        past: memories before the step (memories, units).
        parameters: the units' own (parameters, units).
    """

    slots: Array
    past: Array
    parameters: Array


def looking(online: Online, engine: Engine) -> Callable[[Array], list[Look]]:
    """A function of the coming input x (inputs,) that gives a :class:`Look` for every layer.

    What it gives is a copy, the same as the reference up to rounding.

    Args:
        online: what learns.
        engine: that carries it out.
    """
    if isinstance(engine, CompiledEngine):
        return _Looker(engine._machine)
    plan = online.plan

    def look(x: Array) -> list[Look]:
        state = engine.state
        seen, _ = see(x, state.weights.dtype)
        moments = forward(plan, state.weights, state.memory, state.hidden, seen).layers
        return [_known(layer, m.known) for layer, m in zip(plan.layers, moments, strict=True)]

    return look


def _known(layer: LayerPlan, known: Mapping[str, Array]) -> Look:
    eq = layer.equations

    def stacked(kind: str, names: tuple[str, ...]) -> Array:
        rows = [known[f"{kind}.{name}"] for name in names]
        return np.stack(rows) if rows else np.zeros((0, layer.units))

    return Look(
        stacked("z", eq.slots), stacked("past", tuple(eq.memory)), stacked("par", eq.parameters)
    )


class _Looker:
    def __init__(self, machine: Machine) -> None:
        self._dtype = machine.dtype
        self._layers = [_Layer(machine, n) for n in range(len(machine.plan.layers))]

    def __call__(self, x: Array) -> list[Look]:
        below, _ = see(x, self._dtype)
        found: list[Look] = []
        for layer in self._layers:
            found.append(layer.look(below))
            if layer is not self._layers[-1]:
                below = layer.shown(found[-1])
        return found


class _Layer:
    """Views into the packed arrays of one layer, [blocks][rows][kinds][lanes] by zone."""

    def __init__(self, machine: Machine, n: int) -> None:
        layout = machine.layout
        self._plan, self._lanes = machine.plan.layers[n], layout.lanes
        self._blocks, self._padded = layout.blocks(n), layout.padded_units(n)
        self._zones = self._views(machine, layout, n)
        eq = self._plan.equations
        self._fed = {zone: [eq.slots.index(slot) for slot in eq.fed_by(zone)] for zone in ZONES}
        self._memory = self._part(machine.memory, layout.memory_start(n), len(eq.memory))
        self._hidden = self._part(machine.hidden, layout.hidden_start(n), len(eq.hidden))

    def look(self, below: Array) -> Look:
        plan, lanes = self._plan, self._lanes
        hidden = self._hidden.reshape(-1, self._padded)[:, : plan.units].reshape(-1)
        slots = np.zeros((len(plan.equations.slots), self._blocks, lanes), hidden.dtype)
        for zone, values in zip(ZONES, (hidden, below, np.ones(1, hidden.dtype)), strict=True):
            if self._fed[zone]:
                sums = (values @ self._zones[zone]).reshape(self._blocks, -1, lanes)
                slots[self._fed[zone]] += sums.swapaxes(0, 1)
        parameters = self._zones["unit"].reshape(
            self._blocks, len(plan.equations.parameters), lanes
        )
        return Look(
            slots.reshape(len(slots), self._padded)[:, : plan.units],
            self._by_unit(self._memory.reshape(self._blocks, len(plan.equations.memory), lanes)),
            self._by_unit(parameters),
        )

    def shown(self, look: Look) -> Array:
        """The hidden values (hidden names x units) that the layer above will see."""
        eq = self._plan.equations

        def named(names: tuple[str, ...], rows: Array) -> SimpleNamespace:
            return SimpleNamespace(**dict(zip(names, rows, strict=True)))

        step = eq.cell.step(
            named(eq.slots, look.slots),
            named(tuple(eq.memory), look.past),
            named(eq.parameters, look.parameters),
        )
        return np.concatenate([getattr(step, name) for name in eq.hidden])

    def _by_unit(self, vectors: Array) -> Array:
        """(blocks, kinds, lanes) -> (kinds, units), copied."""
        by_kind = vectors.swapaxes(0, 1).reshape(vectors.shape[1], self._padded)
        return by_kind[:, : self._plan.units].copy()

    def _part(self, array: Array, start: int, kinds: int) -> Array:
        return array[start : start + kinds * self._padded, 0]

    def _views(self, machine: Machine, layout: Layout, n: int) -> dict[str, Array]:
        shapes, start = self._plan.weights(), layout.weights_start(n)
        size = layout.block_size(shapes)
        packed = machine.weights[0, start : start + self._blocks * size, 0]
        blocks = packed.reshape(self._blocks, size)
        found, at = {}, 0
        for zone, shape in shapes.items():
            rows, kinds = (1, shape[0]) if zone == "unit" else shape[:2]
            stop = at + rows * kinds * self._lanes
            found[zone] = blocks[:, at:stop].reshape(self._blocks, rows, kinds * self._lanes)
            at = stop
        return found
