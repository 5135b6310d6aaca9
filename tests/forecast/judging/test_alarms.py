"""Alarms: found in time, one for each change, and almost never without one."""

from __future__ import annotations

import numpy as np
import pytest

from tidegate.forecast import Forecaster
from tidegate.forecast.judging.alarms import ShiftDetector

QUIET, AFTER, LIMIT = 2_000, 400, 100


def noise(steps: int, carry: float, seed: int) -> np.ndarray:
    """Autoregressive noise of standard deviation 1."""
    rng = np.random.default_rng(seed)
    fresh, values = rng.normal(size=steps) * np.sqrt(1 - carry**2), np.empty(steps)
    last = rng.normal()
    for step in range(steps):
        last = values[step] = carry * last + fresh[step]
    return values


def alarms(values: np.ndarray) -> list[int]:
    detector = ShiftDetector()
    return [step for step, value in enumerate(values.tolist()) if detector.update(value)]


@pytest.mark.parametrize("carry", [0.0, 0.9])
def test_a_shift_of_two_standard_deviations_is_found_once_within_a_hundred_steps(
    carry: float,
) -> None:
    found, after = 0, 0
    for seed in range(20):
        values = noise(QUIET + AFTER, carry, seed)
        values[QUIET:] += 2.0 if seed % 2 else -2.0
        late = [step for step in alarms(values) if step >= QUIET]
        found += bool(late) and late[0] < QUIET + LIMIT
        after += len(late)
    assert found >= 19 and after <= 22


@pytest.mark.parametrize("carry", [0.0, 0.9])
def test_noise_alone_raises_at_most_one_alarm_in_ten_thousand_steps(carry: float) -> None:
    assert sum(len(alarms(noise(10_000, carry, 50 + seed))) for seed in range(4)) <= 4


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_units_make_no_difference(scale: float) -> None:
    values = noise(QUIET + AFTER, 0.5, 3)
    values[QUIET:] += 3
    assert alarms(values * scale) == alarms(values)


@pytest.mark.parametrize("carry", [0.0, 0.9])
def test_a_spike_is_no_shift(carry: float) -> None:
    values = noise(3_000, carry, 4)
    values[[1_000, 2_000]] = 50.0, -1e200
    assert alarms(values) == []


@pytest.mark.parametrize("size", [10.0, 1e4, -1e9])
def test_a_shift_of_any_size_is_one_alarm(size: float) -> None:
    values = noise(QUIET + AFTER, 0.3, 7)
    values[QUIET:] += size
    (found,) = alarms(values)
    assert QUIET <= found < QUIET + 20


def test_missing_values_pass() -> None:
    values = noise(QUIET + AFTER, 0.0, 5)
    values[QUIET:] += 3
    holes = values.copy()
    holes[::7] = np.nan
    (found,) = alarms(holes)
    assert QUIET <= found < QUIET + 30


def test_a_shift_says_when_it_began_and_how_large_it_was() -> None:
    values, detector = noise(QUIET + AFTER, 0.0, 6), ShiftDetector()
    values[QUIET:] += 3
    (found,) = [(n, s) for n, v in enumerate(values.tolist()) if (s := detector.update(v))]
    step, shift = found
    assert step - shift.steps + 1 == pytest.approx(QUIET, abs=2)
    assert shift.size == pytest.approx(3, abs=1)


@pytest.mark.parametrize("carry", [0.0, 0.7])
def test_a_blip_is_taken_back_and_the_old_level_holds_again(carry: float) -> None:
    values, detector = noise(3_000, carry, 8), ShiftDetector()
    values[QUIET : QUIET + 60] -= 5
    shifts = []
    for n, value in enumerate(values.tolist()):
        before = detector.level, detector.weight
        shift = detector.update(value)
        if shift:
            shifts.append((n, shift.back, before, (detector.level, detector.weight)))
    (down, first, known, _), (up, second, _, again) = shifts
    assert QUIET <= down < QUIET + 20 and QUIET + 60 <= up < QUIET + 80
    assert (first, second) == (False, True)
    assert again == known


def test_a_return_after_long_is_a_shift_of_its_own() -> None:
    values = noise(4_000, 0.3, 9)
    values[QUIET : QUIET + 600] += 5
    detector = ShiftDetector()
    found = [shift.back for value in values.tolist() if (shift := detector.update(value))]
    assert found == [False, False]


def test_a_second_step_the_same_way_is_no_return() -> None:
    values = noise(3_000, 0.3, 10)
    values[QUIET:] += 4
    values[QUIET + 60 :] += 4
    detector = ShiftDetector()
    found = [shift.back for value in values.tolist() if (shift := detector.update(value))]
    assert found == [False, False]


def test_a_forecaster_lets_go_of_the_past_at_a_shift_and_takes_it_back_after_a_blip() -> None:
    values, counted = noise(2_600, 0.5, 11), []
    values[QUIET : QUIET + 60] -= 6
    forecaster = Forecaster(units=0)
    for value in values.tolist():
        forecaster.learn(value)
        # The first input of an expert is 1, so the first of the diagonal is how much counts.
        counted.append(float(forecaster.core.ridges[1]._state.diagonal[0]))
    shares = np.array(counted[QUIET:]) / counted[QUIET - 1 : -1]
    assert shares[np.abs(shares - 1) > 0.05] == pytest.approx([0.7, 1 / 0.7], rel=0.01)
