"""The bare network: what it sees, what it may not do, and that nothing breaks it."""

from __future__ import annotations

from math import isfinite, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tidegate.forecast import BareNetwork
from tidegate.forecast.bare import CAP, Season

Floats = NDArray[np.float64]


def network(columns: int = 1, seed: int = 0) -> BareNetwork:
    return BareNetwork(columns, cell="lstm", units=4, seed=seed)


def met(forecaster: BareNetwork, series: Floats) -> list[float]:
    """The forecast made after each row of (row, column)."""
    said = []
    for row in series:
        forecaster.observe(row)
        said.append(forecaster.forecast())
    return said


@pytest.mark.parametrize("period", [1, 2, 3, 24])
def test_a_season_is_what_the_series_did_a_period_ago(period: int) -> None:
    series = np.random.default_rng(period).normal(size=3 * period + 5)
    season = Season(period)
    for value in series:
        season.observe(float(value))
    now = float(series[-1])
    coming = len(series) - period
    due, before = series[coming], series[coming - 1]
    then = series[min(coming + 1, len(series) - 1)]
    assert season.changes(now) == (due - now, due - before, then - before)


def test_a_season_before_its_first_period_is_unknown() -> None:
    season = Season(period=5)
    season.observe(1.0)
    assert all(np.isnan(season.changes(1.0)))


def test_asking_for_the_forecast_changes_nothing() -> None:
    series = np.random.default_rng(0).normal(size=(60, 1))
    silent, asked = network(), network()
    for row in series:
        silent.observe(row)
        asked.observe(row)
        assert len({asked.forecast() for _ in range(3)}) == 1
    state, other = silent.learner.state, asked.learner.state
    np.testing.assert_array_equal(state.weights, other.weights)
    np.testing.assert_array_equal(state.traces, other.traces)


def test_before_a_value_there_is_no_forecast_and_before_a_change_it_is_the_value() -> None:
    forecaster = network()
    assert np.isnan(forecaster.forecast())
    assert met(forecaster, np.array([[nan], [5.0], [5.0], [nan], [5.0]]))[1:] == [5.0] * 4


@settings(max_examples=20)
@given(st.floats(1e-6, 1e6), st.floats(-1e6, 1e6))
def test_units_of_the_target_do_not_matter(scale: float, offset: float) -> None:
    wave = np.sin(np.arange(80.0) * 0.4)[:, None]
    plain, other = met(network(), wave), met(network(), wave * scale + offset)
    size = max(abs(offset), scale)
    np.testing.assert_allclose(np.array(plain[40:]) * scale + offset, other[40:], atol=1e-3 * size)


def test_a_missing_target_is_replaced_by_the_forecast() -> None:
    wave = np.sin(np.arange(200.0) * 0.3)[:, None]
    forecaster = network()
    met(forecaster, wave)
    weights = forecaster.learner.state.weights
    assert forecaster.observe(np.array([nan])) == ("missing",)
    np.testing.assert_array_equal(weights, forecaster.learner.state.weights)
    assert isfinite(forecaster.forecast())


def test_nothing_made_up_enters_the_scales() -> None:
    forecaster = network()
    met(forecaster, np.sin(np.arange(50.0))[:, None])
    before = forecaster.level.state() | forecaster.spread.state()
    met(forecaster, np.full((5, 1), nan))
    np.testing.assert_equal(forecaster.level.state() | forecaster.spread.state(), before)


def test_a_missing_input_is_flagged_and_does_no_harm() -> None:
    rows = np.random.default_rng(1).normal(size=(60, 2))
    forecaster = network(columns=2)
    met(forecaster, rows)
    assert "missing" in forecaster.observe(np.array([0.5, nan]))
    assert "missing" not in forecaster.observe(np.array([0.5, 0.1]))
    assert isfinite(forecaster.forecast())


def test_the_largest_numbers_there_are_break_nothing() -> None:
    forecaster = network()
    met(forecaster, np.where(np.arange(100) % 2, 1.7e308, -1.7e308)[:, None])
    assert np.isfinite(forecaster.learner.state.weights).all()


def test_a_spike_in_an_input_leaves_no_mark() -> None:
    rows = np.random.default_rng(6).normal(size=(500, 2))
    rows[300, 1] = 1e200
    forecaster = network(columns=2)
    met(forecaster, rows)
    assert forecaster.others is not None
    assert forecaster.others.deviation[0] < 2
    assert abs(forecaster.asked[1]) > 0.01


def test_inputs_are_capped() -> None:
    forecaster = network()
    forecaster.know({"day ago": 3})
    rows = np.random.default_rng(7).normal(size=(50, 1))
    for spike in (1e9, -1e12, 1e308):
        met(forecaster, np.append(rows, [[spike]], axis=0))
        assert np.nanmax(np.abs(forecaster.asked)) == CAP


def test_a_known_period_helps() -> None:
    pattern = np.random.default_rng(4).normal(size=24) * 10
    series = np.tile(pattern, 60)[:, None]
    errors = []
    for periods in ({}, {"day ago": 24}):
        forecaster = network()
        forecaster.know(periods)
        said = np.array(met(forecaster, series))
        errors.append(np.abs(said[700:-1] - series[701:, 0]).mean())
    assert errors[1] < errors[0] / 3


def test_more_periods_than_inputs_are_left_out() -> None:
    forecaster = network()
    forecaster.know({"a": 2, "b": 3, "c": 4})
    met(forecaster, np.arange(20.0)[:, None])
    assert isfinite(forecaster.forecast())


def test_the_seed_decides() -> None:
    rows = np.random.default_rng(2).normal(size=(50, 1))
    assert met(network(seed=1), rows) == met(network(seed=1), rows)
    assert met(network(seed=1), rows) != met(network(seed=2), rows)
