"""Where rows stand in time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from tidegate.forecast.model.calendar import calendar_keys
from tidegate.forecast.timing.grid import MOST_PLACED, Grid

HOUR = 3600.0


def test_a_place_asked_for_before_is_the_same_place() -> None:
    asked, fresh = Grid(HOUR, ZoneInfo("Europe/Paris")), Grid(HOUR, ZoneInfo("Europe/Paris"))
    for hour in range(400):
        ahead = [asked.place(HOUR * (hour + k)) for k in range(30)]
        assert ahead[0] == fresh._place(HOUR * hour)
        asked.advance(HOUR * hour)
    assert ahead == [fresh._place(HOUR * (399 + k)) for k in range(30)]


def test_places_are_kept_only_while_they_are_to_come() -> None:
    grid = Grid(HOUR)
    for hour in range(10 * MOST_PLACED):
        grid.place(HOUR * hour)
        assert len(grid._placed) <= MOST_PLACED
    grid.advance(HOUR * 10 * MOST_PLACED)
    assert not grid._placed


@pytest.mark.parametrize("zone", [None, "Europe/Paris", "Asia/Kolkata"])
@pytest.mark.parametrize("step", [60.0, HOUR, 24 * HOUR])
def test_slots_and_days_are_those_of_the_clock_on_the_wall(step: float, zone: str | None) -> None:
    grid, first = Grid(step, ZoneInfo(zone) if zone else None), datetime(2001, 1, 1)
    times = np.random.default_rng(0).uniform(-1e9, 3e9, 300) // step * step
    eve = datetime(2000, 12, 31, 23, tzinfo=UTC).timestamp()
    for seconds in [eve, *times.tolist()]:
        wall = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)).replace(tzinfo=None)
        if zone:
            wall = datetime.fromtimestamp(seconds, ZoneInfo(zone)).replace(tzinfo=None)
        lengths = [timedelta(days=days) for days in (1, 7)][-len(grid.periods) :]
        periods = zip(lengths, grid.periods, strict=True)
        slots = [(wall - first) * count // length for length, count in periods]
        place = grid._place(seconds)
        assert place.slots == tuple(slots) and place.days == calendar_keys(wall.date())
        assert place.numbers.tolist() == [*slots, *calendar_keys(wall.date())]
