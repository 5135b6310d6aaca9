"""Comparisons: no method sees what it predicts, and scores are what their names say."""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tidegate import MissingExtraError, UsageError
from tidegate.bench import METHODS, Line, Method, compare, made, standings

HOUR = 3600.0
#: no better than the last value, or not after 400 rows
SHORTSIGHTED = ("persistence", "statsforecast-ets", "statsforecast-arima", "deep-river-lstm")


class Oracle(Method):
    """Says what it is given."""

    name = "oracle"

    def __init__(self, said: list[float], ends: tuple[float, float] | None = None) -> None:
        self._said, self._ends = iter(said), ends

    def predict(self, time: float) -> float:
        return next(self._said)

    def learn(self, time: float, value: float) -> None:
        pass

    def interval(self) -> tuple[float, float] | None:
        return self._ends


def needed(name: str) -> None:
    """Skip where the method's package is not installed."""
    if METHODS[name].package is not None:
        pytest.importorskip(METHODS[name].module)


@pytest.fixture(autouse=True)
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidegate.bench.boosting.TREES", 20)


def outputs(method: Method, values: list[float], step: float = HOUR) -> list[float]:
    """What it says before every row."""
    said = []
    for n, value in enumerate(values):
        said.append(method.predict(n * step))
        method.learn(n * step, value)
    return said


@pytest.mark.filterwarnings("ignore")  # of other packages
@pytest.mark.parametrize("name", METHODS)
def test_no_method_sees_the_future(name: str) -> None:
    needed(name)
    rng = np.random.default_rng(0)
    values, garbage = rng.normal(size=400) + 5, rng.normal(size=400) + 5
    garbage[:380] = values[:380]
    seen = outputs(made(name, HOUR, 0), values.tolist())[:381]
    unseen = outputs(made(name, HOUR, 0), garbage.tolist())[:381]
    assert list(map(repr, seen)) == list(map(repr, unseen))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("step", [HOUR, None])
@pytest.mark.parametrize("name", [name for name in METHODS if name not in SHORTSIGHTED])
def test_every_method_beats_the_last_value_on_a_wave_with_holes(
    name: str, step: float | None
) -> None:
    """Each really learns, with times and without, and one missing value costs it nothing."""
    needed(name)
    if METHODS[name].dated and step is None:
        with pytest.raises(UsageError, match="week-ago"):
            made(name, step, 0)
        return
    hours = np.arange(500)
    values = 10 * np.sin(hours * 2 * np.pi / 24) + np.random.default_rng(3).normal(size=500) / 10
    values[[60, 300, 301]] = np.nan
    said = np.array(outputs(made(name, step, 0), values.tolist(), step or 1.0))
    late = slice(400, None)
    assert np.isfinite(said[late]).all()
    last = np.abs(np.diff(values))[late].mean()
    assert np.abs(said - values)[late].mean() < 0.9 * last


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SHORTSIGHTED[1:])
def test_forecasters_of_other_packages_say_something_past_a_missing_value(name: str) -> None:
    needed(name)
    values = np.random.default_rng(4).normal(size=380).cumsum()
    values[[5, 350]] = np.nan
    said = np.array(outputs(made(name, HOUR, 0), values.tolist()))
    assert np.isfinite(said[1:]).all()
    assert np.nanmean(np.abs(said - values)[300:]) < 5


def test_boosting_refits_and_beats_the_lags_where_they_say_nothing_linear() -> None:
    """The value is the exclusive or of the two before it: no line through lags predicts it."""
    pytest.importorskip("sklearn")
    bits = [0.0, 1.0]
    flips = np.random.default_rng(5).random(700) < 0.05
    for flip in flips.tolist():
        bits.append(float((bits[-1] != bits[-2]) != flip))
    errors = {}
    for name in ("boosting", "rls"):
        said = np.array(outputs(made(name, None, 0), bits))
        errors[name] = np.abs(said - bits)[400:].mean()
    assert errors["boosting"] < 0.2 < errors["rls"]


def test_the_last_value_stands_in_where_a_method_says_nothing() -> None:
    score = compare(Oracle([np.nan, np.nan, 2.5]), range(3), [1.0, 2.0, 4.0], first=1)
    assert (score.scored, score.silent) == (2, 1)
    assert score.mae == pytest.approx((1 + 1.5) / 2)


