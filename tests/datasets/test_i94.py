"""The shipped stream, and what the simple forecasts are worth on it.

Reference values of the simple forecasts: the *last seen* value at a time t is the newest one
counted at or before t. Persistence is the last seen before the row. A week ago is the value
counted a week before, or, where none was, the last seen before the row. Last + weekly change is
the last seen before the row, plus last seen a week before, minus last seen a week and an hour
before. All 23,973 hours counted after the first 10 % of the grid are scored.
"""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import tidegate.datasets
from tidegate import MissingExtraError, UsageError
from tidegate.datasets import I94, Dataset, load, names
from tidegate.streams import parse_time

Floats = NDArray[np.float64]
HOURS = 28_512
WEEK = 168


@pytest.fixture(scope="module")
def volume() -> Floats:
    return np.array([row.values[0] for row in load("i94").rows()])


def last_seen(series: Floats) -> Floats:
    places = np.where(np.isnan(series), 0, np.arange(len(series)))
    return series[np.maximum.accumulate(places)]


def back(series: Floats, steps: int) -> Floats:
    return np.concatenate([np.full(steps, np.nan), series[:-steps]])


def mean_absolute_error(forecast: Floats, actual: Floats) -> float:
    scored = (np.arange(HOURS) >= HOURS // 10) & ~np.isnan(actual)
    assert scored.sum() == 23_973
    return float(np.abs(forecast - actual)[scored].mean())


def test_every_hour_has_a_row_and_missing_hours_stay_missing(volume: Floats) -> None:
    assert volume.shape == (HOURS,)
    assert np.isnan(volume).sum() == 1_984
    assert (np.nanmin(volume), np.nanmax(volume), np.nansum(volume)) == (0, 7_280, 87_381_556)


def test_rows_follow_the_clock() -> None:
    rows = list(load("i94").rows())
    assert [row.number for row in rows] == list(range(1, HOURS + 1))
    seconds = np.array([parse_time(row.time or "") for row in rows])
    assert (np.diff(seconds) == I94.step).all()
    assert (rows[0].time, rows[-1].time) == ("2015-07-01 00:00:00", "2018-09-30 23:00:00")


def test_the_shipped_bytes_are_the_published_ones() -> None:
    text = gzip.decompress(Path(tidegate.datasets.__path__[0], "i94.csv.gz").read_bytes())
    digest = hashlib.sha256(text).hexdigest()
    assert digest == "04b810c193eb5ed39316ffc90b9608c9b3f0ba62d4aa3f2df79c97ed8b651ccf"


def test_the_archive_names_neither_a_time_nor_a_file() -> None:
    head = Path(tidegate.datasets.__path__[0], "i94.csv.gz").read_bytes()[:10]
    assert head[3:8] == bytes(5)


def test_persistence(volume: Floats) -> None:
    forecast = back(last_seen(volume), 1)
    assert mean_absolute_error(forecast, volume) == pytest.approx(621.0, abs=0.05)


def test_a_week_ago(volume: Floats) -> None:
    week_ago, latest = back(volume, WEEK), back(last_seen(volume), 1)
    forecast = np.where(np.isnan(week_ago), latest, week_ago)
    assert mean_absolute_error(forecast, volume) == pytest.approx(354.2, abs=0.05)


def test_last_and_weekly_change(volume: Floats) -> None:
    seen = last_seen(volume)
    forecast = back(seen, 1) + back(seen, WEEK) - back(seen, WEEK + 1)
    assert mean_absolute_error(forecast, volume) == pytest.approx(287.5, abs=0.05)


@pytest.mark.parametrize("name", names())
def test_every_data_set_is_what_its_papers_say(name: str) -> None:
    dataset = load(name)
    assert dataset.target in dataset.columns
    assert dataset.name == name
    assert dataset.title and dataset.source and dataset.licence and dataset.step > 0
    others = [column for column in dataset.columns if column != dataset.target]
    try:
        stream = dataset.stream(others)
        row = next(iter(stream))
    except MissingExtraError as error:
        pytest.skip(str(error))
    assert stream.columns == (dataset.target, *others)
    assert row.time is not None and row.values.shape == (len(dataset.columns),)


def test_an_unknown_column_is_refused() -> None:
    with pytest.raises(UsageError, match="'temp'"):
        load("i94").stream(["temp"])


def test_an_unknown_data_set_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="Did you mean 'i94'"):
        load("i49")


def test_a_data_set_says_how_its_rows_are_read() -> None:
    with pytest.raises(TypeError, match="stream"):
        Dataset()  # type: ignore[abstract]
