"""Forget events: every definition as a loop, no look ahead, lists, averages, alignment."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from support.traces import gates_only, leaky
from tidegate import memory
from tidegate._core.errors import UsageError

seeds = st.integers(0, 2**31)


def gates(seed: int, steps: int = 60, units: int = 4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.where(rng.random((steps, units)) < 0.1, 0.1, 0.9) * rng.uniform(
        0.9, 1, (steps, units)
    )


@given(seeds)
def test_the_score_is_the_formula_over_the_steps_so_far(seed: int) -> None:
    f = gates(seed)
    scores = memory.forget_score(gates_only(f))[:, 0]
    assert (scores[:2] == 0).all()
    for t in range(2, len(f)):
        past = 1 - f[: t + 1]
        skew = np.maximum(stats.skew(past), 0)
        weight = skew / skew.sum() if skew.sum() > 1e-12 else np.zeros(4)
        expected = weight @ ((1 - f[t] - past.mean(0)) / past.std(0))
        assert scores[t] == pytest.approx(expected, rel=1e-6, abs=1e-6)


@given(seeds, st.integers(1, 59))
def test_nothing_ahead_is_looked_at(seed: int, now: int) -> None:
    f = gates(seed)
    other = f.copy()
    other[now:] = gates(seed + 1)[now:]
    one, two = gates_only(f, start=5), gates_only(other, start=5)
    np.testing.assert_array_equal(memory.forget_score(one)[:now], memory.forget_score(two)[:now])
    before = [
        [e for e in memory.forget_events(t, warmup=10) if e.step < 5 + now] for t in (one, two)
    ]
    assert before[0] == before[1]


def test_step_by_step_and_rows_side_by_side_are_the_same() -> None:
    f = np.stack([gates(1), gates(2)], axis=1)
    from tidegate._core.trace import Trace

    scores = memory.forget_score(Trace(log_retention={"c": np.log(f)}))
    for row in (0, 1):
        np.testing.assert_allclose(
            scores[:, row], memory.forget_score(gates_only(f[:, row]))[:, 0], rtol=1e-12
        )


@given(seeds)
def test_the_other_definitions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    f = rng.uniform(0.05, 1, (20, 2, 3))
    trace = leaky(f, rng.normal(size=f.shape), rng.random((20, 2)) < 0.1)
    np.testing.assert_allclose(memory.closing(trace), 1 - f, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(memory.mean_closing(trace), (1 - f).mean(-1))
    np.testing.assert_array_equal(memory.halvings(trace), f <= 0.5)
    lost = memory.loss(trace)
    for t, row in product(range(20), range(2)):
        before = 0 * f[0, 0] if t == 0 or trace.reset[t, row] else trace.memory["c"][t - 1, row]
        assert lost[t, row] == pytest.approx(((1 - f[t, row]) * abs(before)).sum())


def test_units_that_never_change_have_no_say() -> None:
    f = np.full((300, 3), 0.9)
    assert (memory.forget_score(gates_only(f)) == 0).all()
    assert memory.forget_events(gates_only(f)) == []
    f[::50, 0] = 0.1
    events = memory.forget_events(gates_only(f), threshold=3.0)
    assert [event.step for event in events] == [100, 150, 200, 250]
    assert all(event.excess >= 3 and event.row == 0 for event in events)


RARE = np.arange(250, 5000, 500)


def nearly_constant(units: int, noise: float) -> np.ndarray:
    """Gates of 0.99 that all close at ``RARE``."""
    f = 0.99 + noise * np.random.default_rng(units).normal(size=(5000, units))
    f[RARE] = 0.05
    return f


def test_every_closing_of_a_constant_gate_is_an_event_and_nothing_else() -> None:
    events = memory.forget_events(gates_only(nearly_constant(1, 0.0)))
    assert [event.step for event in events] == RARE.tolist()


@pytest.mark.parametrize("units", [1, 8])
@pytest.mark.parametrize("noise", [1e-9, 1e-4])
def test_after_its_first_closing_noise_of_a_gate_is_no_event(units: int, noise: float) -> None:
    steps = [e.step for e in memory.forget_events(gates_only(nearly_constant(units, noise)))]
    assert [step for step in steps if step >= RARE[0]] == RARE.tolist()


def test_one_unit_that_closes_among_noisy_ones_is_heard() -> None:
    f = nearly_constant(8, 1e-4)
    f[:, 1:] = np.random.default_rng(0).uniform(0.7, 0.9, (5000, 7))
    steps = [e.step for e in memory.forget_events(gates_only(f))]
    assert set(RARE) <= set(steps)
    assert [step for step in steps if step >= RARE[1]] == RARE[1:].tolist()


def test_a_wild_start_hides_no_later_closing() -> None:
    f = nearly_constant(1, 1e-4)
    f[:4, 0] = [0.99, 0.99, 0.98999, 0.01]
    assert set(RARE) <= {event.step for event in memory.forget_events(gates_only(f))}


@given(seeds)
def test_no_score_and_no_excess_is_beyond_samuelsons_bound(seed: int) -> None:
    scores = memory.forget_score(gates_only(gates(seed)))[:, 0]
    most = np.sqrt(np.arange(len(scores))) * (1 + 1e-9)
    assert (abs(scores) <= most).all()
    detector = memory.EventDetector(warmup=2)
    excess = np.array([float(detector.update(score)[1]) for score in scores])
    assert (abs(excess) <= most).all()


@given(st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=60))
def test_running_moments_are_those_of_the_values(values: list[float]) -> None:
    moments = memory.RunningMoments()
    for value in values:
        moments.add(np.array(value))
    scale = max(map(abs, values)) + 1e-9
    assert moments.mean == pytest.approx(np.mean(values), abs=1e-10 * scale)
    assert moments.deviation == pytest.approx(np.std(values), abs=1e-7 * scale)
    if np.std(values) > 1e-3 * scale:
        assert moments.skew == pytest.approx(stats.skew(values), rel=1e-6, abs=1e-6)


def test_event_averages() -> None:
    rng = np.random.default_rng(0)
    signal = rng.normal(size=(200, 3))
    events = [1, 50, 120, 198]
    found = memory.event_average(signal, events, before=3, after=5)
    assert found.events == 2 and found.offsets.tolist() == list(range(-3, 6))
    for offset, mean in zip(found.offsets, found.mean, strict=True):
        np.testing.assert_allclose(mean, (signal[50 + offset] + signal[120 + offset]) / 2)
    with pytest.raises(UsageError, match="whole window"):
        memory.event_average(signal, [1], before=3, after=5)


@given(
    st.sets(st.integers(0, 14), min_size=1, max_size=6),
    st.sets(st.integers(0, 14), min_size=1, max_size=6),
    st.integers(0, 3),
)
def test_pairs_are_as_many_as_can_be(events: set, borders: set, within: int) -> None:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    near = abs(np.subtract.outer(sorted(events), sorted(borders))) <= within
    best = int((maximum_bipartite_matching(csr_array(near.astype(int))) >= 0).sum())
    found = memory.align(list(events), list(borders), 20, within, shifts=3)
    assert found.precision == best / len(events) and found.recall == best / len(borders)
    total = found.precision + found.recall
    assert found.f1 == pytest.approx(2 * found.precision * found.recall / total if total else 0)


def test_p_values_are_uniform_where_events_know_nothing_of_borders() -> None:
    """Random events; and those of a random gate. Few borders too, where F1 has few values."""
    values = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        borders = np.flatnonzero(rng.random(600) < (0.01 if seed % 2 else 0.06))
        events = np.flatnonzero(rng.random(600) < 0.05)
        if len(borders) and len(events):
            found = memory.align(events, borders, 600, within=2, shifts=99, seed=seed)
            values.append(found.p_value)
    assert stats.kstest(values, "uniform").pvalue > 1e-3
    assert 0.02 < np.mean(np.array(values) <= 0.05) < 0.09


def test_borders_that_are_met_have_the_least_p() -> None:
    rng = np.random.default_rng(0)
    borders = np.flatnonzero(rng.random(1000) < 0.03)
    found = memory.align(borders + rng.integers(-1, 2, len(borders)), borders, 1001, within=2)
    assert found.f1 > 0.9 and found.p_value == 0.001
    late = memory.align(borders[:-1] + 5, borders, 1001, within=2)
    assert late.f1 < 0.5


def test_what_cannot_be_aligned_is_refused() -> None:
    with pytest.raises(UsageError, match="events"):
        memory.align([], [3], 10)
    with pytest.raises(UsageError, match="borders"):
        memory.align([3], [10], 10)
    with pytest.raises(UsageError, match="twice the window"):
        memory.align([3], [3], 10, within=5)
    with pytest.raises(UsageError, match="warmup"):
        memory.EventDetector(warmup=1)