def test_standings_put_the_smallest_error_first_and_one_that_diverged_last() -> None:
    values = [0.0, 1.0, 2.0, 3.0]
    perfect = compare(Oracle(values), range(4), values, first=0)
    last = compare(Oracle([9.0, 0.0, 1.0, 2.0]), range(4), values, first=0)
    lost = replace(last, mae=np.nan)
    rows = standings([Line("lost", lost), Line("persistence", last), Line("oracle", perfect)])
    assert [row["method"] for row in rows] == ["oracle", "persistence", "lost"]
    assert [row["skill_persistence"] for row in rows[:2]] == [1.0, 0.0]


def test_a_method_whose_package_is_absent_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "river", None)
    monkeypatch.setitem(sys.modules, "river.preprocessing", None)
    with pytest.raises(MissingExtraError, match="pip install river"):
        made("river-linear", HOUR, 0)


def test_rls_is_the_weighted_least_squares_solution() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=420).cumsum()
    method = made("rls", HOUR, 0)
    for step, value in enumerate(values.tolist()):
        method.learn(step * HOUR, value)
    lags = np.array([1, 2, 3, 24, 25, 168, 169])
    steps = np.arange(169, 420)
    xs = np.column_stack([values[steps[:, None] - lags], np.ones(len(steps))])
    weights = np.sqrt(0.9995 ** (420 - 1 - steps))
    prior = np.sqrt(0.9995 ** len(steps)) * np.eye(8)
    rows, ys = (
        np.vstack([xs * weights[:, None], prior]),
        np.append(values[steps] * weights, np.zeros(8)),
    )
    expected = np.append(values[420 - lags], 1.0) @ np.linalg.lstsq(rows, ys, rcond=None)[0]
    assert method.predict(420 * HOUR) == pytest.approx(expected, rel=1e-6)


def test_a_week_ago_is_by_the_clock() -> None:
    method = made("week-ago", HOUR, 0)
    for hour in range(200):
        if hour != 40:
            method.learn(hour * HOUR, float(hour))
    assert method.predict(200 * HOUR) == 32.0
    assert method.predict(208 * HOUR) == 199.0


def test_scores_are_means_over_the_rows_that_have_a_value() -> None:
    values = [0.0, 1.0, np.nan, 3.0, 10.0]
    score = compare(Oracle([9.0, 2.0, 0.0, 3.5, 3.0], (-5.0, 5.0)), range(5), values, first=1)
    assert score.scored == 3
    assert score.mae == pytest.approx((1 + 0.5 + 7) / 3)
    assert score.coverage == pytest.approx(2 / 3)
    assert score.interval_score == pytest.approx((10 + 10 + 10 + 20 * 5) / 3)


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(UsageError, match="prophet"):
        made("prophet", HOUR, 0)


@pytest.fixture
def benchmark() -> Any:
    path = Path(__file__).parents[2] / "benchmarks" / "forecast.py"
    spec = importlib.util.spec_from_file_location("forecast_benchmark", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_benchmark_writes_a_table_between_its_marks(benchmark: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before <!-- short --> old <!-- end of short --> after")
    row = {"stream": "i94", "us_per_step": 2.0, "scored": 900}
    maes = {"persistence": 621.04, "rls": 224.18}
    rows = [row | {"method": method, "mae": mae} for method, mae in maes.items()]
    for _ in range(2):  # it may be written again
        benchmark.write_table(page, "short", rows)
    assert page.read_text().splitlines() == [
        "before <!-- short -->",
        "| method | i94 | us/row |",
        "|---|---:|---:|",
        "| `persistence` | 621 | 2 |",
        "| `rls` | **224.2** | 2 |",
        "| rows scored | 900 | |",
        "<!-- end of short --> after",
    ]


def test_the_benchmark_writes_its_rows(
    benchmark: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    module = benchmark
    monkeypatch.setattr(module, "QUICK", ("persistence", "week-ago"))
    monkeypatch.delenv("TIDEGATE_DATA", raising=False)
    rows = tmp_path / "rows.json"
    monkeypatch.setattr(
        sys, "argv", ["forecast.py", "--stream", "i94", "--stream", "taxi", "--json", str(rows)]
    )
    assert module.main() == 0
    first, second = json.loads(rows.read_text())["rows"]
    assert (first["stream"], first["method"], second["method"]) == (
        "i94",
        "persistence",
        "week-ago",
    )
    assert first["mae"] == pytest.approx(621.04, abs=0.01)
    assert second["skill_persistence"] == pytest.approx(1 - 354.18 / 621.04, abs=1e-4)
    assert "taxi: left out" in capsys.readouterr().err
