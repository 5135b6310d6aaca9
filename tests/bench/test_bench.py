"""Comparisons: no method sees what it predicts, and scores are what their names say."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tidegate import MissingExtraError, UsageError
from tidegate.bench import METHODS, Method, compare, made

HOUR = 3600.0


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


def available() -> Iterator[str]:
    for name in METHODS:
        try:
            made(name, HOUR, 0)
        except MissingExtraError:
            continue
        yield name


@pytest.mark.parametrize("name", list(available()))
def test_no_method_sees_the_future(name: str) -> None:
    rng = np.random.default_rng(0)
    values, garbage = rng.normal(size=400) + 5, rng.normal(size=400) + 5
    garbage[:300] = values[:300]
    said = []
    for stream in (values, garbage):
        method, outputs = made(name, HOUR, 0), []
        for step, value in enumerate(stream.tolist()):
            outputs.append(repr(method.predict(step * HOUR)))
            method.learn(step * HOUR, value)
        said.append(outputs[:301])
    assert said[0] == said[1]


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


def test_the_benchmark_writes_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path(__file__).parents[2] / "benchmarks" / "forecast.py"
    spec = importlib.util.spec_from_file_location("forecast_benchmark", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
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
