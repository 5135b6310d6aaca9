"""The watch over memories: who is stuck, who is not, and that it heals (trouble 17)."""

from __future__ import annotations

import numpy as np
import pytest

from tidegate.calculus import derive
from tidegate.cells import named, names
from tidegate.forecast import BareNetwork
from tidegate.forecast.watch import EVERY, saturated
from tidegate.kernels.plan import LayerPlan


def plan(cell: str, units: int = 3) -> LayerPlan:
    return LayerPlan(derive(named(cell)), units, 1)


@pytest.mark.parametrize("cell", ["lstm", "lstm1997", "peephole", "coupled"])
def test_memories_behind_a_tanh_are_stuck_where_it_is_flat(cell: str) -> None:
    # Half a gate times 1 - tanh^2 is 1e-9 at |c| = 10.7.
    memory = np.array([[-10_000.0, 10.6, 10.8]])
    assert saturated(plan(cell), memory).tolist() == [True, False, True]


@pytest.mark.parametrize("cell", ["gru", "indrnn", "janet"])
def test_memories_that_are_seen_as_they_are_are_never_stuck(cell: str) -> None:
    assert not saturated(plan(cell), np.array([[-10_000.0, 0.0, 20.0]])).any()


@pytest.mark.parametrize("cell", names())
def test_no_cell_is_stuck_at_its_start(cell: str) -> None:
    layer = plan(cell)
    start = [layer.equations.cell.start.get(name, 0.0) for name in layer.equations.memory]
    memory = np.outer(np.maximum(start, 1e-3), np.ones(3))
    assert not saturated(layer, memory).any()


def drifting(cell: str) -> list[tuple[str, ...]]:
    """Flags of a stream that asks for a memory that only grows."""
    network = BareNetwork(1, cell, 8, seed=0)
    weights = network.learner.state
    bias = network.learner.network.plan.weights.views(weights.weights)["layer0.bias"]
    slots = network.learner.network.plan.layers[0].equations.fed_by("bias")
    for slot in ("i", "g"):
        bias[0, slots.index(slot)] = 6.0
    network.learner.state = weights
    values = np.random.default_rng(0).normal(size=400).cumsum()
    return [network.observe(np.array([value])) for value in values]


def test_a_cell_that_cannot_forget_raises_the_alarm_and_goes_on_raising_it() -> None:
    flags = drifting("lstm1997")
    alarms = ["alarm" in found for found in flags]
    assert not any(alarms[: EVERY - 1]), "the memory grows by at most 1 a step"
    assert all(alarms[2 * EVERY :])


def test_a_cell_that_forgets_raises_none() -> None:
    assert not any("alarm" in found for found in drifting("lstm"))


def test_the_alarm_ends_when_the_memory_is_let_go() -> None:
    network = BareNetwork(1, "lstm", 8, seed=0)
    rng = np.random.default_rng(0)

    def alarm(steps: int) -> bool:
        return ["alarm" in network.observe(rng.normal(size=1)) for _ in range(steps)][-1]

    assert not alarm(EVERY)
    state = network.learner.state
    state.memory[:] = 1e6
    network.learner.state = state
    assert alarm(EVERY)
    network.learner.forget()
    assert not alarm(EVERY)
