"""Looking at a learner at work: what will pass through its layers at the coming step.

The state of a compiled learner is read where it lies. Unpacking it whole would take longer than
many steps of learning; the learning itself is not touched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from tidegate.kernels.engine import Engine
from tidegate.kernels.online.compiled import CompiledEngine
from tidegate.kernels.online.layout import Layout
from tidegate.kernels.online.machine import Machine
from tidegate.kernels.plan import INPUT_LIMIT, ZONES, Array, LayerPlan
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
        # Mostly nothing is far or unknown, which one product tells.
        near = x @ x <= INPUT_LIMIT**2
        below = x if near else see(x, self._dtype)[0]
        found: list[Look] = []
        for layer in self._layers:
            found.append(layer.look(below))
            if layer is not self._layers[-1]:
                below = layer.shown(found[-1])
        return found


class _Layer:
    """Views into the packed arrays of one layer, and what its rows are multiplied by."""

    def __init__(self, machine: Machine, n: int) -> None:
        layout, plan = machine.layout, machine.plan.layers[n]
        self._plan, self._lanes = plan, layout.lanes
        self._blocks, self._padded = layout.blocks(n), layout.padded_units(n)
        eq = plan.equations
        memory = _part(machine.memory, layout.memory_start(n), len(eq.memory) * self._padded)
        hidden = _part(machine.hidden, layout.hidden_start(n), len(eq.hidden) * self._padded)
        self._memory = self._vectors(memory, len(eq.memory))
        self._hidden = hidden.reshape(len(eq.hidden), self._padded)[:, : plan.units]
        self._none = np.zeros((0, plan.units), machine.dtype)
        self._values = np.ones(plan.outputs + plan.inputs + 1, machine.dtype)
        self._seen = self._values[: plan.outputs].reshape(self._hidden.shape)
        self._below = self._values[plan.outputs : -1]
        self._products = self._fed(machine, layout, n)

    def look(self, below: Array) -> Look:
        self._seen[...] = self._hidden
        self._below[...] = below
        slots = self._by_unit(self._products[0].of(self._values))
        for product in self._products[1:]:
            slots = slots + self._by_unit(product.of(self._values))
        parameters = self._by_unit(self._parameters) if len(self._parameters) else self._none
        return Look(slots, self._by_unit(self._memory), parameters)

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

    def _fed(self, machine: Machine, layout: Layout, n: int) -> list[_Product]:
        """One product where all zones feed all slots: their rows lie one after the other."""
        shapes, start = self._plan.weights(), layout.weights_start(n)
        size = layout.block_size(shapes)
        packed = machine.weights[0, start : start + self._blocks * size, 0]
        blocks = packed.reshape(self._blocks, size)
        eq, row, at = self._plan.equations, 0, 0
        products: list[_Product] = []
        for zone in ZONES:
            rows, kinds = shapes[zone][:2]
            stop = at + rows * kinds * self._lanes
            weights = blocks[:, at:stop].reshape(self._blocks, rows, kinds, self._lanes)
            fed = [eq.slots.index(slot) for slot in eq.fed_by(zone)]
            products.append(_Product(weights, slice(row, row + rows), fed, len(eq.slots)))
            row, at = row + rows, stop
        self._parameters = self._vectors(blocks[:, at:], len(eq.parameters))
        if all(len(product.fed) == len(eq.slots) for product in products):
            whole = blocks[:, :at].reshape(self._blocks, row, len(eq.slots), self._lanes)
            return [_Product(whole, slice(0, row), products[0].fed, len(eq.slots))]
        return [product for product in products if product.fed]

    def _vectors(self, array: Array, kinds: int) -> Array:
        """A view (kinds, blocks, lanes) of [blocks][kinds][lanes]."""
        return array.reshape(self._blocks, kinds, self._lanes).swapaxes(0, 1)

    def _by_unit(self, vectors: Array) -> Array:
        """(kinds, blocks, lanes) -> (kinds, units), copied."""
        return np.array(vectors).reshape(len(vectors), self._padded)[:, : self._plan.units]


class _Product:
    """Some rows of values times their weights, (blocks, rows, slots fed, lanes)."""

    def __init__(self, weights: Array, rows: slice, fed: list[int], slots: int) -> None:
        blocks, count, kinds, lanes = weights.shape
        self._weights = weights.reshape(blocks, count, kinds * lanes)
        self._rows, self.fed, self._shape = rows, fed, (blocks, kinds, lanes)
        self._slots = slots

    def of(self, values: Array) -> Array:
        """The sums (slots, blocks, lanes), 0 for slots that are not fed."""
        sums = (values[self._rows] @ self._weights).reshape(self._shape).swapaxes(0, 1)
        if len(self.fed) == self._slots:
            return sums
        spread = np.zeros((self._slots, *sums.shape[1:]), sums.dtype)
        spread[self.fed] = sums
        return spread


def _part(array: Array, start: int, size: int) -> Array:
    return array[start : start + size, 0]
