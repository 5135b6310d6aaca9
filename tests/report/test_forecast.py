"""A forecaster's run in a study: its stream with intervals, weights and alarms; its networks."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tidegate import UsageError
from tidegate._core.records import Forecast, Record
from tidegate._core.trace_files import TraceWriter
from tidegate._core.trace_folders import folder_of, traced
from tidegate.memory import half_lives
from tidegate.report import (
    Study,
    csv_text,
    facts,
    forecast_study,
    html_page,
    json_text,
    plain_text,
    read_forecast,
    sentences,
)

from .conftest import STEPS, Browser, bursting
from .test_page import data_of, numbers

SHARES = {"near": 0.3, "gated": 0.5, "lean": 0.2}


def records(start: int = 100, steps: int = STEPS) -> list[Record]:
    """Values 0 and 1 in turn, predicted 0.25 too low with an interval that misses every fifth."""
    found = []
    for step in range(start, start + steps):
        actual = float(step % 2)
        missed = step % 5 == 0
        found.append(
            Record(
                step=step,
                time=f"t{step}",
                prediction=actual - 0.25,
                actual=actual,
                error=0.25,
                low=actual - 0.5,
                high=actual - 0.1 if missed else actual + 0.1,
                flags=("alarm",) if step == start + 50 else (),
                experts=SHARES,
                score=0.5,
                next=Forecast(time=None, prediction=None),
            )
        )
    return found


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A folder of a run with two networks recorded, the lighter of which keeps half as long."""
    lines = [record.to_json_line() for record in records()]
    lines[0] = lines[0].replace("{", '{"schema": 1, ', 1)
    (tmp_path / "records.jsonl").write_text("\n".join([*lines, ""]))
    for name, times in (("gated", 1.0), ("lean", 2.0)):
        trace = bursting(start=100)
        kept = {"c": times * trace.log_retention["c"]}
        with TraceWriter(folder_of(tmp_path / "trace", name)) as writer:
            writer.write(replace(trace, log_retention=kept))
    return tmp_path


@pytest.fixture
def alone() -> Study:
    return forecast_study(records(), Path("nowhere"), 10_000, "demo")


def test_errors_coverage_weights_and_alarms_are_those_of_the_records(alone: Study) -> None:
    found = facts(alone)["stream"]
    assert found["mae"] == 0.25
    assert found["persistence"] == 1.0
    assert found["held"] == pytest.approx(0.8)
    assert list(found["experts"]) == ["gated", "near", "lean"]
    assert found["experts"] == pytest.approx(SHARES)
    assert found["alarms"] == [150]


def test_without_a_recording_the_stream_alone_is_told(alone: Study) -> None:
    assert not alone.recorded
    said = sentences(alone)
    assert said[0] == "Mean absolute error 0.25; saying the last value again: 1."
    assert "The interval held 80.0 % of the values." in said
    assert any("gated 50 %, near 30 %, lean 20 %" in line for line in said)
    assert any("Alarms, as the level shifted: at step 150." in line for line in said)
    assert "tidegate run --trace" in said[-1]
    assert json.loads(json_text(alone))["units"] == []
    rows = list(csv.DictReader(io.StringIO(csv_text(alone))))
    assert [row["expert"] for row in rows] == ["gated", "near", "lean"]
    assert "unit" not in plain_text(alone)


def test_the_heaviest_network_is_looked_at_unless_another_is_named(run: Path) -> None:
    study = read_forecast(run, 10_000, "demo")
    assert (study.looked_at, traced(run / "trace")) == ("gated", ["gated", "lean"])
    assert study.start == 100 and study.stream is not None and len(study.stream.steps) == STEPS
    named = read_forecast(run, 10_000, "demo", expert="lean")
    assert named.looked_at == "lean"
    np.testing.assert_array_equal(named.log_kept, 2 * study.log_kept)
    with pytest.raises(UsageError, match="one of gated, lean, got 'near'"):
        read_forecast(run, 10_000, "demo", expert="near")


def test_half_lives_of_every_network(run: Path) -> None:
    study = read_forecast(run, 10_000, "demo")
    rows = {row["network"]: row for row in facts(study)["networks"]}
    middle = np.quantile(half_lives(study.trace).median, 0.5, method="nearest")
    assert rows["gated"]["between_events"] == pytest.approx(np.log(0.5) / middle)
    assert rows["lean"]["between_events"] == pytest.approx(np.log(0.5) / middle / 2)
    assert (rows["gated"]["weight"], rows["lean"]["weight"]) == pytest.approx((0.5, 0.2))
    assert "network" in plain_text(study) and "lean" in plain_text(study)
    assert "How long each network remembers" in html_page(study)


def test_a_stream_is_picked_by_its_key(tmp_path: Path) -> None:
    keyed = [replace(r, key="ab"[r.step % 2]) for r in records(1, 20)]
    lines = [record.to_json_line() for record in keyed]
    lines[0] = lines[0].replace("{", '{"schema": 1, ', 1)
    (tmp_path / "records.jsonl").write_text("\n".join([*lines, ""]))
    last = read_forecast(tmp_path, 100, "demo")
    assert last.stream is not None and last.stream.steps.tolist() == list(range(2, 21, 2))
    assert last.title == "demo of a"
    other = read_forecast(tmp_path, 100, "demo", key="b")
    assert other.stream is not None and other.stream.steps.tolist() == list(range(1, 21, 2))
    with pytest.raises(UsageError, match="--key"):
        read_forecast(tmp_path, 100, "demo", key="c")


def test_the_page_holds_band_weights_and_alarms(alone: Study) -> None:
    stream = data_of(html_page(alone))["stream"]
    assert alone.stream is not None
    np.testing.assert_array_equal(numbers(stream["low"]), alone.stream.low)
    np.testing.assert_array_equal(numbers(stream["high"]), alone.stream.high)
    assert list(stream["experts"]) == ["gated", "near", "lean"] and stream["alarms"] == [150]


def test_a_figure_without_networks() -> None:
    figures = pytest.importorskip("tidegate.report.figures", reason="needs the extra plots")
    made = figures.figure(forecast_study(records(), Path("nowhere"), 100, "demo"))
    assert [axes.get_ylabel() for axes in made.axes] == ["target", "share of the expert"]


@pytest.mark.parametrize("recorded", [True, False])
def test_in_a_browser(
    browser: Browser, alone: Study, run: Path, tmp_path: Path, recorded: bool
) -> None:
    page = tmp_path / "page.html"
    study = read_forecast(run, 10_000, "demo") if recorded else alone
    page.write_text(html_page(study), encoding="utf-8")
    browser.open(page)
    assert browser.complaints() == []
    hidden = browser.run("return document.getElementById('network').hidden")
    assert hidden == (not recorded)
    assert browser.run("return document.querySelectorAll('#experts canvas').length") == 1
    browser.run("document.querySelector('#alarm-list button').click()")
    later = "return new Promise(r => setTimeout(() => r(WHAT), 200))"
    assert browser.run(later.replace("WHAT", "document.getElementById('step').value")) == "150"
    reading = later.replace("WHAT", "document.querySelector('ID .reading').textContent")
    assert "predicted −0.25 (−0.5 to" in browser.run(reading.replace("ID", "#stream"))
    assert "gated 50 %, near 30 %, lean 20 %" in browser.run(reading.replace("ID", "#experts"))
    assert browser.complaints() == []
