"""Plain NumPy loops, one step after the other: the truth that faster kernels are held against.

``TIDEGATE_REFERENCE=1`` makes them replace the compiled kernels everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate.calculus.derive import Pair
from tidegate.cells.functions import Value
from tidegate.kernels.plan import (
    CAPPED,
    CLIPPED,
    INPUT_LIMIT,
    MISSING,
    ZONES,
    Array,
    Averaging,
    LayerPlan,
    Loss,
    Optimiser,
    Plan,
    State,
)

__all__ = ["Online", "forward", "see", "start_memory"]


@dataclass(frozen=True)
class Moment:
    """One layer at one step, all that its derivatives need.

    Attributes:
        feeds: what each zone of rows multiplies: (rows,) for hidden and input, (1,) for bias.
        known: values of the equations' leaves by name, each (units,).
        memory: new memories (memories, units).
        hidden: new hidden values (hidden names, units).
        gates: named gates, each (units,).
    """

    feeds: Mapping[str, Array]
    known: Mapping[str, Array]
    memory: Array
    hidden: Array
    gates: Mapping[str, Array]


def layer_step(
    layer: LayerPlan, weights: Mapping[str, Array], memory: Array, hidden: Array, x: Array
) -> Moment:
    """One step of one layer.

    Args:
        weights: by zone, (rows, slots, units); ``unit`` (parameters, units).
        memory: (memories, units), hidden: (hidden names, units), of the step before.
        x: input of the layer (inputs,).
    """
    eq = layer.equations
    feeds = {"hidden": hidden.reshape(-1), "input": x, "bias": np.ones(1, x.dtype)}
    z: dict[str, Array] = {slot: np.zeros(layer.units, x.dtype) for slot in eq.slots}
    for zone in ZONES:
        for n, slot in enumerate(eq.fed_by(zone)):
            if zone == "hidden" and slot in eq.second_product:
                continue
            z[slot] = z[slot] + feeds[zone] @ weights[zone][:, n]
    past = dict(zip(eq.memory, memory, strict=True))
    par = dict(zip(eq.parameters, weights["unit"], strict=True))
    if eq.second_product:
        _second_product(layer, weights["hidden"], z, past, par, hidden)
    step = eq.cell.step(SimpleNamespace(**z), SimpleNamespace(**past), SimpleNamespace(**par))
    known = {f"z.{s}": v for s, v in z.items()} | {f"past.{m}": v for m, v in past.items()}
    known |= {f"par.{p}": v for p, v in par.items()}
    return Moment(
        feeds,
        known,
        _stack(step, eq.memory, memory),
        _stack(step, eq.hidden, hidden),
        step.gates,
    )


def _stack(step: Any, names: Any, like: Array) -> Array:
    stacked = np.empty_like(like)
    for row, name in zip(stacked, names, strict=True):
        row[...] = getattr(step, name)
    return stacked


def _second_product(
    layer: LayerPlan,
    recurrent: Array,
    z: dict[str, Array],
    past: Mapping[str, Array],
    par: Mapping[str, Array],
    hidden: Array,
) -> None:
    """Add U (gate * h) to the slots that need it; the gates are known without those slots."""
    eq = layer.equations
    first = eq.cell.step(SimpleNamespace(**z), SimpleNamespace(**past), SimpleNamespace(**par))
    for n, slot in enumerate(eq.fed_by("hidden")):
        if slot in eq.second_product:
            gated = first.gates[eq.second_product[slot]] * hidden
            z[slot] = z[slot] + gated.reshape(-1) @ recurrent[:, n]


@dataclass(frozen=True)
class Forward:
    """One step of a network: every layer's :class:`Moment`, and the logits (outputs,)."""

    layers: tuple[Moment, ...]
    logits: Array


def forward(plan: Plan, weights: Array, memory: Array, hidden: Array, x: Array) -> Forward:
    """One step of the whole network from flat state arrays; changes nothing."""
    by_name = plan.weights.views(weights)
    memories, hiddens = plan.memory.views(memory), plan.hidden.views(hidden)
    moments: list[Moment] = []
    below = x
    for n, layer in enumerate(plan.layers):
        name = f"layer{n}"
        own = {part: by_name[f"{name}.{part}"] for part in (*ZONES, "unit")}
        moments.append(layer_step(layer, own, memories[name], hiddens[name], below))
        below = moments[-1].hidden.reshape(-1)
    logits = below @ by_name["readout.hidden"] + by_name["readout.bias"]
    if plan.direct:
        logits = logits + x @ by_name["readout.input"]
    return Forward(tuple(moments), logits)


def see(x: Array, dtype: Any) -> tuple[Array, int]:
    """The input as the network sees it, and flags: not finite counts as 0, far away is capped.

    >>> see(np.array([0.5, np.nan, 1e30]), np.float32)
    (array([  0.5,   0. , 100. ], dtype=float32), 6)
    """
    finite = np.isfinite(x)
    seen = np.where(finite, x, 0.0)
    capped = bool(np.any(abs(seen) > INPUT_LIMIT))
    flags = MISSING * (not finite.all()) + CAPPED * capped
    return np.clip(seen, -INPUT_LIMIT, INPUT_LIMIT).astype(dtype), flags


