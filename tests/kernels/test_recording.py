"""Recorded Traces against steps carried out by hand, perturbed memories, and cuts."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from support.cells import ONLINE, PACKAGED, SLSTM, name
from tidegate._core.errors import UsageError
from tidegate._core.trace import joined
from tidegate.cells import LSTM, RNN
from tidegate.kernels.recording import record_frozen, record_learning
from tidegate.kernels.reference import Online
from tidegate.learn import SGD, Network, Squared

STEPS, UNITS = 30, 4


def online(cell, units=UNITS, scale=0.8) -> tuple[Online, np.ndarray]:
    net = Network(inputs=3, outputs=2, cell=cell, units=units, scale=scale)
    return Online(net.plan, Squared(), SGD(0.05)), net.initial(seed=2)


def stream(steps=STEPS, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(steps, 3)), rng.normal(size=(steps, 2))


@pytest.mark.parametrize("cell", [c for c in ONLINE if type(c) is not SLSTM], ids=name)
def test_retention_is_what_a_perturbed_memory_keeps(cell) -> None:
    """Hold the slots, perturb one memory, compare; SLSTM states its own retention."""
    machine, weights = online(cell)
    (trace,) = record_frozen(machine, machine.start(weights), stream()[0], with_slots=True)
    own = machine.plan.weights.views(weights)["layer0.unit"]
    par = dict(zip(cell.parameters, own, strict=True))
    for memory in trace.log_retention:
        for t in range(1, STEPS):
            kept = {m: trace.memory[m][t - 1, 0] for m in cell.memory}

            def after(by: float, t=t, kept=kept, memory=memory) -> np.ndarray:
                past = SimpleNamespace(**(kept | {memory: kept[memory] + by}))
                z = SimpleNamespace(**{s: a[t, 0] for s, a in trace.slots.items()})
                return getattr(cell.step(z, past, SimpleNamespace(**par)), memory)

            measured = (after(1e-5) - after(-1e-5)) / 2e-5
            sign = trace.retention_sign.get(memory, np.ones((STEPS, 1, UNITS)))[t, 0]
            derived = sign * np.exp(trace.log_retention[memory][t, 0])
            np.testing.assert_allclose(derived, measured, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("cell", PACKAGED, ids=name)
def test_memories_and_hidden_values_are_those_of_the_stream(cell) -> None:
    machine, weights = online(cell)
    xs, _ = stream()
    state, other = machine.start(weights), machine.start(weights)
    (trace,) = record_frozen(machine, state, xs)
    for t, x in enumerate(xs):
        machine.frozen(other, x[None])
        memory = machine.plan.memory.views(other.memory)["layer0"]
        hidden = machine.plan.hidden.views(other.hidden)["layer0"]
        for row, n in zip(memory, cell.memory, strict=True):
            np.testing.assert_array_equal(trace.memory[n][t, 0], row)
        for row, n in zip(hidden, cell.hidden, strict=True):
            np.testing.assert_array_equal(trace.hidden[n][t, 0], row)
    np.testing.assert_array_equal(state.memory, other.memory)


def test_gates_explain_the_memory() -> None:
    """Trouble 46: f c(t-1) + i g = c(t), from the recording alone."""
    machine, weights = online(LSTM(1.0))
    state = machine.start(weights.astype(np.float32))
    (trace,) = record_frozen(machine, state, stream()[0])
    g = {n: a[1:] for n, a in trace.gates.items()}
    c = trace.memory["c"]
    assert c.dtype == np.float32
    np.testing.assert_allclose(g["f"] * c[:-1] + g["i"] * g["g"], c[1:], rtol=0, atol=1e-6)
    np.testing.assert_allclose(np.exp(trace.log_retention["c"][1:]), g["f"], rtol=1e-6)


def test_a_gate_of_120_is_recorded_in_full() -> None:
    machine, weights = online(LSTM(120.0), scale=0.0)
    state = machine.start(weights.astype(np.float32))
    (trace,) = record_frozen(machine, state, stream()[0])
    np.testing.assert_allclose(trace.log_retention["c"], -7.66764807372e-53, rtol=1e-10)


@pytest.mark.parametrize("cell", ONLINE, ids=name)
def test_learning_while_recorded_is_learning(cell) -> None:
    machine, weights = online(cell)
    xs, targets = stream()
    state, other = machine.start(weights), machine.start(weights)
    (trace,) = record_learning(machine, state, xs, targets)
    machine.run(other, xs, targets)
    for key, array in vars(state).items():
        np.testing.assert_array_equal(array, vars(other)[key])
    if type(cell) is not SLSTM:
        last = machine.plan.memory.views(state.memory)["layer0"]
        for row, n in zip(last, cell.memory, strict=True):
            np.testing.assert_allclose(trace.memory[n][-1, 0], row, rtol=1e-14)


def test_a_recording_in_blocks_is_the_recording() -> None:
    machine, weights = online(LSTM())
    xs, targets = stream()
    (whole,) = record_learning(machine, machine.start(weights), xs, targets, seed=4)
    state = machine.start(weights)
    parts = [
        record_learning(machine, state, xs[a:b], targets[a:b], seed=4)[0]
        for a, b in ((0, 1), (1, 17), (17, 30))
    ]
    again = joined(parts)
    np.testing.assert_array_equal(again.log_retention["c"], whole.log_retention["c"])
    assert again.meta == whole.meta and whole.meta.cell == "LSTM(forget_bias=0.0)"
    assert whole.meta.sizes == {"layer": 0, "inputs": 3, "units": UNITS} and whole.meta.seed == 4


def test_after_a_reset_it_is_as_a_fresh_stream() -> None:
    machine, weights = online(LSTM())
    xs, _ = stream()
    resets = np.arange(STEPS) == 12
    (trace,) = record_frozen(machine, machine.start(weights), xs, resets)
    (fresh,) = record_frozen(machine, machine.start(weights), xs[12:])
    np.testing.assert_array_equal(trace.memory["c"][12:], fresh.memory["c"])
    np.testing.assert_array_equal(trace.reset[:, 0], resets)


def test_every_layer_has_a_trace_of_its_own() -> None:
    machine, weights = online((LSTM(), RNN()), units=(4, 2))
    below, above = record_frozen(machine, machine.start(weights), stream()[0], with_slots=True)
    assert (below.units, above.units) == (4, 2)
    assert not above.log_retention and above.hidden.keys() == {"h"}
    assert set(below.slots) == {"i", "f", "g", "o"} and above.meta.sizes["inputs"] == 4


def test_a_normalised_memory_is_recorded_as_it_is_meant() -> None:
    machine, weights = online(SLSTM())
    (trace,) = record_frozen(machine, machine.start(weights), stream()[0])
    assert abs(trace.memory["c"]).max() <= 1 + 1e-12


def test_one_target_and_flag_a_step() -> None:
    machine, weights = online(LSTM())
    xs, targets = stream()
    with pytest.raises(UsageError, match="one for each of 30 steps, got 29"):
        record_learning(machine, machine.start(weights), xs, targets[1:])
    with pytest.raises(UsageError, match="recording resets"):
        record_frozen(machine, machine.start(weights), xs, np.zeros(3, bool))
