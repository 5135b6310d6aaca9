"""Paths of many steps: their intervals hold as issued, and a period that repeats is found."""

from __future__ import annotations

import numpy as np
import pytest

from tidegate.forecast import Forecaster

STEPS = 12


def _paths(values: np.ndarray, rows: int) -> list[tuple[int, list[tuple[float, float, float]]]]:
    """For every row from ``rows`` on what is said of the coming ones: value, low, high."""
    forecaster = Forecaster(units=0, horizon=STEPS, levels=(0.9,))
    found = []
    for n, value in enumerate(values[:-STEPS].tolist()):
        forecaster.learn(value, time=86_400.0 * n)
        if n >= rows:
            path = forecaster.forecast(STEPS)
            found.append((n, [(p.value, *p.intervals[0.9]) for p in path]))
    return found


@pytest.mark.parametrize("lead", [2, 6, 12])
def test_intervals_hold_as_they_were_issued_though_errors_follow_each_other(lead: int) -> None:
    values = np.cumsum(np.random.default_rng(7).normal(size=3_000))
    inside = [
        said[lead - 1][1] <= values[n + lead] <= said[lead - 1][2]
        for n, said in _paths(values, rows=600)
    ]
    assert np.mean(inside) == pytest.approx(0.9, abs=0.02)


def test_a_week_that_goes_as_the_one_before_is_said_to_far_ahead() -> None:
    rng = np.random.default_rng(3)
    week = rng.normal(size=7)
    steps = np.arange(1_400)
    # Every week is the last one with a little noise: averages of weeks are not the best forecast.
    drift = np.cumsum(rng.normal(size=(200, 7)), axis=0).ravel()
    values = 10 * week[steps % 7] + drift
    errors, others = [], []
    for n, said in _paths(values, rows=700):
        errors.append(abs(said[6][0] - values[n + 7]))
        others.append(abs(values[n] - values[n + 7]))
    assert np.mean(errors) < 1.1 * np.mean(others)


def test_a_late_score_is_held_against_the_width_it_was_issued_with() -> None:
    from tidegate.forecast.judging.intervals import (
        FIRST_SCORES,
        Conformal,
        learn_late_score,
        scores_in,
    )

    conformal = Conformal((0.9,))
    for score in np.linspace(0.1, 2.0, FIRST_SCORES):
        conformal.learn(float(score))
    state = scores_in(conformal.memory, 0, 1)
    before = state.misses[0]
    learn_late_score(state, 1.0, np.array([5.0]))
    assert state.misses[0] > before
    between = state.misses[0]
    learn_late_score(state, 1.0, np.array([0.5]))
    assert state.misses[0] < between
