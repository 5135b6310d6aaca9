"""Half-lives, retention curves, age and balance against loops over every step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.traces import gates_only, leaky
from tidegate import memory
from tidegate._core.errors import UsageError
from tidegate._core.trace import Trace
from tidegate.cells import GRU, LSTM, UpdateGate
from tidegate.kernels.recording import record_frozen
from tidegate.kernels.reference import Online
from tidegate.learn import SGD, Network, Squared

seeds = st.integers(0, 2**31)


def random_trace(seed: int, steps: int = 40, negative: bool = False) -> tuple[Trace, np.ndarray]:
    rng = np.random.default_rng(seed)
    f = rng.uniform(-1.1 if negative else 0.0, 1.1, (steps, 2, 3))
    write = rng.normal(size=f.shape)
    return leaky(f, write, rng.random((steps, 2)) < 0.05), write


def test_two_half_lives_of_one_gate_and_neither_is_the_mean() -> None:
    f = np.full((400, 1), 0.999)
    f[123] = 0.001
    found = memory.half_lives(gates_only(f))
    assert found.between_events[0] == pytest.approx(692.80, abs=0.01)
    assert found.effective[0] == pytest.approx(37.9, abs=0.05)
    naive = np.log(2) / -np.log(f.mean())
    assert naive == pytest.approx(198.0, abs=0.5) and naive not in found.effective
    assert found.words() == [("692.8 steps", "37.94 steps")]


def test_half_lives_in_words_and_without_resets() -> None:
    kept = np.zeros((4, 1, 4))
    kept[:, 0, 1], kept[:, 0, 2], kept[:, 0, 3] = 0.1, -np.inf, -7.66764807372e-53
    kept[2] = -5.0
    trace = Trace(log_retention={"c": kept}, reset=np.arange(4)[:, None] == 2)
    words = [between for between, _ in memory.half_lives(trace).words()]
    assert words == ["forever", "grows", "none", "9.04e+51 steps"]
    with pytest.raises(UsageError, match="no resets"):
        memory.half_lives(Trace(log_retention={"c": kept}, reset=np.ones((4, 1), bool)))


@pytest.mark.parametrize("z", [1.0, 3.0])
@pytest.mark.parametrize("cell", [LSTM(), GRU(), UpdateGate()], ids=lambda c: type(c).__name__)
def test_an_impulse_halves_after_the_half_life_promised(cell, z: float) -> None:
    """Weights of 0 and a bias on the gate: the memory fades freely."""
    net = Network(inputs=1, outputs=1, cell=cell, units=1, scale=0.0)
    machine = Online(net.plan, Squared(), SGD(0.0))
    weights = net.initial(0)
    slot = "f" if "f" in cell.slots else "z"
    lets_go = isinstance(cell, UpdateGate)
    views = net.plan.weights.views(weights)
    views["layer0.bias"][0, list(cell.slots).index(slot)] = -z if lets_go else z
    state = machine.start(weights)
    state.memory[...] = 1.0
    (trace,) = record_frozen(machine, state, np.zeros((300, 1)))
    (name,) = trace.log_retention
    promised = memory.half_lives(trace).between_events[0]
    fading = trace.memory[name][:, 0, 0]
    step = np.interp(0.5, fading[::-1], np.arange(300, 0, -1.0))
    fit = np.log(2) * 20 / -np.log(fading[20] / fading[0])
    assert fit == pytest.approx(promised, rel=1e-9)
    assert step == pytest.approx(promised, abs=0.1)


@given(seeds, st.integers(0, 39))
def test_retention_curve_is_the_product(seed: int, step: int) -> None:
    trace, _ = random_trace(seed, negative=True)
    f = trace.retention_sign["c"] * np.exp(trace.log_retention["c"])
    share, expected = memory.retention_curve(trace, step).share, np.ones((2, 3))
    for t in range(step, 40):
        if t > step:
            expected = expected * f[t] * ~trace.reset[t][:, None]
        np.testing.assert_allclose(share[t - step], expected, rtol=1e-10, atol=0)


@given(seeds, st.integers(0, 39), st.booleans())
def test_age_is_what_is_left_of_every_write(seed: int, step: int, negative: bool) -> None:
    trace, write = random_trace(seed, negative=negative)
    f = trace.retention_sign["c"] * np.exp(trace.log_retention["c"])
    parts = memory.memory_age(trace, step).parts
    scale = np.abs(parts).max() + 1
    np.testing.assert_allclose(parts.sum(0), trace.memory["c"][step], rtol=0, atol=1e-12 * scale)
    for k in range(step + 1):
        left = write[k].copy()
        for j in range(k + 1, step + 1):
            left *= f[j] * ~trace.reset[j][:, None]
        np.testing.assert_allclose(parts[k], left, rtol=1e-9, atol=1e-12 * scale)


@pytest.mark.parametrize("cell", [LSTM(1.0), GRU(), UpdateGate()], ids=lambda c: type(c).__name__)
def test_age_of_real_cells_sums_to_the_memory(cell) -> None:
    net = Network(inputs=3, outputs=1, cell=cell, units=5, scale=1.0)
    machine = Online(net.plan, Squared(), SGD(0.0))
    xs = np.random.default_rng(1).normal(size=(200, 3))
    (trace,) = record_frozen(machine, machine.start(net.initial(3)), xs)
    (name,) = trace.log_retention
    for step in (0, 7, 199):
        parts = memory.memory_age(trace, step).parts
        np.testing.assert_allclose(parts.sum(0), trace.memory[name][step], rtol=0, atol=1e-12)
    if isinstance(cell, LSTM):
        g = {n: a[:, 0] for n, a in trace.gates.items()}
        later = np.cumprod(np.append(g["f"][1:], np.ones((1, 5)), 0)[::-1], 0)[::-1]
        np.testing.assert_allclose(parts[:, 0], later * g["i"] * g["g"], rtol=0, atol=1e-12)


def test_mean_age_counts_steps_since_the_write() -> None:
    f = np.ones((10, 1, 2))
    write = np.zeros_like(f)
    write[2, 0, 0], write[4, 0, 0] = 1.0, 3.0
    ages = memory.memory_age(leaky(f, write), 9).mean_age
    assert ages[0, 0] == pytest.approx((7 * 1 + 5 * 3) / 4) and np.isnan(ages[0, 1])


@given(seeds)
def test_balance_is_f_c_and_i_g(seed: int) -> None:
    trace, write = random_trace(seed)
    found = memory.balance(trace)
    np.testing.assert_allclose(found.write, abs(write), atol=1e-9)
    kept = np.exp(trace.log_retention["c"][1:]) * abs(trace.memory["c"][:-1])
    np.testing.assert_allclose(found.keep[1:], kept * ~trace.reset[1:, :, None], rtol=1e-9)
    assert (found.keep[0] == 0).all()
    np.testing.assert_array_equal(found.read, abs(trace.hidden["h"]))


def test_what_a_trace_does_not_hold_is_refused() -> None:
    shape = (3, 1, 1)
    two = Trace(log_retention={"c1": np.zeros(shape), "c2": np.zeros(shape)})
    with pytest.raises(UsageError, match="one of c1, c2"):
        memory.half_lives(two)
    assert memory.half_lives(two, "c2").median.shape == (1,)
    with pytest.raises(UsageError, match="a memory with a direct path"):
        memory.half_lives(Trace(hidden={"h": np.zeros(shape)}))
    with pytest.raises(UsageError, match="log-retention alone"):
        memory.memory_age(two, 0, "c1")
    with pytest.raises(UsageError, match="3 steps, got 3"):
        memory.retention_curve(two, 3, "c1")
    with pytest.raises(UsageError, match="hidden"):
        memory.balance(Trace({"c": np.zeros(shape)}, {"c": np.zeros(shape)}))
