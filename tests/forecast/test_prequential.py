"""Predict, then learn: order, flags, scores and rows passed over."""

from __future__ import annotations

from math import nan

import numpy as np
import pytest
from numpy.typing import NDArray

from tidegate import DataError
from tidegate._core.records import Record
from tidegate.forecast import OURS, Prequential
from tidegate.streams import Row, SkipBadRows, StopAtBadRow


class Written:
    """A forecaster that says one more than the last value, and notes what is asked of it."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.periods: dict[str, int] = {}
        self._last = nan

    def know(self, periods: dict[str, int]) -> None:
        self.periods = periods

    def forecast(self) -> float:
        self.calls.append("forecast")
        return self._last + 1

    def observe(self, values: NDArray[np.float64]) -> tuple[str, ...]:
        self.calls.append("observe")
        if not np.isnan(values[0]):
            self._last = float(values[0])
            return ()
        return ("missing",)


def rows(values: list[float], times: list[str | None] | None = None) -> list[Row]:
    dated = times or [None] * len(values)
    pairs = zip(values, dated, strict=True)
    return [Row(n, time, np.array([value])) for n, (value, time) in enumerate(pairs, 1)]


def stepped(run: Prequential, values: list[float], times: list[str | None] | None = None):  # type: ignore[no-untyped-def]
    found: list[Record | None] = [run.step(row) for row in rows(values, times)]
    return found


def test_the_forecast_comes_first() -> None:
    forecaster = Written()
    run = Prequential(forecaster, "demo", StopAtBadRow())
    run.step(rows([1.0])[0])
    assert forecaster.calls == ["forecast", "observe", "forecast"]


def test_records() -> None:
    run = Prequential(Written(), "demo", StopAtBadRow(), warmup=1)
    first, second, third = stepped(run, [1.0, 4.0, nan])
    assert (first.prediction, first.actual, first.error) == (None, 1.0, None)
    assert (first.flags, first.next.prediction) == (("warmup",), 2.0)
    assert (second.prediction, second.error, second.flags) == (2.0, 2.0, ())
    assert (third.prediction, third.actual, third.error) == (5.0, None, None)
    assert (third.flags, third.next.prediction) == (("missing",), 5.0)


def test_scores_are_on_the_same_steps() -> None:
    run = Prequential(Written(), "demo", StopAtBadRow(), warmup=2)
    values = [1.0, 2.0, 4.0, nan, 7.0, 7.0]
    stepped(run, values)
    summary = run.summary()
    assert (summary["steps"], summary["scored"]) == (6, 3)
    assert summary["mae"] == {OURS: (1 + 2 + 1) / 3, "persistence": (2 + 3 + 0) / 3}
    assert summary["skill"]["persistence"] == pytest.approx(1 - 4 / 5)
    assert summary["flags"] == {"warmup": 2, "missing": 1}


@pytest.mark.parametrize(
    ("first", "second", "warmup"),
    [
        (None, None, 200),
        ("2020-01-01", "2020-01-02", 14),
        ("2020-01-01 00:00", "2020-01-01 01:00", 336),
        ("2020-01-01 00:00", "2020-01-01 00:05", 2_000),
        ("2020-01", "2020-02", None),
    ],
)
def test_the_clock_decides_the_warmup(
    first: str | None, second: str | None, warmup: int | None
) -> None:
    run = Prequential(Written(), "demo", StopAtBadRow())
    if warmup is None:
        with pytest.raises(DataError):
            stepped(run, [1.0, 2.0], [first, second])
        return
    stepped(run, [1.0, 2.0], [first, second])
    assert run.summary()["warmup"] == warmup
    fixed = Prequential(Written(), "demo", StopAtBadRow(), warmup=5)
    stepped(fixed, [1.0, 2.0], [first, second])
    assert fixed.summary()["warmup"] == 5


def test_periods_are_given_to_the_forecaster_and_shown_once_they_are_old_enough() -> None:
    forecaster = Written()
    run = Prequential(forecaster, "demo", StopAtBadRow(), warmup=0)
    days = [f"2020-01-{day:02d}" for day in range(1, 15)]
    stepped(run, [float(n) for n in range(13)], days[:13])
    assert forecaster.periods == {"week ago": 7}
    assert list(run.summary()["mae"]) == [OURS, "persistence"]
    run.step(Row(14, days[13], np.array([13.0])))
    assert list(run.summary()["mae"]) == [OURS, "persistence", "week ago"]


def test_a_gap_is_flagged() -> None:
    run = Prequential(Written(), "demo", StopAtBadRow(), warmup=0)
    days = ["2020-01-01", "2020-01-02", "2020-01-05", "2020-01-06"]
    flags = [record.flags for record in stepped(run, [1.0, 2.0, 3.0, 4.0], days)]
    assert flags == [(), (), ("gap",), ()]


@pytest.mark.parametrize("bad", ["2020-01-01", "2019-12-31", "soon"])
def test_a_bad_time_stops_or_is_passed_over_and_teaches_nothing(bad: str) -> None:
    days: list[str | None] = ["2020-01-01", "2020-01-02", bad, "2020-01-03"]
    values = [1.0, 2.0, 99.0, 3.0]
    with pytest.raises(DataError, match=f"demo, row 3, column 'when': .*{bad}"):
        stepped(Prequential(Written(), "demo", StopAtBadRow(), time="when"), values, days)
    skipped = SkipBadRows()
    found = stepped(Prequential(Written(), "demo", skipped, time="when"), values, days)
    assert found[2] is None and skipped.count == 1
    assert (found[3].step, found[3].prediction, found[3].flags) == (3, 3.0, ("warmup",))
