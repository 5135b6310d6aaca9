"""Alarms: buckets that fill, stall, and heal."""

from __future__ import annotations

import numpy as np

from support.traces import leaky
from tidegate import memory
from tidegate._core.trace import Meta, Trace


def test_a_bucket_without_a_leak_raises_the_alarm_and_a_forget_event_heals_it() -> None:
    """Trouble 17: write 0.1 for 1e5 steps, with f = 0.99 and with f = 1."""
    steps = 100_001
    f = np.full((steps, 1, 2), 0.99)
    f[:, :, 1] = 1.0
    f[-1] = 0.0
    trace = leaky(f, np.full(f.shape, 0.1))
    leaking, sealed = trace.memory["c"][-2, 0]
    np.testing.assert_allclose([leaking, sealed], [10.0, 10_000.0], rtol=1e-9)
    assert memory.tanh_slope(np.array(sealed)) == 0
    (alarm,) = memory.alarms(trace)
    assert (alarm.unit, alarm.kind, alarm.last, alarm.healed) == (1, "no slope", steps - 2, True)
    assert 105 < alarm.first < 120  # tanh has a slope of 1e-9 at 11.05
    assert "forget" in alarm.advice
    (unhealed,) = memory.alarms(trace.part(0, 50_000))
    assert not unhealed.healed and unhealed.last == 49_999


def test_a_sum_of_unit_writes_is_stuck_from_two_to_the_24_on() -> None:
    """In float32; one short of it a unit write still arrives."""
    c = np.array([1, 2, 3, 2**24 - 1, 2**24, 2**24, 2**24, 1, 2], np.float32)[:, None, None]
    kept = np.zeros(c.shape)
    kept[3] = np.log((2**24 - 1) / 3)  # arrives there without a write
    kept[7] = -np.inf  # forgets
    trace = Trace({"c": kept}, {"c": c})
    assert c[3] + np.float32(1) == c[4] and c[4] + np.float32(1) == c[4]
    assert memory.stuck(trace).ravel().tolist() == [False] * 4 + [True] * 3 + [False] * 2
    kinds = {(alarm.kind, alarm.first, alarm.last, alarm.healed) for alarm in memory.alarms(trace)}
    assert kinds == {("stuck", 4, 6, True), ("no slope", 3, 6, True)}


def test_what_was_before_the_trace_is_no_write() -> None:
    c = np.array([2**24, 2**24, 2**24, 0, 1], np.float32)[:, None, None]
    kept = np.zeros(c.shape)
    kept[3] = -np.inf
    later = Trace({"c": kept}, {"c": c}, meta=Meta(start=50))
    assert not memory.stuck(later).any()


def test_shares_of_open_and_closed_gates() -> None:
    rng = np.random.default_rng(0)
    gates = {"f": rng.random((200, 2, 3)), "g": rng.uniform(-1, 1, (200, 2, 3))}
    use = memory.gate_use(Trace(gates=gates))
    for name, gate in gates.items():
        for unit in range(3):
            values = abs(gate[:, :, unit]).ravel()
            assert use.closed[name][unit] == np.mean(values < 0.1)
            assert use.open[name][unit] == np.mean(values > 0.9)


def test_slope_of_tanh_has_no_cancellation() -> None:
    x = np.linspace(-9, 9, 101)
    np.testing.assert_allclose(memory.tanh_slope(x), 1 / np.cosh(x) ** 2, rtol=1e-14)
