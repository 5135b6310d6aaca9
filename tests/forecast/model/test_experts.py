"""The parts that forecasts are made of, against independent computation."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.forecast.model.calendar import CalendarMemory, calendar_keys
from tidegate.forecast.model.carry import SlotCarry
from tidegate.forecast.model.mixing import Mixture
from tidegate.forecast.model.ridge import Ridge
from tidegate.forecast.model.scale import RunningScale
from tidegate.forecast.model.slots import BEFORE, LAST, SlotMemory
from tidegate.forecast.model.stacking import Stack
from tidegate.forecast.timing.periods import PeriodFinder


def test_ridge_is_the_weighted_least_squares_solution() -> None:
    rng, pulls = np.random.default_rng(0), np.full(4, 0.5)
    xs, ys = rng.normal(size=(300, 4)), rng.normal(size=300)
    expert = Ridge(4, keep=0.99, ridge=0.5, width=1e9)
    for step, (x, y) in enumerate(zip(xs, ys, strict=True)):
        expert.learn(x, y)
        pulls *= 0.99
        pulls[step % 4] += 0.5 * (1 - 0.99**4)
    assert (0.99**4 * 0.5 < pulls).all() and (pulls < 0.5 * 1.01).all()
    weights = np.sqrt(0.99 ** np.arange(299, -1, -1))
    rows = np.vstack([xs * weights[:, None], np.diag(np.sqrt(pulls))])
    expected = np.linalg.lstsq(rows, np.append(ys * weights, np.zeros(4)), rcond=None)[0]
    assert expert.weights == pytest.approx(expected, rel=1e-9)


def test_ridge_stays_sound_where_recursive_least_squares_diverges() -> None:
    """Inputs that stop varying, for ever: covariance wind-up."""
    rng, expert = np.random.default_rng(1), Ridge(2, keep=0.99, ridge=0.1)
    for x in rng.normal(size=(200, 2)):
        expert.learn(x, float(x[0] + x[1]))
    for _ in range(20_000):
        expert.learn(np.array([1.0, 0.0]), 1.0)
    assert expert.predict(np.array([1.0, 0.0])) == pytest.approx(1.0, abs=0.01)
    assert np.abs(expert.weights).max() < 2


def test_a_burst_after_long_quiet_and_inputs_that_say_the_same() -> None:
    """Collinear inputs, many steps of almost nothing, then values a million times as large."""
    rng, expert = np.random.default_rng(11), Ridge(3, keep=0.999, ridge=1.0)
    for step in range(30_000):
        size = 1.0 if step < 1_000 else 1e-3 if step < 25_000 else 1e3
        x = size * np.array([1.0, rng.normal(), 0.0])
        x[2] = x[1]
        expert.learn(x, float(2 * x[0] + x[1] + 0.1 * size * rng.normal()))
        assert np.isfinite(expert.weights).all()
    assert expert.weights == pytest.approx([2.0, 0.5, 0.5], rel=0.05)


def test_loosened_a_ridge_follows_faster() -> None:
    rng, firm, loose = np.random.default_rng(12), Ridge(1, 1.0, 0.1, 1e9), Ridge(1, 1.0, 0.1, 1e9)
    for step, x in enumerate(rng.normal(size=(400, 1))):
        if step == 300:
            loose.loosen(0.1)
        for expert in (firm, loose):
            expert.learn(x, float(x[0] if step < 300 else -x[0]))
    assert loose.weights[0] < -0.4 < 0.4 < firm.weights[0]


def test_an_outlier_moves_a_ridge_little() -> None:
    rng, expert = np.random.default_rng(2), Ridge(1, keep=0.999, ridge=0.1)
    for x in rng.normal(size=(500, 1)):
        expert.learn(x, float(2 * x[0] + 0.1 * rng.normal()))
    expert.learn(np.array([1.0]), 1e9)
    assert expert.weights[0] == pytest.approx(2.0, abs=0.01)


def test_a_narrow_ridge_is_near_a_median() -> None:
    rng, expert = np.random.default_rng(3), Ridge(1, keep=1.0, ridge=0.0, width=0.1)
    mean = Ridge(1, keep=1.0, ridge=0.0, width=1e9)
    for value in rng.exponential(size=5000):
        for one in (expert, mean):
            one.learn(np.ones(1), float(value))
    assert mean.weights[0] == pytest.approx(1.0, abs=0.05)
    assert expert.weights[0] == pytest.approx(np.log(2), abs=0.06)


@given(st.lists(st.floats(-1e12, 1e12), min_size=30, max_size=60))
def test_no_single_value_moves_a_scale_by_more_than_its_share(values: list[float]) -> None:
    scale = RunningScale(window=100)
    for value in values:
        before, count = scale.value, scale.count
        scale.update(value)
        if count >= 20 and before > 0:
            assert scale.value <= before * (1 + 7 / min(count + 1, 100)) * (1 + 1e-12)


def test_a_scale_follows_a_lasting_change() -> None:
    scale = RunningScale(window=100)
    for value in [1.0] * 500 + [1e6] * 1000:
        scale.update(value)
    assert scale.value == pytest.approx(1e6, rel=0.01)


def test_the_last_value_of_a_slot_is_the_value_a_period_ago() -> None:
    memory, values = SlotMemory(7), np.random.default_rng(4).normal(size=100)
    for step, value in enumerate(values):
        if step >= 14:
            row = memory.read(step)[0]
            assert (row[LAST], row[BEFORE]) == (values[step - 7], values[step - 14])
        memory.update(step, value)


def test_a_slot_learns_how_much_of_a_deviation_stays() -> None:
    rng, carry = np.random.default_rng(5), SlotCarry(24)
    for step in range(24 * 400):
        before = rng.normal()
        share = 0.9 if 8 <= step % 24 < 16 else 0.1
        carry.update(step, before, share * before + 0.1 * rng.normal())
    assert carry.share(12) == pytest.approx(0.9, abs=0.1)
    assert carry.share(2) == pytest.approx(0.1, abs=0.1)


def test_holidays_of_fixed_and_moving_dates_are_learned() -> None:
    memory = CalendarMemory()
    for year in (2012, 2013, 2014):
        for month, day in ((11, 22 + (3 - date(year, 11, 22).weekday()) % 7), (12, 25), (12, 26)):
            surprise = 0.0 if day == 26 else -4.0
            memory.update(calendar_keys(date(year, month, day)), surprise)
    fixed, moving = memory.read(calendar_keys(date(2015, 11, 26)))
    assert moving == pytest.approx(-3.5) and fixed > -3
    assert memory.read(calendar_keys(date(2015, 12, 25)))[0] == pytest.approx(-3.5)


def test_a_day_is_not_told_its_own_surprise() -> None:
    memory, keys = CalendarMemory(), calendar_keys(date(2020, 5, 5))
    for _ in range(10):
        memory.update(keys, 7.0)
        assert memory.read(keys).tolist() == [0.0, 0.0]


def test_a_mixture_does_as_well_as_its_best_expert_on_noise() -> None:
    rng, mixture, loss = np.random.default_rng(6), Mixture(4), np.zeros(5)
    for _ in range(4000):
        y = rng.normal()
        said = np.array([0.0, y + 3, 0.5 * y, -y])
        loss += np.abs([*(said - y), mixture.predict(said) - y])
        mixture.learn(said, y)
    assert loss[4] < 1.05 * loss[:4].min()


def test_a_mixture_beats_every_expert_where_their_errors_cancel() -> None:
    rng, mixture, loss = np.random.default_rng(7), Mixture(2), np.zeros(3)
    for _ in range(3000):
        said = np.array([1.0, -1.0]) + 0.1 * rng.normal(size=2)
        loss += np.abs([*said, mixture.predict(said)])
        mixture.learn(said, 0.0)
    assert loss[2] < 0.2 * loss[:2].min()


def test_a_stack_reaches_beyond_the_mixtures_of_its_experts() -> None:
    rng, stack, loss = np.random.default_rng(8), Stack(3), np.zeros(4)
    for step in range(3000):
        y = rng.normal()
        said = np.array([0.3 * y, 0.5 * y, 0.0])
        if step > 1000:
            loss += np.abs([*(said - y), stack.predict(said) - y])
        stack.learn(said, y)
    assert loss[3] < 0.5 * loss[:3].min()


@pytest.mark.parametrize("period", [7, 24, 169])
def test_a_period_is_found_in_noise(period: int) -> None:
    rng, finder = np.random.default_rng(9), PeriodFinder()
    shape = rng.normal(size=period)
    for step in range(8 * period):
        finder.update(3 * shape[step % period] + rng.normal())
    assert period in finder.periods()


@pytest.mark.parametrize("seed", range(5))
def test_no_period_is_found_where_there_is_none(seed: int) -> None:
    rng, finder = np.random.default_rng(seed), PeriodFinder()
    for step, value in enumerate(rng.normal(size=3000).cumsum()):
        finder.update(value if step % 50 else np.nan)
        if step in (100, 500, 1500, 2999):
            assert finder.periods() == ()