def start_memory(plan: Plan, memory: Array) -> None:
    """Every memory to its start value, in place."""
    for layer, view in zip(plan.layers, plan.memory.views(memory).values(), strict=True):
        for row, name in zip(view, layer.equations.memory, strict=True):
            row[...] = layer.equations.cell.start.get(name, 0.0)


@dataclass(frozen=True)
class Online:
    """The online learner of a network, one step at a time.

    Error flows back through the memory path only: h of the step before is held fixed wherever it
    enters a product (Gers et al. 2000, section 3.2); every memory keeps its direct path, and a
    stack passes the current step's error to the layer below.

    Attributes:
        clip: largest Euclidean norm of d loss / d logits; longer ones are shortened to it.
    """

    plan: Plan
    loss: Loss
    optimiser: Optimiser
    averaging: Averaging | None = None
    clip: float = float("inf")

    def __post_init__(self) -> None:
        self.plan.refuse_second_products()

    def start(self, weights: Array) -> State:
        """The state before the first step, from flat ``weights`` (copied)."""
        dtype, plan = weights.dtype, self.plan
        averaged = weights.copy() if self.averaging is not None else weights[:0].copy()
        state = State(
            weights=weights.copy(),
            moments=np.zeros((len(self.optimiser.moments), weights.size), dtype),
            average=averaged,
            traces=np.zeros(plan.traces.size, dtype),
            memory=np.zeros(plan.memory.size, dtype),
            hidden=np.zeros(plan.hidden.size, dtype),
            counts=np.zeros(2, np.int64),
        )
        start_memory(plan, state.memory)
        return state

    def forget(self, state: State) -> None:
        """Memories to their start values, hidden values and traces to 0; weights stay."""
        state.hidden[...] = 0
        state.traces[...] = 0
        start_memory(self.plan, state.memory)

    def predict(self, state: State, x: Array) -> Array:
        """The prediction for the input x (inputs,); changes nothing."""
        seen, _ = see(x, state.weights.dtype)
        return self.loss.prediction(_forward(self.plan, state, seen).logits)

    def learn(self, state: State, x: Array, target: Array) -> tuple[Array, int]:
        """One step: see x, meet the target, update traces, weights and memories.

        Args:
            x: (inputs,).
            target: (targets,); where all are NaN memories and traces go on but no weight changes.

        Returns:
            the prediction made before the target was seen, and the step's flags.
        """
        seen, flags = see(x, state.weights.dtype)
        step = _forward(self.plan, state, seen)
        known = np.isfinite(target)
        wanted = np.where(known, target, np.nan).astype(state.weights.dtype)
        delta, clipped = _clip(self.loss.error(step.logits, wanted), self.clip)
        gradient = self._gradient(state, step, seen, delta)
        if known.any():
            self._update(state, gradient)
        self.adopt(state, step)
        state.counts[0] += 1
        flags |= CLIPPED * clipped | MISSING * (not known.all())
        return self.loss.prediction(step.logits), flags

    def run(self, state: State, xs: Array, targets: Array) -> tuple[Array, NDArray[np.uint8]]:
        """Learn step after step: xs (steps, inputs), targets (steps, targets).

        Returns:
            predictions (steps, outputs), each made before its target was seen; flags (steps,).
        """
        predictions = np.empty((len(xs), self.plan.outputs), state.weights.dtype)
        flags = np.zeros(len(xs), np.uint8)
        for t, (x, target) in enumerate(zip(xs, targets, strict=True)):
            predictions[t], flags[t] = self.learn(state, x, target)
        return predictions, flags

    def frozen(self, state: State, xs: Array) -> Array:
        """Predictions (steps, outputs) with the weights as they are; memories go on."""
        predictions = np.empty((len(xs), self.plan.outputs), state.weights.dtype)
        for t, x in enumerate(xs):
            seen, _ = see(x, state.weights.dtype)
            step = _forward(self.plan, state, seen)
            predictions[t] = self.loss.prediction(step.logits)
            self.adopt(state, step)
        return predictions

    def adopt(self, state: State, step: Forward) -> None:
        """Adopt the memories and hidden values of ``step``."""
        memories, hiddens = self.plan.memory, self.plan.hidden
        for n, moment in enumerate(step.layers):
            memories.views(state.memory)[f"layer{n}"][...] = moment.memory
            hiddens.views(state.hidden)[f"layer{n}"][...] = moment.hidden

    def _gradient(self, state: State, step: Forward, x: Array, delta: Array) -> Array:
        """d loss / d weights (weights,), from traces that it carries on to this step."""
        gradient = np.zeros_like(state.weights)
        into, weights = self.plan.weights.views(gradient), self.plan.weights.views(state.weights)
        traces = self.plan.traces.views(state.traces)
        top = step.layers[-1].hidden.reshape(-1)
        into["readout.hidden"][...] = np.outer(top, delta)
        into["readout.bias"][...] = delta
        if self.plan.direct:
            into["readout.input"][...] = np.outer(x, delta)
        error = weights["readout.hidden"] @ delta
        for n in reversed(range(len(self.plan.layers))):
            own = {part: f"layer{n}.{part}" for part in (*ZONES, "unit")}
            passed = _layer_gradient(
                self.plan.layers[n],
                step.layers[n],
                error,
                {part: traces[name] for part, name in own.items()},
                {part: into[name] for part, name in own.items()},
            )
            error = np.einsum("rsu,su->r", weights[own["input"]], passed)
        return gradient

    def _update(self, state: State, gradient: Array) -> None:
        updates = state.counts[1:]
        rounded = state.weights.dtype.type
        c = {k: rounded(v[0]) for k, v in self.optimiser.coefficients(updates).items()}
        moment = dict(zip(self.optimiser.moments, state.moments, strict=True))
        rule = self.optimiser.update(
            state.weights, gradient, SimpleNamespace(**moment), SimpleNamespace(**c)
        )
        state.weights[...] = rule.weight
        for name, row in moment.items():
            row[...] = rule.moments[name]
        if self.averaging is not None:
            share = rounded(self.averaging.shares(updates)[0])
            state.average += (state.weights - state.average) * share
        state.counts[1] += 1


