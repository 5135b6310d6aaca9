"""What ``tidegate run`` says of a stream."""

from __future__ import annotations

import csv as csv_module
import io
import json
from math import nan
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from cli.conftest import Call, Done, csv
from tidegate._core.record_reader import read_records
from tidegate.cli._summary_words import share


def figures(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "summary.json").read_text())
    return found


def test_every_row_has_a_record_and_the_next_forecast_is_its_prediction(
    call: Call, hourly: Path
) -> None:
    records = call("run", hourly, "--target", "load", "--time", "time").records
    rows = list(csv_module.DictReader(hourly.read_text().splitlines()))
    assert [record["step"] for record in records] == list(range(1, 401))
    assert [record["time"] for record in records] == [row["time"] for row in rows]
    assert [record["actual"] for record in records] == [float(row["load"]) for row in rows]
    said = [record["next"]["prediction"] for record in records]
    assert [record["prediction"] for record in records] == [None, *said[:-1]]
    expected = [record["next"]["time"] for record in records[1:-1]]
    assert expected == [record["time"] for record in records[2:]]


def test_the_prefix_of_a_stream_has_the_prefix_of_its_records(call: Call, hourly: Path) -> None:
    """Trouble 31: no scaler, lag or network may see what has not come."""
    lines = hourly.read_text().splitlines(keepends=True)
    asked = ["--target", "load", "--time", "time", "--input", "wind"]
    whole = call("run", hourly, *asked).out.splitlines()
    hourly.write_text("".join(lines[:151]))
    assert call("run", hourly, *asked).out.splitlines() == whole[:150]
    garbage = [line.replace(",", ",9", 1) for line in lines[151:]]
    hourly.write_text("".join(lines[:151] + garbage))
    changed = call("run", hourly, *asked).out.splitlines()
    assert changed[:150] == whole[:150]
    assert changed[150] != whole[150]


def test_the_same_command_gives_the_same_bytes(call: Call, hourly: Path, tmp_path: Path) -> None:
    """Trouble 40."""
    folders = [tmp_path / "one", tmp_path / "two"]
    outs = [call("run", hourly, "--target", "load", "--save", folder).out for folder in folders]
    assert outs[0] == outs[1] != b""
    for name in ("records.jsonl", "summary.json"):
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()
    other = call("run", hourly, "--target", "load", "--seed", 1).out
    assert other != outs[0]


def test_the_shipped_stream(call: Call, tmp_path: Path) -> None:
    """The command alone; figures of the simple forecasts are those of tests/datasets."""
    done = call("run", "--save", tmp_path, "--out", tmp_path / "o.jsonl")
    summary = json.loads((tmp_path / "summary.json").read_text())
    mae = summary["mae"]
    assert (done.code, done.out) == (0, b"")
    assert (summary["steps"], summary["scored"], summary["warmup"]) == (28_512, 23_973, 2_851)
    assert mae["persistence"] == pytest.approx(621.0, abs=0.05)
    assert mae["week ago"] == pytest.approx(354.2, abs=0.05)
    assert mae["tidegate"] < mae["persistence"] / 2
    assert summary["flags"]["missing"] == 1_984
    assert "Better than every simple forecast" in done.err
    assert "persistence (the last value again)" in done.err and "621.0" in done.err


@pytest.mark.parametrize("model", [[], ["--units", 32]], ids=["forecaster", "network"])
def test_a_random_walk_is_never_called_well_predicted(
    call: Call, tmp_path: Path, model: list[object]
) -> None:
    """Trouble 32: it looks perfect beside its own spread, and is worth nothing."""
    walk = np.random.default_rng(32).normal(size=20_000 if model else 4_000).cumsum()
    arguments = ["run", "-", "--target", "load", "--save", tmp_path, *model]
    done = call(*arguments, stdin=csv(walk))
    summary = json.loads((tmp_path / "summary.json").read_text())
    last = np.abs(np.diff(walk))[199:].mean()
    assert summary["mae"]["persistence"] == pytest.approx(last, rel=1e-12)
    assert -0.02 < summary["skill"]["persistence"] < 0.005
    assert share(summary["skill"]["persistence"]) in done.err
    words = done.err.lower()
    assert "no better than persistence" in words or "worse than persistence" in words
    assert "good" not in words and "better than every" not in words


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([], "No row came"),
        ([5.0], "Nothing is scored yet"),
        ([nan] * 300, "no row had both a value and a forecast"),
        ([7.0] * 300, "Nothing can be better than persistence here"),
    ],
    ids=["header only", "one value", "all missing", "constant"],
)
def test_streams_that_teach_nothing(call: Call, values: list[float], words: str) -> None:
    done = call("run", "-", "--target", "load", stdin=csv(values))
    assert done.code == 0
    assert len(done.records) == len(values)
    assert words in done.err
    known = [value for value in values if value == value]
    said = {record["next"]["prediction"] for record in done.records}
    assert said == ({known[0]} if known else {None} if values else set())


