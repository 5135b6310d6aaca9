"""One step of all rows of a layer, and its way back, in plain NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from tidegate.calculus import Equations, derive
from tidegate.calculus.graph import partial
from tidegate.cells.base import Cell
from tidegate.kernels.batch.plan import Array, Weights, kept, slots_of_retention, start
from tidegate.kernels.through_time import through

__all__ = ["VARIANCE_FLOOR", "Layer", "Moment"]

VARIANCE_FLOOR = 1e-5
"""Added to the variance of a normalised slot."""

Named = dict[str, Array]


@dataclass(frozen=True)
class Moment:
    """One step of all rows.

    Attributes:
        x, before: what entered the products: (B, I), (B, Q * H).
        known: values of the equations' leaves (B, H).
        spread: 1 / standard deviation (B, 1) of each normalised slot.
        state, memory: results (B, Q * H), (B, K * H).
    """

    x: Array
    before: Array
    known: Named
    spread: Named
    state: Array
    memory: Array
    gates: Mapping[str, Array]


class Layer:
    """One layer's equations and weights, by slot."""

    def __init__(self, cell: Cell, weights: Weights) -> None:
        self.cell = cell
        self.equations: Equations = derive(cell)
        self.kept = kept(self.equations)
        self.units = weights.unit.shape[1]
        self.by = {
            zone: dict(zip(self.equations.fed_by(zone), self._split(array), strict=True))
            for zone, array in (
                ("input", weights.input), ("hidden", weights.hidden), ("bias", weights.bias),
            )
        }  # fmt: skip
        self.par = dict(zip(self.equations.parameters, weights.unit, strict=True))

    def _split(self, array: Array) -> Array:
        """(slots * H, ...) by slot: (slots, H, ...)."""
        return array.reshape(len(array) // self.units, self.units, *array.shape[1:])

    def step(self, x: Array, state: Array, memory: Array) -> Moment:
        eq = self.equations
        z = {s: self._first_products(s, x, state) for s in eq.slots}
        spread: Named = {}
        for slot in set(eq.normalised) - set(eq.second_product):
            z[slot], spread[slot] = _normalised(z[slot])
        past = self._past(state, memory)
        space = SimpleNamespace
        if eq.second_product:
            first = eq.cell.step(space(**z), space(**past), space(**self.par))
            for slot, gate in eq.second_product.items():
                gated = np.tile(first.gates[gate], len(eq.hidden)) * state
                z[slot] = z[slot] + gated @ self.by["hidden"][slot].T
        for slot in set(eq.normalised) & set(eq.second_product):
            z[slot], spread[slot] = _normalised(z[slot])
        step = eq.cell.step(space(**z), space(**past), space(**self.par))
        known = {f"z.{n}": v for n, v in z.items()} | {f"past.{n}": v for n, v in past.items()}
        known |= {f"par.{n}": v for n, v in self.par.items()}
        joined = [
            np.concatenate([getattr(step, n) for n in names], axis=1, dtype=x.dtype)
            if names else memory for names in (eq.hidden, self.kept)
        ]  # fmt: skip
        return Moment(x, state, known, spread, joined[0], joined[1], step.gates)

    def _first_products(self, slot: str, x: Array, state: Array) -> Array:
        z = np.zeros((len(x), self.units), x.dtype)
        if slot in self.by["input"]:
            z = z + x @ self.by["input"][slot].T
        if slot in self.by["hidden"] and slot not in self.equations.second_product:
            z = z + state @ self.by["hidden"][slot].T
        return np.asarray(z + self.by["bias"].get(slot, 0))

    def _past(self, state: Array, memory: Array) -> Named:
        hidden = dict(zip(self.equations.hidden, _parts(state, self.units), strict=True))
        own = dict(zip(self.kept, _parts(memory, self.units), strict=True))
        return {name: own[name] if name in own else hidden[name] for name in self.equations.memory}

    def kept_by_name(self, memory: Array) -> Named:
        return dict(zip(self.kept, _parts(memory, self.units), strict=True))

    def read_from(self, moment: Moment) -> Named:
        """The slots that log-retention is read from."""
        return {s: moment.known[f"z.{s}"] for s in slots_of_retention(self.equations)}

    def started_anew(
        self, now: tuple[Array, Array], which: NDArray[np.bool_]
    ) -> tuple[Array, Array]:
        fresh = [
            np.repeat([start(self.cell, name) for name in names], self.units).astype(part.dtype)
            for names, part in zip((self.equations.hidden, self.kept), now, strict=True)
        ]
        first, second = (np.where(which[:, None], f, p) for f, p in zip(fresh, now, strict=True))
        return first, second

    def step_back(
        self, moment: Moment, error: Array, later: Array, into: Weights
    ) -> tuple[Array, Array, Array]:
        """Gradients added to ``into``; d loss / d x, state and kept memories before the step."""
        eq = self.equations
        on_past, on_source = self._pointwise_back(moment, error, later)
        rows = {zone: self._split(getattr(into, zone)) for zone in ("input", "hidden", "bias")}
        on_state = np.zeros_like(moment.before)
        for slot, gate in eq.second_product.items():
            d_z = _through_norm(moment, slot, on_source)
            on_gated = d_z @ self.by["hidden"][slot]
            on_state += self._gate_back(
                moment, gate, on_gated, d_z, rows["hidden"][eq.fed_by("hidden").index(slot)],
                on_past, on_source,
            )  # fmt: skip
        on_x = np.zeros_like(moment.x)
        for n, parameter in enumerate(eq.parameters):
            into.unit[n] += on_source[parameter].sum(axis=0)
        for slot in eq.slots:
            d_z = _through_norm(moment, slot, on_source)
            for zone, feed in (("input", moment.x), ("hidden", moment.before)):
                if slot in self.by[zone] and not (zone == "hidden" and slot in eq.second_product):
                    rows[zone][eq.fed_by(zone).index(slot)] += d_z.T @ feed
            if slot in self.by["bias"]:
                rows["bias"][eq.fed_by("bias").index(slot)] += d_z.sum(axis=0)
            if slot in self.by["input"]:
                on_x += d_z @ self.by["input"][slot]
            if slot in self.by["hidden"] and slot not in eq.second_product:
                on_state += d_z @ self.by["hidden"][slot]
        for name, part in zip(eq.hidden, _parts(on_state, self.units), strict=True):
            part += on_past[name] if name in eq.memory else 0
        own = [on_past[name] for name in self.kept]
        return on_x, on_state, np.concatenate(own, axis=1) if own else later

    def _pointwise_back(self, moment: Moment, error: Array, later: Array) -> tuple[Named, Named]:
        """d loss / d past memories, and d loss / d slots and parameters, at one step (B, H)."""
        eq = self.equations
        show, recall, direct, keep, write = (
            eq.evaluate(slopes, moment.known)
            for slopes in (eq.show, eq.recall, eq.direct, eq.keep, eq.write)
        )
        d_hidden = dict(zip(eq.hidden, _parts(error, self.units), strict=True))
        d_later = dict(zip(self.kept, _parts(later, self.units), strict=True))
        zero = np.zeros((len(error), self.units), error.dtype)
        # Where a memory is the hidden value itself, show holds its slope, and error all its error.
        on_memory = {m: zero + d_later.get(m, 0) + through(show, d_hidden, m) for m in eq.memory}
        on_past = {
            m: zero + through(keep, on_memory, m) + through(recall, d_hidden, m) for m in eq.memory
        }
        on_source = {
            s: zero + through(write, on_memory, s) + through(direct, d_hidden, s)
            for s in (*eq.slots, *eq.parameters)
        }
        return on_past, on_source

    def _gate_back(
        self, moment: Moment, gate: str, on_gated: Array, d_z: Array, into: Array,
        on_past: Named, on_source: Named,
    ) -> Array:  # fmt: skip
        """Error on gate * h: through the gate to its slots and memories, and to h."""
        eq = self.equations
        (value,) = eq.evaluate({"gate": eq.gates[gate]}, moment.known).values()
        value = np.tile(value, len(eq.hidden))
        into += d_z.T @ (value * moment.before)
        on_gate = sum(_parts(on_gated * moment.before, self.units))
        slopes = {leaf: partial(eq.gates[gate], node) for leaf, node in eq.leaves.items()}
        for leaf, slope in eq.evaluate(slopes, moment.known).items():
            kind, _, name = str(leaf).partition(".")
            to = on_past if kind == "past" else on_source
            to[name] = to[name] + on_gate * slope
        return np.asarray(on_gated * value)


def _parts(rows: Array, units: int) -> list[Array]:
    """(B, names * H) as views (B, H), one for each name."""
    return [rows[:, k : k + units] for k in range(0, rows.shape[1], units)]


def _normalised(z: Array) -> tuple[Array, Array]:
    """Mean 0 and variance 1 over the units, and 1 / standard deviation (B, 1)."""
    centred = z - z.mean(axis=1, keepdims=True)
    variance = np.mean(centred * centred, axis=1, keepdims=True)
    spread = (1 / np.sqrt(variance + z.dtype.type(VARIANCE_FLOOR))).astype(z.dtype)
    return centred * spread, spread


def _through_norm(moment: Moment, slot: str, on_source: Named) -> Array:
    """d loss / d what a slot was before it was normalised; itself where it was not."""
    error = on_source[slot]
    if slot not in moment.spread:
        return error
    z = moment.known[f"z.{slot}"]
    rest = error - error.mean(axis=1, keepdims=True)
    return np.asarray(moment.spread[slot] * (rest - z * np.mean(error * z, axis=1, keepdims=True)))
