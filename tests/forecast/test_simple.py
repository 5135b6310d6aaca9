"""Simple forecasts against NumPy, on series with holes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from tidegate.forecast import Ago, Persistence, Simple
from tidegate.forecast.past import Past

Floats = NDArray[np.float64]
SERIES = arrays(
    np.float64,
    st.integers(0, 60),
    elements=st.one_of(st.just(np.nan), st.floats(-1e6, 1e6)),
)


def forecasts(simple: Simple, series: Floats) -> Floats:
    """What was said of each value before it came, and of the one after the last."""
    said = [simple.forecast()]
    for value in series:
        simple.observe(float(value))
        said.append(simple.forecast())
    return np.array(said)


def last_seen(series: Floats) -> Floats:
    """At every place of (nothing, *series) the newest value that is there."""
    padded = np.concatenate([[np.nan], series])
    places = np.where(np.isnan(padded), 0, np.arange(len(padded)))
    return padded[np.maximum.accumulate(places)]


@given(SERIES)
def test_persistence_is_the_last_value_seen(series: Floats) -> None:
    np.testing.assert_array_equal(forecasts(Persistence(), series), last_seen(series))


@given(SERIES, st.integers(1, 70))
def test_a_period_ago(series: Floats, period: int) -> None:
    whole = np.concatenate([np.full(period, np.nan), series])
    ago = whole[: len(series) + 1]
    expected = np.where(np.isnan(ago), last_seen(series), ago)
    np.testing.assert_array_equal(forecasts(Ago(period), series), expected)


def test_one_period_of_a_thousand_is_a_thousand_back() -> None:
    series = np.arange(3_000.0)
    np.testing.assert_array_equal(forecasts(Ago(1_000), series)[1_000:], np.arange(2_001.0))


@given(st.lists(st.floats(allow_nan=False), max_size=40), st.integers(1, 12))
def test_past_is_the_end_of_a_list(values: list[float], longest: int) -> None:
    past = Past(longest)
    for value in values:
        past.push(value)
    told = [past[lag] for lag in range(1, longest + 1)]
    expected = [*values[::-1], *[np.nan] * longest][:longest]
    np.testing.assert_array_equal(told, expected)


@pytest.mark.parametrize("simple", [Persistence(), Ago(3)])
def test_asking_changes_nothing(simple: Simple) -> None:
    simple.observe(4.0)
    assert [simple.forecast() for _ in range(3)] == [4.0] * 3
