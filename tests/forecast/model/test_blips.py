"""What is forecast right after a wild value, and what is remembered of it."""

from __future__ import annotations

import numpy as np
import pytest

from tidegate import Forecaster

ROWS, USUAL = 1_500, np.sqrt(2 / np.pi)  # and the mean size of a standard normal number
JITTER = np.random.default_rng(9).integers(0, 50, size=7)  # or a period would be found in them


def stream(seed: int) -> np.ndarray:
    rng, values = np.random.default_rng(seed), np.zeros(ROWS)
    for t in range(1, ROWS):
        values[t] = 0.9 * values[t - 1] + rng.normal()
    return values


def errors_of(values: np.ndarray, units: int = 0) -> np.ndarray:
    forecaster, errors = Forecaster(units=units), np.zeros(len(values))
    for t, value in enumerate(values):
        errors[t] = abs(value - forecaster.predict().value)
        forecaster.learn(value)
    return errors


@pytest.mark.parametrize("units", [0, 4])
def test_lone_wild_values_are_passed_over_once_one_was_seen(units: int) -> None:
    values = stream(seed=0)
    spikes = np.arange(400, ROWS - 70, 150) + JITTER
    values[spikes] += np.where(np.arange(len(spikes)) % 2, 40.0, -25.0)
    errors = errors_of(values, units)
    assert errors[spikes].min() > 15
    assert errors[spikes[0] + 1] < 25  # half way: it may have been a shift
    assert errors[spikes[2:] + 1].mean() < 3 * USUAL
    for later in range(2, 12):  # none of the lags still holds one
        assert errors[spikes[1:] + later].mean() < 2 * USUAL


def test_lasting_shifts_are_followed_once_one_was_seen() -> None:
    values = stream(seed=1)
    shifts = np.arange(400, ROWS - 70, 150) + JITTER
    for n, shift in enumerate(shifts):
        values[shift:] += 40.0 if n % 2 else -40.0
    errors = errors_of(values)
    assert errors[shifts].min() > 30
    assert errors[shifts[2:] + 1].mean() < 5 * USUAL
    assert errors[shifts[2:] + 2].mean() < 3 * USUAL


def test_a_missing_row_after_a_wild_value_leaves_the_question_open() -> None:
    values = stream(seed=2)
    values[700] += 50.0
    values[701] = np.nan
    errors = errors_of(values)
    assert np.nanmean(errors[712:760]) < 1.5 * USUAL
