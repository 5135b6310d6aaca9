"""Clocks of several calendars, with rows missing, doubled and undated."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate import DataError
from tidegate.forecast import Clock
from tidegate.streams import parse_time


def after(*times: str | None) -> Clock:
    clock = Clock()
    for time in times:
        clock.observe(time)
    return clock


@pytest.mark.parametrize(
    ("first", "second", "periods"),
    [
        ("2015-07-01 00:00", "2015-07-01 01:00", {"day ago": 24, "week ago": 168}),
        ("2015-07-01 00:00", "2015-07-01 00:30", {"day ago": 48, "week ago": 336}),
        ("2015-07-01 00:00", "2015-07-01 00:05", {"day ago": 288, "week ago": 2016}),
        ("2015-07-01 00:00:00", "2015-07-01 00:00:01", {"day ago": 86_400, "week ago": 604_800}),
        ("2015-07-01 00:00:00.0", "2015-07-01 00:00:00.5", {"day ago": 172_800}),
        ("2015-07-01", "2015-07-02", {"week ago": 7}),
        ("2015-07-01", "2015-07-08", {}),
        ("2015-07-01", "2015-08-01", {}),
        ("2015-07-01 00:00", "2015-07-01 00:07", {"week ago": 1440}),
        ("0", "3600", {"day ago": 24, "week ago": 168}),
    ],
)
def test_two_times_tell_the_periods(first: str, second: str, periods: dict[str, int]) -> None:
    assert after(first, second).periods() == periods


@pytest.mark.parametrize(
    ("first", "second", "third"),
    [
        ("2015-07-01 00:00:00", "2015-07-01 01:00:00", "2015-07-01 02:00:00"),
        ("2015-07-01T00:00", "2015-07-01T01:00", "2015-07-01T02:00"),
        ("2015-07-01T23:30Z", "2015-07-01T23:45Z", "2015-07-02T00:00Z"),
        ("2015-07-01T23:30+02:00", "2015-07-01T23:45+02:00", "2015-07-02T00:00+02:00"),
        ("2015-07-01 00:00:00.250", "2015-07-01 00:00:00.500", "2015-07-01 00:00:00.750"),
        ("2015-07-01 00:00", "2015-07-01 00:00:30", "2015-07-01 00:01:00"),
        ("2015-07-01 00:00:30", "2015-07-01 00:01", "2015-07-01 00:01:30"),
        ("2016-02-27", "2016-02-28", "2016-02-29"),
        ("2015-02-27", "2015-02-28", "2015-03-01"),
        (" 2015-12-30 ", " 2015-12-31 ", "2016-01-01"),
        ("2015-07-01", "2015-07-01 12:00", "2015-07-02 00:00"),
        ("17", "18", "19"),
        ("17.5", "18", "18.5"),
        ("17.0", "18.0", "19.0"),
        ("20150701", "20150702", "20150703"),
        ("9999-12-30", "9999-12-31", None),
    ],
)
def test_the_next_time_is_written_as_the_last_one_was(
    first: str, second: str, third: str | None
) -> None:
    assert after(first, second).next_time() == third


@given(
    st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1)),
    st.integers(1, 10**7),
    st.sampled_from([None, UTC, timezone(timedelta(hours=-3, minutes=-30))]),
    st.sampled_from(["seconds", "milliseconds", "microseconds"]),
)
def test_the_next_time_is_a_step_later(
    start: datetime, seconds: int, zone: timezone | None, timespec: str
) -> None:
    start = start.replace(tzinfo=zone, microsecond=0)
    times = [(start + n * timedelta(seconds=seconds)).isoformat(" ", timespec) for n in range(3)]
    assert after(times[0], times[1]).next_time() == times[2]


def test_before_two_times_nothing_is_known() -> None:
    for clock in (Clock(), after(None, None), after("2015-07-01")):
        assert (clock.step, clock.periods(), clock.next_time()) == (None, {}, None)


def test_events() -> None:
    clock = Clock()
    times = ["00:00", "01:00", "02:00", "04:00", "03:00", "04:00", "05:00", "05:30", "06:59"]
    told = [clock.observe(f"2015-07-01 {time}") for time in times]
    assert told == [None, "step", None, "gap", "late", "late", None, None, None]


def test_a_late_row_leaves_the_clock_alone() -> None:
    clock = after("2015-07-01 00:00", "2015-07-01 01:00", "2015-06-01 00:00")
    assert clock.next_time() == "2015-07-01 02:00"


def test_an_undated_row_passes_for_one_step() -> None:
    clock = after("2015-07-01 00:00", "2015-07-01 01:00", None)
    assert clock.next_time() == "2015-07-01 03:00"
    assert clock.observe("2015-07-01 03:00") is None
    assert clock.observe(None) is None
    assert clock.observe("2015-07-01 06:00") == "gap"


def test_undated_rows_share_the_first_distance() -> None:
    assert after("2015-07-01 00:00", None, "2015-07-01 02:00").step == 3600


def test_a_time_that_cannot_be_read() -> None:
    with pytest.raises(DataError, match="'yesterday'"):
        Clock().observe("yesterday")


@pytest.mark.parametrize(
    "first", ["2015-07-01 00:00", "2015-07-01T00:00:00+02:00", "2015-07-01", "2015-07-01T00:00:00Z"]
)
@pytest.mark.parametrize("step", [60.0, 90.0, 0.25, 86_400.0, 1 / 3])
def test_what_is_known_already_is_what_would_be_read(first: str, step: float) -> None:
    """A time that comes as it was due is not read again: it must not differ by a bit."""
    clock = Clock()
    clock.observe(first)
    zone = datetime.fromisoformat(first)
    clock.observe((zone + timedelta(seconds=step)).isoformat())
    for _ in range(30):
        due = clock.next_time()
        assert due is not None
        assert clock.observe(due) is None
        assert clock._seconds == parse_time(due)
