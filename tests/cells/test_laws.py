"""Laws of start values: half-lives, chrono, uniform gates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_expit

from tidegate import UsageError
from tidegate.cells import chrono, half_life, half_lives, minus, uniform, uniform_gate


@pytest.mark.parametrize("steps", [0.01, 1.0, 6.579, 692.8, 1e6, 1e12])
def test_a_gate_with_that_bias_keeps_half_over_that_many_steps(steps):
    (bias,) = half_life(steps)(np.random.default_rng(0), 1)
    assert log_expit(bias) * steps == pytest.approx(np.log(0.5), rel=1e-12)


def test_half_lives_fill_their_range_evenly_in_logarithms():
    bias = half_lives(2.0, 2000.0)(np.random.default_rng(0), 4000)
    lives = np.log(0.5) / log_expit(bias)
    assert 2.0 <= lives.min() * (1 + 1e-9) and lives.max() <= 2000.0 * (1 + 1e-9)
    assert abs(np.log10(lives).mean() - np.log10(63.2)) < 0.05


def test_the_same_seed_gives_the_same_units():
    for law in (half_lives(1, 9), chrono(30), uniform_gate(), uniform(-1, 1)):
        first, again, other = (law(np.random.default_rng(s), 20) for s in (3, 3, 4))
        np.testing.assert_array_equal(first, again)
        assert np.any(first != other) and len(set(first)) == 20


def test_the_mirror_of_a_law():
    up, down = (law(np.random.default_rng(1), 5) for law in (chrono(9), minus(chrono(9))))
    np.testing.assert_array_equal(down, -up)


@pytest.mark.parametrize(
    "wrong", [lambda: half_life(0), lambda: half_lives(9, 1), lambda: half_lives(-1, 1),
              lambda: chrono(2), lambda: half_life(float("nan"))],
)  # fmt: skip
def test_impossible_laws_are_refused(wrong):
    with pytest.raises(UsageError):
        wrong()
