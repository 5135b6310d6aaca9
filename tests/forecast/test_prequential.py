"""Predict, then learn: order, flags, scores and rows passed over."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tidegate import DataError
from tidegate._core.records import Record
from tidegate.forecast import (
    OURS,
    Forecaster,
    ForecasterModel,
    Model,
    Outcome,
    Prediction,
    Prequential,
)
from tidegate.forecast.parts import Arrays
from tidegate.streams import Row, SkipBadRows, StopAtBadRow


class Written:
    """A model that says one more than the last value, and notes what is asked of it."""

    levels: tuple[float, ...] = ()
    experts: tuple[str, ...] = ()
    half_lives = None

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.periods: Mapping[str, int] = {}
        self.times: list[float | None] = []
        self._last = nan

    def know(self, periods: Mapping[str, int]) -> None:
        self.periods = periods

    def predict(self, time: float | None) -> Prediction:
        self.calls.append("predict")
        self.times.append(time)
        return Prediction(self._last + 1)

    def learn(self, values: NDArray[np.float64], time: float | None) -> Outcome:
        self.calls.append("learn")
        if not np.isnan(values[0]):
            self._last = float(values[0])
            return Outcome()
        return Outcome(("missing",))

    def path(self) -> list[Prediction]:
        self.calls.append("path")
        return [Prediction(self._last + k) for k in (1, 2)]

    def state(self) -> Arrays:
        return {}

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None: ...


def of(model: Model, **settings: Any) -> Prequential:
    """A run of that one model."""
    about: dict[str, Any] = {"source": "demo", "bad_rows": StopAtBadRow(), "horizon": 2}
    return Prequential(lambda: model, **about | settings)


def rows(values: list[float], times: list[str | None] | None = None) -> list[Row]:
    dated = times or [None] * len(values)
    pairs = zip(values, dated, strict=True)
    return [Row(n, time, np.array([value])) for n, (value, time) in enumerate(pairs, 1)]


def stepped(run: Prequential, values: list[float], times: list[str | None] | None = None):  # type: ignore[no-untyped-def]
    found: list[Record | None] = [run.step(row) for row in rows(values, times)]
    return found


def test_the_forecast_comes_first() -> None:
    model = Written()
    of(model).step(rows([1.0])[0])
    assert model.calls == ["predict", "learn", "path"]


def test_records() -> None:
    run = of(Written(), warmup=1)
    first, second, third = stepped(run, [1.0, 4.0, nan])
    assert (first.prediction, first.actual, first.error) == (None, 1.0, None)
    assert (first.flags, first.next.prediction) == (("warmup",), 2.0)
    assert (second.prediction, second.error, second.flags) == (2.0, 2.0, ())
    assert (third.prediction, third.actual, third.error) == (5.0, None, None)
    assert (third.flags, third.next.prediction) == (("missing",), 5.0)


def test_scores_are_on_the_same_steps() -> None:
    run = of(Written(), warmup=2)
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
    run = of(Written())
    if warmup is None:
        with pytest.raises(DataError):
            stepped(run, [1.0, 2.0], [first, second])
        return
    stepped(run, [1.0, 2.0], [first, second])
    assert run.summary()["warmup"] == warmup
    fixed = of(Written(), warmup=5)
    stepped(fixed, [1.0, 2.0], [first, second])
    assert fixed.summary()["warmup"] == 5


def test_periods_are_given_to_the_forecaster_and_shown_once_they_are_old_enough() -> None:
    model = Written()
    run = of(model, warmup=0)
    days = [f"2020-01-{day:02d}" for day in range(1, 15)]
    stepped(run, [float(n) for n in range(13)], days[:13])
    assert model.periods == {"week ago": 7}
    assert list(run.summary()["mae"]) == [OURS, "persistence"]
    run.step(Row(14, days[13], np.array([13.0])))
    assert list(run.summary()["mae"]) == [OURS, "persistence", "week ago"]


def test_a_gap_is_flagged() -> None:
    run = of(Written(), warmup=0)
    days = ["2020-01-01", "2020-01-02", "2020-01-05", "2020-01-06"]
    flags = [record.flags for record in stepped(run, [1.0, 2.0, 3.0, 4.0], days)]
    assert flags == [(), (), ("gap",), ()]


@pytest.mark.parametrize("bad", ["2020-01-01", "2019-12-31", "soon"])
def test_a_bad_time_stops_or_is_passed_over_and_teaches_nothing(bad: str) -> None:
    days: list[str | None] = ["2020-01-01", "2020-01-02", bad, "2020-01-03"]
    values = [1.0, 2.0, 99.0, 3.0]
    with pytest.raises(DataError, match=f"demo, row 3, column 'when': .*{bad}"):
        stepped(of(Written(), time="when"), values, days)
    skipped = SkipBadRows()
    found = stepped(of(Written(), bad_rows=skipped, time="when"), values, days)
    assert found[2] is None and skipped.count == 1
    assert (found[3].step, found[3].prediction, found[3].flags) == (3, 3.0, ("warmup",))


def light(horizon: int = 1, levels: tuple[float, ...] = (0.9,)) -> Model:
    return ForecasterModel(Forecaster(units=0, horizon=horizon, levels=levels), horizon)


def hours(count: int, start: str = "2021-03-01 00:00:00") -> list[str]:
    first = np.datetime64(start.replace(" ", "T"), "s")
    return [str(first + np.timedelta64(3600 * n, "s")).replace("T", " ") for n in range(count)]


def wave(count: int) -> list[float]:
    return (np.sin(np.arange(count) * np.pi / 12) * 10).round(3).tolist()


def test_a_path_is_scored_at_every_step_ahead_once_its_values_come() -> None:
    """Written says one more than the last value, and two: on squares both errors are known."""
    run = of(Written(), warmup=0)
    values = [float(n * n) for n in range(10)]
    stepped(run, values)
    (ahead,) = run.summary()["ahead"]
    expected = [abs(values[n] - (values[n - 2] + 2)) for n in range(2, 10)]
    naive = [values[n] - values[n - 2] for n in range(2, 10)]
    assert (ahead["ahead"], ahead["steps"], ahead["held"]) == (2, 8, None)
    assert ahead["mae"] == pytest.approx(np.mean(expected))
    assert ahead["persistence"] == pytest.approx(np.mean(naive))


def test_paths_before_a_gap_are_not_scored_by_the_rows_after_it() -> None:
    times: list[str | None] = [*hours(5)[:3], *hours(8)[6:]]
    run = of(Written(), warmup=0)
    stepped(run, [0.0, 1.0, 2.0, 3.0, 4.0], times)
    assert run.summary()["ahead"][0]["steps"] == 1


def test_coverage_is_counted_from_the_records() -> None:
    run = of(light(1, (0.9, 0.5)), horizon=1, levels=(0.9, 0.5), warmup=100)
    noise = np.random.default_rng(3).normal(size=400).tolist()
    records = stepped(run, noise)
    for level in ("0.9", "0.5"):
        ends = [(r.intervals[level], r.actual) for r in records[100:]]
        held = [low <= actual <= high for (low, high), actual in ends]
        widths = [high - low for (low, high), _ in ends]
        found = run.summary()["coverage"][level]
        assert found["steps"] == 300 and found["held"] == pytest.approx(np.mean(held))
        assert found["width"] == pytest.approx(np.mean(widths))
    assert 0.85 < run.summary()["coverage"]["0.9"]["held"] < 0.95


def test_a_shift_is_an_alarm_of_its_row_with_its_size() -> None:
    values = np.random.default_rng(1).normal(size=700)
    values[500:] += 6.0
    run = of(light(), horizon=1, levels=(0.9,))
    records = stepped(run, values.tolist())
    flagged = [record.step for record in records if "alarm" in record.flags]
    alarms = run.summary()["alarms"]
    assert alarms["count"] == 1 and [a["step"] for a in alarms["newest"]] == flagged
    (raised,) = alarms["newest"]
    assert raised["step"] - raised["began"] == pytest.approx(501, abs=3)
    assert 2.0 < raised["size"] < 8.0


def test_columns_never_come_after_the_first_record() -> None:
    """CSV and Parquet take their columns from it."""
    run = of(light(3, (0.9, 0.5)), horizon=3, levels=(0.9, 0.5))
    records = stepped(run, wave(60), hours(60))
    assert len({tuple(record.to_columns()) for record in records}) == 1
    assert records[0].to_columns()["score"] is None and records[-1].score is not None
    assert records[0].experts["near"] is None and records[-1].experts["near"] is not None


def test_times_of_a_path_are_written_as_those_of_the_rows() -> None:
    run = of(light(3), horizon=3, levels=(0.9,))
    record = stepped(run, wave(60), hours(63)[:60])[-1]
    assert [point.time for point in record.next.path] == hours(63)[60:]
    assert record.next.time == hours(63)[60]
    assert [point.step for point in record.next.path] == [61, 62, 63]


def test_a_forecaster_goes_through_the_hours_that_are_missing() -> None:
    times: list[str | None] = [t for n, t in enumerate(hours(200)) if not 150 <= n < 155]
    values = [v for n, v in enumerate(wave(200)) if not 150 <= n < 155]
    run = of(light(), horizon=1, levels=(0.9,))
    records = stepped(run, values, times)
    assert [r.step for r in records if "gap" in r.flags] == [151]
    after = records[150]
    assert after.prediction == pytest.approx(after.actual, abs=2.0), "by the clock, not the row"


def test_the_clock_set_back_shows_an_hour_twice_and_no_row_is_late() -> None:
    from zoneinfo import ZoneInfo

    zone = ZoneInfo("Europe/Paris")
    first = np.datetime64("2021-10-30T12:00", "s").astype(int)
    seconds = [int(first) + 1800 * n for n in range(60)]
    from datetime import datetime

    times: list[str | None] = [
        datetime.fromtimestamp(s, zone).strftime("%Y-%m-%d %H:%M") for s in seconds
    ]
    assert len(set(times)) == len(times) - 2
    model = Written()
    records = stepped(of(model, zone=zone, horizon=2), wave(60), times)
    assert model.times == seconds
    assert [r.next.time for r in records[1:-1]] == times[2:]
    assert not any("gap" in record.flags for record in records)


KEYS = ["north", "south", "east"]


def keyed(count: int) -> list[Row]:
    """Three streams, interleaved unevenly."""
    rng, found, at = np.random.default_rng(2), [], dict.fromkeys(KEYS, 0)
    for n in range(count):
        key = KEYS[int(rng.choice(3, p=[0.5, 0.3, 0.2]))]
        value = 10.0 * KEYS.index(key) + wave(100)[at[key] % 24]
        found.append(Row(n + 1, hours(count)[at[key]], np.array([value]), key))
        at[key] += 1
    return found


def test_streams_apart_by_key_are_each_what_they_would_be_alone() -> None:
    """Troubles 2 and 6."""
    rows = keyed(300)
    together = Prequential(light, "demo", StopAtBadRow(), levels=(0.9,))
    records = [together.step(row) for row in rows]
    for key in KEYS:
        alone = Prequential(light, "demo", StopAtBadRow(), levels=(0.9,))
        own = [alone.step(row) for row in rows if row.key == key]
        said = [r for r in records if r.key == key]
        assert [repr((r.prediction, r.low, r.score, r.next)) for r in said] == [
            repr((r.prediction, r.low, r.score, r.next)) for r in own
        ]
    assert [r.step for r in records] == list(range(1, 301))


def test_of_too_many_streams_the_most_silent_one_starts_anew() -> None:
    run = Prequential(light, "demo", StopAtBadRow(), levels=(0.9,), most=2)
    order = ["a", "b", "a", "c", "b", "a"]
    rows = [Row(n, None, np.array([float(n)]), key) for n, key in enumerate(order, 1)]
    predictions = [run.step(row).prediction for row in rows]
    assert predictions == [None, None, 1.0, None, None, None]
    assert run.summary()["keys"] == {"kept": 2, "forgotten": 3}


@pytest.mark.parametrize("cut", [0, 1, 40, 150])
def test_a_run_by_keys_goes_on_to_the_bit(cut: int) -> None:
    def made() -> Prequential:
        return Prequential(
            lambda: light(2, (0.9, 0.5)), "demo", StopAtBadRow(), levels=(0.9, 0.5), horizon=2
        )

    rows, unbroken, first, second = keyed(200), made(), made(), made()
    expected = [unbroken.step(row).to_json_line() for row in rows]
    said = [first.step(row).to_json_line() for row in rows[:cut]]
    second.restore(first.state())
    said += [second.step(row).to_json_line() for row in rows[cut:]]
    assert said == expected
    assert second.summary() == unbroken.summary()


def test_garbage_in_the_future_changes_no_record_before_it() -> None:
    rows = keyed(200)
    changed = [
        Row(r.number, r.time, np.array([inf if n % 2 else -1e30]), r.key) if n >= 120 else r
        for n, r in enumerate(rows)
    ]
    one, other = (
        Prequential(lambda: light(2), "demo", StopAtBadRow(), levels=(0.9,), horizon=2)
        for _ in range(2)
    )
    said = [one.step(row).to_json_line() for row in rows]
    garbled = [other.step(row).to_json_line() for row in changed]
    assert garbled[:120] == said[:120] and garbled[120:] != said[120:]


def test_simple_forecasts_go_by_the_clock_over_a_gap() -> None:
    """Else they would look worse beside ours than they are."""
    whole = hours(24 * 20)
    open_hours = [n for n in range(24 * 20) if 7 <= n % 24 < 19 and n % 100 != 55]
    run = of(Written(), warmup=24 * 2)
    records = stepped(run, [float(n % 24) for n in open_hours], [whole[n] for n in open_hours])
    assert len(records) == len(open_hours)
    mae = run.summary()["mae"]
    scored = open_hours[24 * 2 :]
    known = set(open_hours)
    # Where yesterday's hour is missing too, the last value stands in for it.
    missing = [n for n in scored if n - 24 not in known]
    last = {n: max(k for k in open_hours if k < n) for n in missing}
    assert mae["day ago"] == pytest.approx(
        sum(abs(n % 24 - last[n] % 24) for n in missing) / len(scored)
    )
    assert mae["persistence"] > 1


def test_a_blip_is_told_as_one_and_saved() -> None:
    values = np.random.default_rng(1).normal(size=700)
    values[500:560] += 6.0
    run, again = (of(light(), horizon=1, levels=(0.9,)) for _ in range(2))
    stepped(run, values.tolist())
    first, second = run.summary()["alarms"]["newest"]
    assert (first["back"], second["back"]) == (False, True)
    again.restore(run.state())
    assert again.summary() == run.summary()
    assert "level back by -" in again.alarms.newest[-1].words()