def test_missing_values_are_predicted_through_and_flagged(call: Call) -> None:
    """Trouble 15: a missing value leaves no mark after it."""
    wave = np.sin(np.arange(250) * 0.3)
    wave[[9, 10, 100]] = nan, nan, np.inf
    done = call("run", "-", "--target", "load", stdin=csv(wave))
    flagged = [record["step"] for record in done.records if "missing" in record["flags"]]
    assert flagged == [10, 11, 101]
    assert all(record["next"]["prediction"] is not None for record in done.records)
    assert [record["step"] for record in done.records if record["actual"] is None] == flagged
    assert "250 rows predicted: 3 with a missing value." in done.err


def test_formats_read_back_equal(call: Call, hourly: Path, tmp_path: Path) -> None:
    asked = ["run", hourly, "--target", "load", "--time", "time"]
    for ending in ("jsonl", "csv", "parquet"):
        assert call(*asked, "--out", tmp_path / f"r.{ending}").out == b""
    records = [record.to_columns() for record in read_records(str(tmp_path / "r.jsonl"))]
    assert pq.read_table(tmp_path / "r.parquet").to_pylist() == records
    rows = list(csv_module.reader((tmp_path / "r.csv").read_text().splitlines()))
    assert rows[0] == list(records[0])
    written = [["" if cell is None else str(cell) for cell in r.values()] for r in records]
    assert rows[1:] == written


@pytest.mark.parametrize("name", ["jsonl", "csv", "parquet"])
def test_formats_on_standard_output_are_those_of_files(
    call: Call, hourly: Path, tmp_path: Path, name: str
) -> None:
    asked = ["run", hourly, "--target", "load", "--format", name]
    piped = call(*asked)
    assert call(*asked, "--out", tmp_path / "records").out == b""
    assert (tmp_path / "records").read_bytes() == piped.out
    if name == "parquet":
        assert pq.read_table(io.BytesIO(piped.out)).num_rows == 400


def test_a_run_folder(call: Call, hourly: Path, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "run"
    done = call("run", hourly, "--target", "load", "--units", 8, "--save", folder)
    assert sorted(path.name for path in folder.iterdir()) == [
        "records.jsonl",
        "run.json",
        "state.safetensors",
        "summary.json",
    ]
    assert (folder / "records.jsonl").read_bytes() == done.out
    settings = json.loads((folder / "run.json").read_text())
    assert settings["schema"] == 1 and settings["seed"] == 0 and settings["cpu"]
    assert settings["options"]["units"] == 8 and settings["options"]["format"] == "jsonl"
    assert set(settings["versions"]) == {"tidegate", "python", "numpy"}
    assert figures(folder)["ended"] == "end of stream"


def test_a_folder_with_records_alone_starts_anew(call: Call, hourly: Path, tmp_path: Path) -> None:
    asked = ["run", hourly, "--target", "load", "--save", tmp_path / "run"]
    call(*asked, "--seed", 3)
    (tmp_path / "run" / "state.safetensors").unlink()
    done = call(*asked)
    assert (tmp_path / "run" / "records.jsonl").read_bytes() == done.out


def test_more_columns_change_the_forecast(call: Call, hourly: Path) -> None:
    def last(*more: str) -> object:
        return call("run", hourly, "--target", "load", *more).records[-1]["next"]["prediction"]

    assert last() != last("--input", "wind")


def test_warmup_rows_are_flagged_and_not_scored(call: Call) -> None:
    done: Done = call("run", "-", "--target", "load", "--warmup", 3, stdin=csv([1, 2, 4, 8, 16]))
    assert [record["flags"] for record in done.records] == [["warmup"]] * 3 + [[], []]
    assert "scored: 2 rows" in done.err and "6.000" not in done.err
    assert f"{(4 + 8) / 2:.4g}" in done.err
    assert "Too few rows are scored to tell" in done.err


def test_a_memory_that_can_no_longer_change_is_said(call: Call) -> None:
    """Trouble 17: the cell of 1997 only adds; what it adds up to is soon seen by nobody."""
    walk = np.random.default_rng(0).normal(size=3000).cumsum()
    asked = ["run", "-", "--target", "load", "--units", 4]
    done = call(*asked, "--cell", "lstm1997", stdin=csv(walk))
    assert "alarm" in done.records[-1]["flags"] and "alarm" not in done.records[0]["flags"]
    assert "while most of the memory could no longer change" in done.err
    assert "--cell lstm" in done.err
    sound = call(*asked, stdin=csv(walk))
    assert "alarm" not in sound.records[-1]["flags"] and "--cell" not in sound.err
