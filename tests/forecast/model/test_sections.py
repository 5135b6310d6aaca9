"""Sections of periods, changes and levels, and experts that have weights for each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.forecast.compiled import compiled
from tidegate.forecast.model.core import Core
from tidegate.forecast.model.feature_state import starts_of
from tidegate.forecast.model.features import Place
from tidegate.forecast.model.sections import (
    BY_CHANGE,
    BY_LEVEL,
    BY_LONGEST,
    BY_SHORTEST,
    CHANGES,
    LEVELS,
    count_sections,
    section_at,
)

PERIODS = (48, 336)


@compiled
def _section(split, sections, starts, place, x):
    return section_at(split, sections, starts, place, x)


def section(split: int, slot: int, x: np.ndarray, periods: tuple[int, ...] = PERIODS) -> int:
    place = Place((slot,) * len(periods)).numbers
    count = count_sections(split, periods)
    return int(_section(split, count, starts_of(periods), place, x))


@given(st.integers(0, 10**6))
def test_a_section_of_a_period_is_a_stretch_of_its_slots(slot: int) -> None:
    x = np.zeros(4)
    assert section(BY_SHORTEST, slot, x) == slot % 48 // 2
    assert section(BY_LONGEST, slot, x) == slot % 336 // 6


@given(st.floats(-20, 20))
def test_sections_by_change_and_level_are_intervals(value: float) -> None:
    x = np.array([1.0, 0.0, -value, 0.0])
    assert section(BY_CHANGE, 0, x) == int(np.searchsorted(CHANGES, value, side="right"))
    x = np.array([1.0, -value, 0.0, 0.0])
    assert section(BY_LEVEL, 0, x) == int(np.searchsorted(LEVELS, value, side="right"))


@pytest.mark.parametrize(("periods", "sections"), [((), 0), ((7,), 7), ((24,), 24), ((288,), 24)])
def test_there_are_no_more_sections_than_slots(periods: tuple[int, ...], sections: int) -> None:
    assert count_sections(BY_SHORTEST, periods) == sections


def error_of(units: int) -> float:
    """Of a stream whose next value hangs on the last one differently at every time of the day."""
    rng, core = np.random.default_rng(5), Core((6,), inputs=0, units=units, seed=0)
    hangs, value, errors = np.array([0.9, -0.9, 0.5, -0.5, 0.8, -0.8]), 1.0, []
    for step in range(3_000):
        said = core.predict(Place((step,)))
        value = hangs[step % 6] * value + rng.normal()
        errors.append(abs(value - said))
        core.observe(Place((step,)), value)
    return float(np.mean(errors[1_000:]))


def test_an_expert_with_sections_learns_what_changes_with_the_time_of_day() -> None:
    least = np.sqrt(2 / np.pi)  # of the noise alone
    assert error_of(units=2) < 1.06 * least < 1.2 * least < error_of(units=0)
