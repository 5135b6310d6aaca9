"""Streams out of other packages: their grids, and what the simple forecasts are worth on them.

Reference values were computed by other code for the issue that asked for these streams.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pytest
from numpy.typing import NDArray

from tidegate import MissingExtraError, UsageError
from tidegate.datasets import load
from tidegate.datasets.packages import Series, nab_rows, on_grid

# name: rows, missing rows, error of the last value after the first tenth
STREAMS = {
    "taxi": (10_320, 0, 1261.2),
    "victoria": (17_520, 0, 0.1129),
    "pm25": (43_824, 2_067, 12.891),
    "chicago": (5_698, 0, 4.2891),
    "calls": (27_716, 0, 15.217),
    "machine": (22_683, 0, 0.84635),
    "sunspots": (2_429, 0, 19.380),
}


def values_of(name: str) -> NDArray[np.float64]:
    try:
        return np.array([row.values[0] for row in load(name).rows()])
    except MissingExtraError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_is_the_published_one(name: str) -> None:
    rows, missing, persistence = STREAMS[name]
    values = values_of(name)
    seen = np.maximum.accumulate(np.where(np.isnan(values), 0, np.arange(len(values))))
    errors = np.abs(values[1:] - values[seen][:-1])[len(values) // 10 - 1 :]
    assert (len(values), int(np.isnan(values).sum())) == (rows, missing)
    assert np.nanmean(errors) == pytest.approx(persistence, rel=1e-4)
    assert load(name).warmup == rows // 10


def test_a_grid_has_every_step_and_the_first_of_two() -> None:
    day, start = timedelta(days=1), datetime(2020, 1, 1)
    rows = [(start, 1.0), (start + 3 * day, 4.0), (start, 9.0), (start + day, 2.0)]
    grid = list(on_grid("demo", "x", rows, day))
    assert [row.time for row in grid] == [str(start + k * day) for k in range(4)]
    assert repr([float(row.values[0]) for row in grid]) == "[1.0, 2.0, nan, 4.0]"


def test_a_series_is_read_once() -> None:
    series = Series("demo", "x", [datetime(2020, 1, 1)], [1.0])
    assert len(list(series)) == 1 and list(series) == []


def test_an_absent_folder_says_which_variable_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIDEGATE_DATA", raising=False)
    with pytest.raises(MissingExtraError, match="TIDEGATE_DATA"):
        next(nab_rows("nyc_taxi.csv"))


def test_columns_that_are_not_there_are_refused() -> None:
    with pytest.raises(UsageError, match="weather"):
        load("taxi").stream(["weather"])
