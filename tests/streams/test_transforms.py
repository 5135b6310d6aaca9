"""Online transforms: causal, exact, sound at the edges of float64."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tidegate import UsageError
from tidegate.streams import Lags, Standardiser

Floats = NDArray[np.float64]


def run(rows: Floats, window: float = inf, cap: float = 5.0) -> tuple[Floats, NDArray[np.bool_]]:
    """What each row (step, column) became, and which values were capped."""
    standardiser = Standardiser(rows.shape[1], window, cap)
    scaled = np.empty_like(rows)
    capped = np.empty(rows.shape, bool)
    for t, row in enumerate(rows):
        scaled[t], capped[t] = standardiser.transform(row)
        standardiser.update(row)
    return scaled, capped


def column(*values: float) -> Floats:
    return np.array(values)[:, None]


def after(rows: Floats, window: float = inf) -> Standardiser:
    standardiser = Standardiser(rows.shape[1], window)
    for row in rows:
        standardiser.update(row)
    return standardiser


@pytest.mark.parametrize("value", [5.0, 0.1, 0.0, -1e300, 5e-324, 1e9 + 0.3])
def test_a_constant_becomes_exactly_zero(value: float) -> None:
    scaled, capped = run(np.full((300, 1), value), window=20)
    assert (scaled == 0).all() and not capped.any()


def test_a_first_change_after_long_quiet_is_capped_and_flagged() -> None:
    scaled, capped = run(column(*[0.0] * 9_999, 1.0))
    assert scaled[-1] == 5.0 and capped[-1]
    assert capped.sum() == 1
    everything = np.array([0.0] * 9_999 + [1.0])
    # What a scaler that already knew the value would have let through.
    assert (1 - everything.mean()) / everything.std() == pytest.approx(99.99, abs=0.01)


def test_the_cap_holds_on_both_sides_and_only_beyond_it() -> None:
    standardiser = after(column(-1.0, 1.0))
    found = [standardiser.transform(np.array([x])) for x in (-5.1, -4.5, 4.5, 1e6, -inf, inf)]
    scaled = [float(z.values[0]) for z in found]
    assert scaled == pytest.approx([-5, -4.5, 4.5, 5, -5, 5], rel=1e-12)
    assert max(map(abs, scaled)) == 5
    assert [bool(z.capped[0]) for z in found] == [True, False, False, True, True, True]


def test_before_two_values_all_is_zero() -> None:
    scaled, capped = run(column(7.0, -1e9, 3.0))
    assert (scaled[:2] == 0).all() and not capped[:2].any()
    assert scaled[2] != 0


def test_outputs_never_depend_on_what_comes_later() -> None:
    rows = np.random.default_rng(1).standard_normal((400, 3)).cumsum(axis=0)
    rows[np.random.default_rng(2).random(rows.shape) < 0.1] = np.nan
    whole, part = run(rows, window=50), run(rows[:150], window=50)
    assert whole[0][:150].tobytes() == part[0].tobytes()
    assert whole[1][:150].tobytes() == part[1].tobytes()


def test_transform_changes_nothing() -> None:
    standardiser = after(column(1.0, 2.0, 4.0))
    before = {name: array.tobytes() for name, array in standardiser.state().items()}
    standardiser.transform(np.array([1e6]))
    assert before == {name: array.tobytes() for name, array in standardiser.state().items()}


VALUES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60)


@given(VALUES)
def test_statistics_are_those_of_all_values_so_far(values: list[float]) -> None:
    standardiser = after(column(*values))
    size = max(map(abs, values)) or 1.0
    # NumPy squares, and tiny squares vanish: its deviation is that of values near 1.
    deviation = np.std(np.array(values) / size) * size
    assert standardiser.mean[0] == pytest.approx(np.mean(values), rel=1e-12, abs=1e-12 * size)
    assert standardiser.deviation[0] == pytest.approx(deviation, rel=1e-7, abs=1e-9 * size)
    assert standardiser.count[0] == len(values)


@given(VALUES, st.integers(2, 20))
def test_a_window_weighs_as_it_says(values: list[float], window: int) -> None:
    weights = np.zeros(len(values))
    for t in range(len(values)):
        weights *= 1 - 1 / min(t + 1, window)
        weights[t] = 1 / min(t + 1, window)
    size = max(map(abs, values)) or 1.0
    near_one = np.array(values) / size
    mean = np.average(near_one, weights=weights)
    deviation = np.average((near_one - mean) ** 2, weights=weights) ** 0.5
    standardiser = after(column(*values), window)
    assert standardiser.mean[0] / size == pytest.approx(mean, rel=1e-12, abs=1e-12)
    assert standardiser.deviation[0] / size == pytest.approx(deviation, rel=1e-7, abs=1e-9)


@given(VALUES, st.floats(-1e6, 1e6))
def test_inverse_undoes_what_was_not_capped(values: list[float], value: float) -> None:
    standardiser = after(column(*values))
    scaled, capped = standardiser.transform(np.array([value]))
    if not capped[0] and standardiser.deviation[0] > 0:
        assert standardiser.inverse(scaled)[0] == pytest.approx(value, rel=1e-9, abs=1e-6)


def test_a_missing_value_passes_and_changes_nothing() -> None:
    rows = np.random.default_rng(3).standard_normal((60, 2))
    holes = rows.copy()
    holes[10, 0] = holes[40, 0] = np.nan
    scaled, capped = run(holes, window=10)
    assert np.isnan(scaled[[10, 40], 0]).all() and np.isfinite(scaled[:, 1]).all()
    assert not capped[[10, 40], 0].any()
    kept = np.delete(rows[:, :1], [10, 40], axis=0)
    expected, _ = run(kept, window=10)
    assert np.delete(scaled[:, :1], [10, 40], axis=0).tobytes() == expected.tobytes()


@pytest.mark.parametrize("gone", [np.nan, inf, -inf])
def test_nothing_that_is_not_finite_enters_the_statistics(gone: float) -> None:
    with_gap, without = after(column(1.0, gone, 2.0)), after(column(1.0, 2.0))
    for name, array in with_gap.state().items():
        assert array.tobytes() == without.state()[name].tobytes()


def test_small_noise_on_a_large_offset_keeps_its_deviation() -> None:
    noise = np.random.default_rng(4).standard_normal(5_000)
    standardiser = after(1e9 + noise[:, None])
    assert standardiser.deviation[0] == pytest.approx(noise.std(), rel=1e-6)
    assert standardiser.mean[0] - 1e9 == pytest.approx(noise.mean(), abs=1e-5)


@pytest.mark.parametrize("size", [1e300, 1.7976931348623157e308, 1e-300, 1e-310])
def test_the_ends_of_float64_neither_overflow_nor_vanish(size: float) -> None:
    signs = np.random.default_rng(5).choice([-1.0, 1.0], 400)
    scaled, capped = run((signs * size)[:, None], window=100)
    assert np.isfinite(scaled).all()
    assert np.abs(scaled[-100:]).mean() == pytest.approx(1, abs=0.2)
    standardiser = after((signs * size)[:, None])
    assert np.isfinite(standardiser.deviation).all() and standardiser.deviation[0] > 0


def test_columns_do_not_know_each_other() -> None:
    rows = np.random.default_rng(6).standard_normal((50, 3)) * [1, 1e6, 1e-6]
    together, _ = run(rows)
    for i in range(3):
        assert run(rows[:, i : i + 1])[0].tobytes() == together[:, i : i + 1].copy().tobytes()


def test_a_restored_standardiser_goes_on_to_the_bit() -> None:
    rows = np.random.default_rng(7).standard_normal((200, 2))
    first = after(rows[:100], window=30)
    second = Standardiser(2, window=30)
    second.restore(first.state())
    for row in rows[100:]:
        a, b = first.transform(row), second.transform(row)
        assert a.values.tobytes() == b.values.tobytes()
        first.update(row)
        second.update(row)
    for name, array in first.state().items():
        assert array.tobytes() == second.state()[name].tobytes()


def test_a_state_is_a_copy() -> None:
    standardiser = after(column(1.0, 2.0))
    state = standardiser.state()
    other = Standardiser(1, inf)
    other.restore(state)
    standardiser.update(np.array([99.0]))
    other.update(np.array([-99.0]))
    assert state["mean"][0] == 1.5 and state["count"][0] == 2


def test_a_state_of_another_size_is_refused() -> None:
    with pytest.raises(UsageError, match=r"expected shape \(3,\), got \(2,\)"):
        Standardiser(3, 10).restore(Standardiser(2, 10).state())


@pytest.mark.parametrize(("columns", "window", "cap"), [(0, 10, 5), (1, 1, 5), (1, 10, 0)])
def test_impossible_sizes_are_refused(columns: int, window: float, cap: float) -> None:
    with pytest.raises(UsageError):
        Standardiser(columns, window, cap)
    with pytest.raises(UsageError):
        Standardiser(1, float("nan"))


LAGS = st.lists(st.integers(1, 12), min_size=1, max_size=5)


@given(LAGS, st.integers(0, 40))
def test_lags_are_the_rows_so_many_steps_back(lags: list[int], steps: int) -> None:
    rows = np.arange(2.0 * steps).reshape(steps, 2)
    memory = Lags(2, lags)
    for t in range(steps + 1):
        expected = [rows[t - lag] if lag <= t else [np.nan] * 2 for lag in lags]
        np.testing.assert_array_equal(memory.values(), expected)
        if t < steps:
            memory.push(rows[t])


def test_lags_handed_out_do_not_change_later() -> None:
    memory = Lags(1, [1])
    memory.push(np.array([1.0]))
    held = memory.values()
    memory.push(np.array([2.0]))
    assert held.tolist() == [[1.0]]


def test_restored_lags_go_on_to_the_bit() -> None:
    first, second = Lags(1, [1, 3, 5]), Lags(1, [1, 3, 5])
    for value in range(7):
        first.push(np.array([float(value)]))
    second.restore(first.state())
    for value in range(7):
        assert first.values().tobytes() == second.values().tobytes()
        first.push(np.array([value / 3]))
        second.push(np.array([value / 3]))


@pytest.mark.parametrize(("columns", "lags"), [(0, [1]), (1, []), (1, [0]), (1, [3, -1])])
def test_impossible_lags_are_refused(columns: int, lags: list[int]) -> None:
    with pytest.raises(UsageError):
        Lags(columns, lags)


def test_lags_of_another_state_are_refused() -> None:
    with pytest.raises(UsageError, match="shape"):
        Lags(1, [2]).restore(Lags(1, [3]).state())
