"""Where rows stand in time."""

from __future__ import annotations

from zoneinfo import ZoneInfo

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
