"""Backpropagation through time, in NumPy: the full gradient that the online one is compared with.

Unlike the online learner it lets error flow through h as well, over as many steps as it is given,
and it has a rule for cells with a second product.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tidegate.calculus.graph import partial
from tidegate.cells.functions import Value
from tidegate.kernels.plan import ZONES, Array, LayerPlan, Loss, Plan
from tidegate.kernels.reference import Forward, Moment, forward

__all__ = ["full_gradient", "through"]


def full_gradient(
    plan: Plan, loss: Loss, weights: Array, memory: Array, hidden: Array, xs: Array, targets: Array
) -> Array:
    """d (sum of losses) / d weights over all steps of ``xs``, through every path.

    Args:
        weights, memory, hidden: flat state arrays before the first step.
        xs: (steps, inputs), targets: (steps, targets); a NaN target adds no loss.

    Returns:
        (weights,).
    """
    steps: list[Forward] = []
    for x in xs:
        step = forward(plan, weights, memory, hidden, x)
        steps.append(step)
        memory, hidden = np.zeros_like(memory), np.zeros_like(hidden)
        for n, moment in enumerate(step.layers):
            plan.memory.views(memory)[f"layer{n}"][...] = moment.memory
            plan.hidden.views(hidden)[f"layer{n}"][...] = moment.hidden
    gradient = np.zeros_like(weights)
    back = [_Back.nothing(layer, weights) for layer in plan.layers]
    for step, x, target in zip(reversed(steps), xs[::-1], targets[::-1], strict=True):
        back = _step_back(plan, weights, gradient, step, x, loss.error(step.logits, target), back)
    return gradient


@dataclass(frozen=True)
class _Back:
    """d loss / d what a layer carries to the next step: memories and hidden values, by name."""

    memory: Mapping[str, Array]
    hidden: Array

    @staticmethod
    def nothing(layer: LayerPlan, like: Array) -> _Back:
        zeros = np.zeros(layer.units, like.dtype)
        memory = dict.fromkeys(layer.equations.memory, zeros)
        return _Back(memory, np.zeros(layer.outputs, like.dtype))


def _step_back(
    plan: Plan,
    weights: Array,
    gradient: Array,
    step: Forward,
    x: Array,
    delta: Array,
    back: list[_Back],
) -> list[_Back]:
    own, into = plan.weights.views(weights), plan.weights.views(gradient)
    top = step.layers[-1].hidden.reshape(-1)
    into["readout.hidden"] += np.outer(top, delta)
    into["readout.bias"] += delta
    into["readout.input"] += np.outer(x if plan.direct else x[:0], delta)
    error = own["readout.hidden"] @ delta
    before: list[_Back] = []
    for n in reversed(range(len(plan.layers))):
        parts = {part: own[f"layer{n}.{part}"] for part in ZONES}
        grads = {part: into[f"layer{n}.{part}"] for part in (*ZONES, "unit")}
        carried, error = _layer_back(
            plan.layers[n], step.layers[n], error + back[n].hidden, back[n].memory, parts, grads
        )
        before.insert(0, carried)
    return before


def _layer_back(
    layer: LayerPlan,
    moment: Moment,
    error: Array,
    later: Mapping[str, Array],
    weights: Mapping[str, Array],
    into: Mapping[str, Array],
) -> tuple[_Back, Array]:
    """One layer, one step: gradients added to ``into``; what goes to the step before and below."""
    eq = layer.equations
    dh = dict(zip(eq.hidden, error.reshape(-1, layer.units), strict=True))
    show, recall, direct, keep, write = (
        eq.evaluate(slopes, moment.known)
        for slopes in (eq.show, eq.recall, eq.direct, eq.keep, eq.write)
    )
    on_memory = {m: later[m] + through(show, dh, m) for m in eq.memory}
    to_past = {
        m: through(keep, on_memory, m) + through(recall, dh, m) for m in eq.memory
    }  # fmt: skip
    on_source = {
        s: through(write, on_memory, s) + through(direct, dh, s)
        for s in (*eq.slots, *eq.parameters)
    }
    to_hidden = np.zeros_like(error)
    for n, slot in enumerate(eq.fed_by("hidden")):
        if slot in eq.second_product:
            gated = weights["hidden"][:, n] @ on_source[slot]
            to_hidden += _gate_back(layer, moment, slot, gated, into, n, on_source, to_past)
    for n, parameter in enumerate(eq.parameters):
        into["unit"][n] += on_source[parameter]
    below = np.zeros(layer.inputs, error.dtype)
    for zone, to in (("hidden", to_hidden), ("input", below), ("bias", np.zeros(1, error.dtype))):
        for n, slot in enumerate(eq.fed_by(zone)):
            if zone == "hidden" and slot in eq.second_product:
                continue
            into[zone][:, n] += np.outer(moment.feeds[zone], on_source[slot])
            to += weights[zone][:, n] @ on_source[slot]
    return _Back(to_past, to_hidden), below


def _gate_back(
    layer: LayerPlan,
    moment: Moment,
    slot: str,
    gated: Array,
    into: Mapping[str, Array],
    n: int,
    on_source: dict[str, Value],
    to_past: dict[str, Value],
) -> Array:
    """Error ``gated`` on gate * h: through the gate to its slots and memories, and to h."""
    eq = layer.equations
    gate = eq.gates[eq.second_product[slot]]
    (value,) = eq.evaluate({"gate": gate}, moment.known).values()
    before = moment.feeds["hidden"].reshape(-1, layer.units)
    into["hidden"][:, n] += np.outer((value * before).reshape(-1), on_source[slot])
    on_gate = (gated.reshape(-1, layer.units) * before).sum(axis=0)
    slopes = {leaf: partial(gate, node) for leaf, node in eq.leaves.items()}
    for leaf, slope in eq.evaluate(slopes, moment.known).items():
        kind, _, name = str(leaf).partition(".")
        to = to_past if kind == "past" else on_source
        to[name] = to[name] + on_gate * slope
    return np.ravel(gated.reshape(-1, layer.units) * value)


def through(slopes: Mapping[Any, Value], of: Mapping[str, Array], name: str) -> Value:
    """Sum over y of d loss / d y times d y / d name: the chain rule through one step.

    Args:
        slopes: d y / d x by (y, x).
        of: d loss / d y by y.
        name: of x.

    >>> through({("h", "c"): 0.5, ("k", "c"): 2.0}, {"h": 10.0, "k": 1.0}, "c")
    7.0
    """
    total: Value = 0.0
    for (y, x), slope in slopes.items():
        if x == name:
            total = total + of[y] * slope
    return total
