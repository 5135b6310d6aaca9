"""Recording: from what an engine passed through to a Trace.

An engine has to give two things a step, the slots and the memories before the step; all the rest
follows from the cell's equations. Log-retention is evaluated in float64 on slots converted to
float64, whatever the engine computes in: at a pre-activation of 120 float32 would lose it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

import numpy as np

from tidegate._core.errors import UsageError
from tidegate._core.trace import Meta, Trace
from tidegate.kernels.plan import Array, LayerPlan, Plan, State
from tidegate.kernels.reference import Forward, Online, forward, see

__all__ = ["Passed", "record_frozen", "record_learning", "trace_of"]


@dataclass(frozen=True, eq=False)
class Passed:
    """What went through one layer, step by step.

    Attributes:
        slots: pre-activations (steps, rows, slots, units).
        past: memories before each step, after a reset if there was one
            (steps, rows, memories, units).
        parameters: the units' own, (parameters, units), or (steps, 1, parameters, units) where
            they were learned meanwhile.
    """

    slots: Array
    past: Array
    parameters: Array


def trace_of(
    layer: LayerPlan, passed: Passed, reset: Array, meta: Meta, with_slots: bool = False
) -> Trace:
    """The Trace of one layer.

    Args:
        reset: (steps, rows) bool.
        with_slots: whether the Trace holds the slots too.

    Memories, hidden values and gates have the engine's own precision.
    """
    eq, own = layer.equations, passed.slots.dtype
    wide = _known(layer, passed, np.float64)
    narrow = _known(layer, passed, own)
    step = _step(layer, narrow)
    shape = (*passed.slots.shape[:2], layer.units)

    def full(values: Mapping[Any, Any], dtype: Any) -> dict[str, Array]:
        return {
            str(n): np.array(np.broadcast_to(np.asarray(v, dtype), shape))
            for n, v in values.items()
        }

    memory = {name: getattr(step, name) for name in eq.memory}
    memory |= eq.cell.read(SimpleNamespace(**memory))
    slots = {name: passed.slots[:, :, n] for n, name in enumerate(eq.slots)}
    return Trace(
        log_retention=full(eq.evaluate(eq.log_retention, wide), np.float64),
        memory=full(memory, own),
        hidden=full({name: getattr(step, name) for name in eq.hidden}, own),
        gates=full(step.gates, own),
        slots=full(slots, own) if with_slots else {},
        retention_sign=full(eq.evaluate(eq.retention_sign, wide), own),
        reset=reset,
        meta=meta,
    )


def record_frozen(
    online: Online,
    state: State,
    xs: Array,
    resets: Array | None = None,
    with_slots: bool = False,
    first: int = 0,
    seed: int | None = None,
) -> tuple[Trace, ...]:
    """One Trace a layer of a stream xs (steps, inputs) with the weights as they are.

    Memories in ``state`` go on, so a long stream can be recorded block by block.

    Args:
        resets: (steps,) bool, a reset before that step; none by default.
        first: number of the first step.
        seed: of the run, for the record.

    Raises:
        UsageError: ``resets`` has not one flag a step.
    """

    def step(passing: Forward, t: int) -> None:
        online.adopt(state, passing)

    return _record(online, state, xs, resets, with_slots, _meta(online.plan, first, seed), step)


def record_learning(
    online: Online,
    state: State,
    xs: Array,
    targets: Array,
    resets: Array | None = None,
    with_slots: bool = False,
    seed: int | None = None,
) -> tuple[Trace, ...]:
    """The same while it learns, targets (steps, targets); ``state`` goes on as by ``run``.

    Steps are numbered by ``state.steps``.

    Raises:
        UsageError: there is not one target, or not one flag of ``resets``, a step.
    """
    _check_count("targets", targets, len(xs))

    def step(passing: Forward, t: int) -> None:
        online.learn(state, xs[t], targets[t])

    meta = _meta(online.plan, state.steps, seed)
    return _record(online, state, xs, resets, with_slots, meta, step)


def _record(
    online: Online,
    state: State,
    xs: Array,
    resets: Array | None,
    with_slots: bool,
    metas: tuple[Meta, ...],
    step: Callable[[Forward, int], None],
) -> tuple[Trace, ...]:
    reset = np.zeros(len(xs), bool) if resets is None else np.asarray(resets).astype(bool)
    _check_count("resets", reset, len(xs))
    layers = online.plan.layers
    passed = [_empty(layer, len(xs), state.weights.dtype) for layer in layers]
    for t, x in enumerate(xs):
        if reset[t]:
            online.forget(state)
        seen, _ = see(x, state.weights.dtype)
        passing = forward(online.plan, state.weights, state.memory, state.hidden, seen)
        for layer, moment, to in zip(layers, passing.layers, passed, strict=True):
            _keep(layer, moment.known, to, t)
        step(passing, t)
    return tuple(
        trace_of(layer, what, reset[:, None], meta, with_slots)
        for layer, what, meta in zip(layers, passed, metas, strict=True)
    )


def _empty(layer: LayerPlan, steps: int, dtype: Any) -> Passed:
    eq = layer.equations
    counts = (len(eq.slots), len(eq.memory), len(eq.parameters))
    return Passed(*(np.zeros((steps, 1, count, layer.units), dtype) for count in counts))


def _keep(layer: LayerPlan, known: Mapping[str, Array], to: Passed, t: int) -> None:
    eq = layer.equations
    for n, name in enumerate(eq.slots):
        to.slots[t, 0, n] = known[f"z.{name}"]
    for n, name in enumerate(eq.memory):
        to.past[t, 0, n] = known[f"past.{name}"]
    for n, name in enumerate(eq.parameters):
        to.parameters[t, 0, n] = known[f"par.{name}"]


def _known(layer: LayerPlan, passed: Passed, dtype: Any) -> dict[str, Array]:
    """Values of the equations' leaves by name, each (steps, rows, units)."""
    eq = layer.equations
    known: dict[str, Array] = {}
    for kind, names, values in (
        ("z", eq.slots, passed.slots),
        ("past", eq.memory, passed.past),
        ("par", eq.parameters, passed.parameters),
    ):
        known |= {f"{kind}.{n}": values[..., k, :].astype(dtype) for k, n in enumerate(names)}
    return known


def _step(layer: LayerPlan, known: Mapping[str, Array]) -> Any:
    def namespace(kind: str) -> SimpleNamespace:
        found = {n.partition(".")[2]: v for n, v in known.items() if n.startswith(f"{kind}.")}
        return SimpleNamespace(**found)

    return layer.equations.cell.step(namespace("z"), namespace("past"), namespace("par"))


def _meta(plan: Plan, first: int, seed: int | None) -> tuple[Meta, ...]:
    versions = {name: version(name) for name in ("numpy",)}
    return tuple(
        Meta(
            cell=repr(layer.equations.cell),
            sizes={"layer": n, "inputs": layer.inputs, "units": layer.units},
            seed=seed,
            versions=versions,
            start=first,
        )
        for n, layer in enumerate(plan.layers)
    )


def _check_count(name: str, given: Array, steps: int) -> None:
    if len(given) != steps:
        raise UsageError(
            f"recording {name}", f"one for each of {steps} steps", f"{len(given)}",
            "Give as many as there are inputs.",
        )  # fmt: skip
