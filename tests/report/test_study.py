"""What a study finds is what the functions of ``tidegate.memory`` find; words follow numbers."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from tidegate import DataError, UsageError
from tidegate._core.records import Forecast, Record
from tidegate._core.trace import Trace
from tidegate.memory import half_lives
from tidegate.report import (
    Study,
    csv_text,
    facts,
    json_text,
    plain_text,
    read_borders,
    sentences,
    stream_of,
)

from .conftest import EVERY, STEPS


def test_events_are_numbered_as_the_stream_and_meet_the_borders(study: Study) -> None:
    steps = [event.step for event in study.events]
    assert steps and set(steps) <= set(study.borders)
    assert study.alignment is not None
    assert study.alignment.precision == 1.0
    assert study.alignment.p_value < 0.05


def test_borders_outside_the_trace_are_left_out(study: Study) -> None:
    assert replace(study, borders=[5, 149, 10_000]).borders == (149,)


def test_a_selection_keeps_the_numbers_of_units(study: Study) -> None:
    chosen = study.selected([2, 0])
    assert chosen.units == (2, 0)
    whole = half_lives(study.trace).median
    assert chosen.half_lives.median.tolist() == [whole[2], whole[0]]
    assert chosen.selected([0]).half_lives.median.tolist() == [whole[0]]
    with pytest.raises(UsageError, match="--units"):
        study.selected([3])


def test_several_rows_and_no_memory_are_refused() -> None:
    with pytest.raises(UsageError, match="2 rows"):
        Study("", Trace({"c": np.zeros((5, 2, 1))}))
    with pytest.raises(UsageError, match="direct path"):
        Study("", Trace(hidden={"h": np.zeros((5, 1, 1))}))


def test_json_reads_back_and_has_words_where_there_is_no_number() -> None:
    kept = np.stack([np.zeros(200), np.full(200, -np.inf), np.full(200, 0.1)], axis=1)[:, None]
    found = json.loads(json_text(Study("", Trace({"c": kept}))))
    assert [row["effective"] for row in found["units"]] == ["forever", "none", "grows"]
    assert found["schema"] == 1


def test_csv_has_one_row_a_unit(study: Study) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(study))))
    assert [row["unit"] for row in rows] == ["0", "1", "2"]
    lives = study.half_lives.effective
    assert [float(row["effective"]) for row in rows] == pytest.approx(lives.tolist(), rel=1e-12)
    assert float(rows[0]["least_kept"]) == pytest.approx(np.exp(study.log_kept[:, 0].min()))


def test_text_says_what_was_found(study: Study) -> None:
    text = plain_text(study)
    assert f"3 units of LSTM(forget_bias=0.0), {STEPS} steps: 100 to {99 + STEPS}." in text
    assert f"{len(study.events)} forget events" in text
    assert "beyond chance" in text


def test_the_periods_of_units_are_said() -> None:
    clock = np.arange(600)
    dips = [np.where(clock % every == 5, 0.2, 0.95) for every in (24, 24, 50)]
    trace = Trace({"c": np.log(np.stack(dips, axis=1))[:, None]}, {"c": np.ones((600, 1, 3))})
    said = "Use of the memory: 3 repeat with a period; the period is 24 steps in 2, 50 steps in 1."
    assert said in sentences(Study("", trace))
    assert "periodic: every 50 steps" in plain_text(Study("", trace))


def test_unrelated_borders_are_called_chance(study: Study) -> None:
    others = [100 + EVERY * n + 20 for n in range(STEPS // EVERY)]
    assert any("no more than chance would" in s for s in sentences(replace(study, borders=others)))


def test_an_alarm_says_what_to_do() -> None:
    trace = Trace({"c": np.zeros((50, 1, 1))}, {"c": np.full((50, 1, 1), 500.0)})
    study = Study("", trace)
    assert any("no slope: unit 0. Let the unit forget" in line for line in sentences(study))
    assert facts(study)["alarms"][0]["healed"] is False


def test_a_short_trace_has_no_patterns_and_no_events() -> None:
    study = Study("", Trace({"c": np.full((20, 1, 1), -0.1)}, {"c": np.ones((20, 1, 1))}))
    assert study.patterns == [] and study.events == [] and study.average is None


def test_records_are_matched_by_their_step() -> None:
    coming = Forecast(time=None, prediction=None)
    records = [
        Record(step=n, time=None, prediction=None, actual=float(n), error=None, next=coming)
        for n in range(1, 20)
    ]
    found = stream_of(records, start=5, steps=3)
    assert found is not None
    assert found.steps.tolist() == [5, 6, 7] and found.actual.tolist() == [5.0, 6.0, 7.0]
    assert np.isnan(found.prediction).all() and found.times == ()
    assert stream_of(records, start=50, steps=3) is None


@pytest.mark.parametrize(
    ("content", "got"),
    [("", "got none"), ("step\n", "got none"), ("1\n2.5\n", "line 2"), ("a\nb\n", "line 2")],
)
def test_borders_that_cannot_be_read(tmp_path, content: str, got: str) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "borders.txt"
    path.write_text(content)
    with pytest.raises(DataError, match=got):
        read_borders(str(path))


def test_a_missing_file_of_borders_names_the_option(tmp_path) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError, match="--borders"):
        read_borders(str(tmp_path / "nothing"))