def _forward(plan: Plan, state: State, x: Array) -> Forward:
    return forward(plan, state.weights, state.memory, state.hidden, x)


def _clip(delta: Array, limit: float) -> tuple[Array, bool]:
    norm = float(np.linalg.norm(delta.astype(np.float64)))
    if norm <= limit or np.isnan(norm):
        return delta, False
    return np.asarray(delta * delta.dtype.type(limit / norm)), True


def _layer_gradient(
    layer: LayerPlan,
    moment: Moment,
    error: Array,
    traces: Mapping[str, Array],
    into: Mapping[str, Array],
) -> Array:
    """Carry the traces on to this step and write the gradient of a layer's weights.

    Args:
        error: d loss / d hidden values (hidden names x units,).
        traces: by zone (rows, traces, units), updated in place.
        into: by zone (rows, slots, units), where the gradient goes.

    Returns:
        d loss / d slots fed by the input, at this step only: (slots, units).
    """
    eq = layer.equations
    dh = dict(zip(eq.hidden, error.reshape(-1, layer.units), strict=True))
    on_memory = _weighted(eq.evaluate(eq.show, moment.known), dh)
    on_past = _weighted(eq.evaluate(eq.recall, moment.known), dh)
    direct = _weighted(eq.evaluate(eq.direct, moment.known), dh)
    keep, write = eq.evaluate(eq.keep, moment.known), eq.evaluate(eq.write, moment.known)
    for zone in (*ZONES, "unit"):
        sources = eq.parameters if zone == "unit" else eq.fed_by(zone)
        pairs = eq.traces_of(sources)
        feed = 1.0 if zone == "unit" else moment.feeds[zone][:, None]
        new = _carried_on(pairs, traces[zone], keep, write, feed)
        for n, source in enumerate(sources):
            total: Value = direct.get(source, 0.0) * feed
            for k, (memory, of) in enumerate(pairs):
                if of == source:
                    total = total + on_memory.get(memory, 0.0) * new[..., k, :]
                    total = total + on_past.get(memory, 0.0) * traces[zone][..., k, :]
            into[zone][..., n, :] = total
        traces[zone][...] = new
    return _immediate(layer, on_memory, write, direct, error.dtype)


def _weighted(slopes: Mapping[Any, Value], dh: Mapping[str, Array]) -> dict[str, Value]:
    """Sum over hidden values of d loss / d hidden times d hidden / d something."""
    totals: dict[str, Value] = {}
    for (hidden, name), slope in slopes.items():
        totals[name] = totals.get(name, 0.0) + dh[hidden] * slope
    return totals


def _carried_on(
    pairs: tuple[Pair, ...],
    traces: Array,
    keep: Mapping[Any, Value],
    write: Mapping[Any, Value],
    feed: Value,
) -> Array:
    new = np.zeros_like(traces)
    for k, (memory, source) in enumerate(pairs):
        for q, (before, of) in enumerate(pairs):
            if of == source and (memory, before) in keep:
                new[..., k, :] += keep[memory, before] * traces[..., q, :]
        if (memory, source) in write:
            new[..., k, :] += write[memory, source] * feed
    return new


def _immediate(
    layer: LayerPlan,
    on_memory: Mapping[str, Value],
    write: Mapping[Any, Value],
    direct: Mapping[str, Value],
    dtype: Any,
) -> Array:
    slots = layer.equations.fed_by("input")
    passed = np.zeros((len(slots), layer.units), dtype)
    for n, slot in enumerate(slots):
        passed[n] += direct.get(slot, 0.0)
        for memory, error in on_memory.items():
            passed[n] += error * write.get((memory, slot), 0.0)
    return passed
