"""The same answers from every library of data frames."""

from __future__ import annotations

import numpy as np
import pytest

from tidegate import UsageError
from tidegate.forecast.forecaster import Forecaster

ROWS = {"hour": [3600.0 * n for n in range(40)], "x": [float(n % 5) for n in range(40)]}


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_is_predicted_row_by_row(library: str) -> None:
    pytest.importorskip("narwhals")
    module = pytest.importorskip(library)
    frame = module.table(ROWS) if library == "pyarrow" else module.DataFrame(ROWS)
    said = Forecaster(units=4).run(frame, target="x", time="hour")
    assert type(said) is type(frame)
    expected, forecaster = [], Forecaster(units=4)
    for hour, value in zip(ROWS["hour"], ROWS["x"], strict=True):
        expected.append(forecaster.predict(hour).value)
        forecaster.learn(value, time=hour)
    assert np.array_equal(np.asarray(said["prediction"]), expected, equal_nan=True)


def test_a_column_that_is_not_there_is_named() -> None:
    pytest.importorskip("narwhals")
    frame = pytest.importorskip("pandas").DataFrame(ROWS)
    with pytest.raises(UsageError, match="'y'"):
        Forecaster(units=4).run(frame, target="y")
