"""The test for a shift against the same sums taken straight from their definition."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.forecast.judging.likelihood_ratio import (
    AFTER,
    LEAST,
    LEVEL_WINDOW,
    STRICTER,
    THRESHOLD,
    YOUNG,
    most_likely_shift,
)


def _by_definition(residuals: np.ndarray, weights: np.ndarray, known: float) -> tuple[float, int]:
    """Residuals projected on what a shift of 1 leaves in them, beginning by beginning."""
    found = [(0.0, 0)]
    for steps in range(LEAST, len(residuals) + 1):
        left = 1 - np.concatenate([[0.0], np.cumsum(weights)])
        signature = np.array([left[min(k, len(weights))] for k in range(steps)])[::-1]
        total, norm = signature @ residuals[:steps], signature @ signature
        ratio = total / sqrt(norm * (1 + steps / min(known, LEVEL_WINDOW)))
        later = (total - residuals[steps - 1]) / sqrt(max(norm - 1, 1e-12))
        if steps < YOUNG:
            ratio *= THRESHOLD / STRICTER
        if np.sign(ratio) * later >= AFTER:
            found.append((ratio, steps))
    return max(found, key=lambda one: abs(one[0]))


@given(
    seed=st.integers(0, 10_000),
    lags=st.lists(st.floats(-0.9, 0.9), min_size=0, max_size=3),
    steps=st.integers(1, 40),
    known=st.sampled_from([20.0, 1000.0, 1e5]),
)
def test_it_is_the_projection_on_what_a_shift_leaves(
    seed: int, lags: list[float], steps: int, known: float
) -> None:
    residuals, weights = np.random.default_rng(seed).normal(size=steps) + 0.7, np.array(lags)
    ratio, begun, _ = most_likely_shift(residuals, weights, steps, known)
    expected, expected_steps = _by_definition(residuals, weights, known)
    assert ratio == pytest.approx(expected, abs=1e-9)
    assert begun == expected_steps or ratio == 0


def test_its_size_is_the_shift() -> None:
    noise = np.random.default_rng(3).normal(size=100)
    shifted = 0.01 * noise
    shifted[:50] += 3.0
    weights = np.array([0.5, 0.2])
    level = np.concatenate([np.full(50, 3.0), np.zeros(50)])
    past = [np.concatenate([level[k:], np.zeros(k)]) for k in (1, 2)]
    residuals = shifted - 0.5 * past[0] - 0.2 * past[1]
    _, steps, size = most_likely_shift(residuals, weights, 100, 3_000.0)
    assert steps == 50 and size == pytest.approx(3.0, abs=0.01)
