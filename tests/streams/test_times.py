"""The text of a time as seconds."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate import DataError
from tidegate.streams import parse_time


@given(st.datetimes(timezones=st.timezones(), min_value=datetime(1, 1, 3)))
def test_a_zoned_time_is_its_timestamp(moment: datetime) -> None:
    assert parse_time(moment.isoformat()) == pytest.approx(moment.timestamp(), abs=1e-4)


@given(st.datetimes())
def test_a_time_without_zone_is_utc(moment: datetime) -> None:
    seconds = moment.replace(tzinfo=UTC).timestamp()
    assert parse_time(str(moment)) == pytest.approx(seconds, abs=1e-4)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01", 0.0),
        ("1970-01-01T00:00:01.5Z", 1.5),
        ("1970-01-01 00:00:01.500000000", 1.5),
        ("1969-12-31T19:00-05:00", 0.0),
        (" 1970-01-02 ", 86400.0),
        ("-17.25", -17.25),
        ("1435708800", 1435708800.0),
    ],
)
def test_forms(text: str, seconds: float) -> None:
    assert parse_time(text) == seconds


def test_the_zone_of_the_machine_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "EST5EDT")
    time.tzset()
    try:
        assert parse_time("1970-01-01") == 0
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("text", ["", "yesterday", "2015-13-01", "01/07/2015", "nan", "inf", "1_0"])
def test_what_is_no_time_is_refused_by_its_owner(text: str) -> None:
    with pytest.raises(DataError) as caught:
        parse_time(text, "a.csv, row 7, column 'time'")
    assert str(caught.value).startswith("a.csv, row 7, column 'time': ")
    assert repr(text) in str(caught.value)
