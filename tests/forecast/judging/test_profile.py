"""Intervals are longer on the side, and at the level, where errors are larger."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from tidegate.forecast.judging.error_scale import ALL_RIDGE, FEW_RIDGE, spread_in
from tidegate.forecast.judging.intervals import Conformal
from tidegate.forecast.judging.judge import DOUBTS, Judge
from tidegate.forecast.judging.profile import ErrorProfile


def test_a_profile_tells_the_mean_error_of_either_side_at_every_level() -> None:
    rng = np.random.default_rng(0)
    profile, numbers = ErrorProfile(), rng.uniform(0, 10, size=20_000)
    sizes = rng.exponential(size=20_000)
    up = rng.random(20_000) < 0.25
    for number, size, above in zip(numbers.tolist(), sizes.tolist(), up.tolist(), strict=True):
        profile.learn(number, (1 + number) * size if above else -size)
    for number in (1.0, 3.0, 5.5, 9.0):
        near = np.abs(numbers - number) < 0.3
        below, above = profile.sides(number)
        assert above == pytest.approx(((1 + numbers) * sizes * up)[near].mean(), rel=0.25)
        assert below == pytest.approx((sizes * ~up)[near].mean(), rel=0.25)


@pytest.mark.parametrize("number", [nan, inf, -inf, 1e308])
def test_a_number_that_is_none_leaves_a_profile_sound(number: float) -> None:
    profile = ErrorProfile()
    for step in range(200):
        profile.learn(float(step % 5), float(step % 3) - 1.0)
    before = profile.sides(2.0)
    profile.learn(number, 1.0)
    assert np.isfinite(profile.memory).all() and np.isfinite(profile.sides(number)).all()
    np.testing.assert_allclose(profile.sides(2.0), before, atol=0.05)


def test_regressions_and_profiles_lie_where_their_states_say() -> None:
    judge = Judge((0.9,), around=3)
    state = spread_in(judge.scale.memory, DOUBTS, 3)
    assert (state.few.diagonal == FEW_RIDGE).all() and (state.all.diagonal == ALL_RIDGE).all()
    assert (state.level.knots[:, :2] == 0.5).all() and (state.change.knots[:, :2] == 0.5).all()
    held = sum(float(np.abs(part).sum()) for part in (state.few.diagonal, state.all.diagonal))
    assert np.abs(judge.scale.memory).sum() == pytest.approx(held + 2 * 16)


def test_intervals_of_lopsided_errors_hold_and_are_better_than_even_ones() -> None:
    rng = np.random.default_rng(1)
    steps = 6_000
    level = rng.uniform(-3, 3, size=steps)
    # Where the level is low errors go up only; where it is high they go down as often.
    up = rng.random(steps) < np.where(level < 0, 0.95, 0.5)
    errors = np.where(up, 1.0, -1.0) * rng.exponential(size=steps)
    judge, even = Judge((0.9,)), Conformal((0.9,))
    ends = np.zeros((steps, 2))
    plain = np.zeros(steps)
    for n, error in enumerate(errors.tolist()):
        given = [1.0] * DOUBTS + [float(level[n]), 0.0]
        ((below, above),) = judge.widths(given)
        ends[n], plain[n] = (-below, above), even.widths()[0]
        judge.learn(given, error)
        even.learn(abs(error))

    def score(low: np.ndarray, high: np.ndarray) -> float:
        outside = np.maximum(low - errors, 0) + np.maximum(errors - high, 0)
        return float((high - low + 20 * outside)[1_000:].mean())

    inside = (errors >= ends[:, 0]) & (errors <= ends[:, 1])
    assert inside[1_000:].mean() == pytest.approx(0.9, abs=0.01)
    assert score(ends[:, 0], ends[:, 1]) < 0.95 * score(-plain, plain)
