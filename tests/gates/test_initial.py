"""Biases by half-life: the units start with the memory that was asked for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate import gates
from tidegate._core.errors import UsageError

rng = np.random.default_rng(0)


@given(st.floats(0.1, 1e200), st.floats(1, 1e6), st.integers(1, 40))
def test_half_lives_from_biases(shortest: float, ratio: float, units: int) -> None:
    biases = gates.for_half_lives(shortest, shortest * ratio)(rng, units)
    got = np.log(gates.half_life_from_preactivation(biases))
    ends = np.log([shortest, shortest * ratio])
    wanted = np.linspace(*ends, units) if units > 1 else [ends.mean()]
    np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-10)


def test_one_half_life_for_all() -> None:
    biases = gates.for_half_life(692.8)(rng, 5)
    assert biases.shape == (5,) and biases.dtype == np.float64
    np.testing.assert_allclose(1 / (1 + np.exp(-biases)), 0.999, rtol=1e-6)
    np.testing.assert_array_equal(gates.negated(gates.for_half_life(692.8))(rng, 5), -biases)


def test_chrono_spreads_time_constants_uniformly() -> None:
    drawn = np.exp(gates.chrono(1000.0)(np.random.default_rng(1), 20_000))
    assert drawn.min() >= 1 and drawn.max() <= 999
    counts, _ = np.histogram(drawn, 10, (1, 999))
    assert abs(counts - 2000).max() < 6 * np.sqrt(2000)


def test_laws_start_a_network() -> None:
    from tidegate.cells.laws import Law as CellLaw

    law: CellLaw = gates.for_half_lives(1.0, 100.0)
    assert law(rng, 3).shape == (3,)


@pytest.mark.parametrize(
    "make",
    [
        lambda: gates.for_half_life(0.0),
        lambda: gates.for_half_life(np.inf),
        lambda: gates.for_half_lives(10.0, 1.0),
        lambda: gates.for_half_lives(-1.0, 1.0),
        lambda: gates.chrono(1.5),
    ],
)
def test_impossible_half_lives_are_refused(make) -> None:
    with pytest.raises(UsageError):
        make()
