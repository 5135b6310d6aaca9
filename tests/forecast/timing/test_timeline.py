"""Steps that are due, missing, or never have a row."""

from __future__ import annotations

import numpy as np
import pytest

from tidegate.forecast import Forecaster
from tidegate.forecast.model.slots import SlotMemory
from tidegate.forecast.timing.grid import Grid
from tidegate.forecast.timing.timeline import LONGEST_GAP, Timeline

HOUR = 3600.0


class Seen:
    """Slots of a day in which there are rows from 7 to 18."""

    period = 24

    def seen(self, slot: int) -> bool:
        return 7 <= slot % 24 < 19

    def full(self) -> bool:
        return False


def opened(now: float) -> Timeline:
    timeline = Timeline(None)
    timeline.settle(Grid(HOUR), (24,), (Seen(),))  # type: ignore[arg-type]
    timeline.first_seconds = 0.0
    assert timeline.grid is not None
    timeline.grid.advance(now)
    return timeline


def test_a_night_is_no_gap_and_a_missing_noon_is() -> None:
    monday = 4 * 24 * HOUR + 96 * HOUR
    evening, morning = monday + 18 * HOUR, monday + 31 * HOUR
    assert list(opened(evening).missing(morning)) == []
    noon = list(opened(monday + 10 * HOUR).missing(monday + 14 * HOUR))
    assert noon == [monday + hour * HOUR for hour in (11, 12, 13)]
    assert opened(evening).coming() == morning
    path = [seconds for seconds, _ in opened(evening).coming_places(13)]
    assert path == [*(morning + k * HOUR for k in range(12)), morning + 24 * HOUR]


def test_once_there_were_rows_at_all_places_none_needs_to_be_looked_at() -> None:
    slots, asked, always = SlotMemory(24), opened(96 * HOUR), opened(96 * HOUR)
    asked.slots = always.slots = (slots,)
    for slot in range(24):
        slots.update(slot, 1.0)
        hours = [seconds / HOUR % 24 for seconds, _ in asked.coming_places(30) if seconds]
        assert set(hours) == set(range(slot + 1))
    assert always.coming_places(30) == [
        (time, Grid(HOUR).place(time)) for time in (HOUR * (97 + k) for k in range(30))
    ]


def test_of_a_long_gap_the_end_is_gone_through() -> None:
    timeline = Timeline(None)
    timeline.settle(Grid(HOUR), (24,), ())
    assert timeline.grid is not None
    timeline.grid.advance(0.0)
    due = list(timeline.missing(10_000 * HOUR))
    assert len(due) == LONGEST_GAP and due[-1] == 9_999 * HOUR
    assert timeline.grid.now == 9_999 * HOUR


@pytest.mark.parametrize("without", [False, True])
def test_a_forecaster_flags_what_is_missing_and_no_night(without: bool) -> None:
    forecaster = Forecaster(units=0)
    flagged = []
    for hour in range(24 * 20):
        if 7 <= hour % 24 < 19 and not (without and hour == 24 * 15 + 12):
            if "gap" in forecaster.learn(float(hour % 24), time=hour * HOUR).flags:
                flagged.append(hour)
    late = [hour for hour in flagged if hour > 24 * 8]
    assert late == ([24 * 15 + 13] if without else [])


def test_rows_without_times_stand_by_their_number() -> None:
    timeline = Timeline(None)
    timeline.settle(None, (7,), ())
    timeline.rows = 30
    assert timeline.coming() is None and timeline.place(None).slots == (30,)
    assert [place.slots for _, place in timeline.coming_places(2)] == [(30,), (31,)]
    assert list(timeline.missing(5.0)) == [] and timeline.now == -np.inf
