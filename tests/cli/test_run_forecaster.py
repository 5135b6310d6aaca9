"""``tidegate run`` by the forecaster: paths, intervals, keys, alarms, and going on with them."""

from __future__ import annotations

import csv as csv_module
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from cli.conftest import Call, csv
from tidegate._core.record_reader import read_records
from tidegate.cli import _models
from tidegate.forecast import Forecaster, SharedForecasters

ASKED = ["--target", "load", "--time", "time", "--input", "wind"]
FULL = [*ASKED, "--horizon", 3, "--level", 0.9, "--level", 0.5]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Networks of few units: nothing here depends on how many there are."""
    monkeypatch.setattr(_models, "NETWORK_UNITS", 2)


@pytest.fixture
def hourly(hourly: Path) -> Path:  # noqa: F811
    """The first 150 hours."""
    hourly.write_bytes(b"".join(hourly.read_bytes().splitlines(keepends=True)[:151]))
    return hourly


def content(path: Path) -> bytes:
    if path.is_dir():
        return b"".join(p.name.encode() + p.read_bytes() for p in sorted(path.iterdir()))
    return path.read_bytes()


def shops(rows: int) -> bytes:
    """Three shops, the sales of each with a week in them; ``c`` opens late."""
    rng, lines = np.random.default_rng(4), ["day,shop,sales"]
    for n in range(rows // 3):
        day = np.datetime64("2021-03-01") + n
        for k, shop in enumerate("abc"):
            if shop != "c" or n > 20:
                sales = rng.poisson(3 + 4 * k + 3 * (n % 7 == 5))
                lines.append(f"{day},{shop},{sales}")
    return "\n".join([*lines, ""]).encode()


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize("cut", [1, 9, 70])
def test_a_resumed_run_equals_an_unbroken_one(
    call: Call, hourly: Path, tmp_path: Path, kind: str, cut: int
) -> None:
    one, two, growing = tmp_path / "one", tmp_path / "two", tmp_path / "growing.csv"
    lines = hourly.read_bytes().splitlines(keepends=True)[:100]
    growing.write_bytes(b"".join(lines))
    assert call("run", growing, *FULL, "--save", one, "--format", kind).code == 0
    growing.write_bytes(b"".join(lines[: cut + 1]))
    call("run", growing, *FULL, "--save", two, "--format", kind)
    growing.write_bytes(b"".join(lines))
    assert call("run", "--resume", two).code == 0
    for name in (f"records.{kind}", "summary.json"):
        assert content(two / name) == content(one / name), name


@pytest.mark.parametrize(("how", "kept"), [("--light", 2), ("--shared", 3)])
def test_a_run_of_many_streams_goes_on_too(call: Call, tmp_path: Path, how: str, kept: int) -> None:
    one, two, growing = tmp_path / "one", tmp_path / "two", tmp_path / "growing.csv"
    asked = ["--target", "sales", "--time", "day", "--key", "shop", "--minimum", 0, how]
    asked += ["--most-keys", kept]
    growing.write_bytes(shops(300))
    whole = call("run", growing, *asked, "--save", one)
    assert whole.code == 0 and f"{kept} streams, told apart by 'shop'." in whole.err
    assert ("forgotten to make room for another: --most-keys N" in whole.err) == (kept < 3)
    growing.write_bytes(shops(120))
    call("run", growing, *asked, "--save", two)
    growing.write_bytes(shops(300))
    assert call("run", "--resume", two).code == 0
    for name in ("records.jsonl", "summary.json"):
        assert content(two / name) == content(one / name)


def test_streams_by_key_say_what_each_alone_would(call: Call, tmp_path: Path) -> None:
    """Trouble 2: rows of several streams in one file."""
    lines = shops(240).splitlines(keepends=True)
    asked = ["run", "-", "--target", "sales", "--time", "day", "--light", "--minimum", 0]
    together = call(*asked, "--key", "shop", stdin=b"".join(lines)).records
    alone = call(*asked, stdin=b"".join([lines[0], *(r for r in lines if b",b," in r)])).records
    mine = [record for record in together if record["key"] == "b"]
    assert len(mine) == 80
    for name in ("time", "prediction", "low", "high", "actual", "score", "flags"):
        assert [record[name] for record in mine] == [record[name] for record in alone], name
    assert min(record["low"] or 0 for record in together) >= 0
    assert {record["key"] for record in together} == {"a", "b", "c"}


def test_streams_that_share_say_what_shared_forecasters_would(call: Call) -> None:
    """Rows of every shop at the same times, so that the two ways in see no gaps."""
    text = b"".join(row for row in shops(240).splitlines(keepends=True) if b",c," not in row)
    asked = ["run", "-", "--target", "sales", "--time", "day", "--key", "shop", "--shared"]
    records = call(*asked, "--minimum", 0, stdin=text).records
    streams = SharedForecasters(lambda: Forecaster(units=0, minimum=0))
    for record in records:
        key, time = record["key"], record["time"]
        said = streams.predict(key, time)
        assert record["prediction"] == (said.value if said.value == said.value else None)
        streams.learn(key, record["actual"], time=time)
    assert len(records) == 160
    alone = call(*asked[:-1], "--light", "--minimum", 0, stdin=text).records
    assert [r["prediction"] for r in alone] != [r["prediction"] for r in records]


def test_a_file_with_rows_of_no_stream(call: Call, tmp_path: Path) -> None:
    text = b"day,shop,sales\n2021-01-01,a,1\n2021-01-01,,2\n"
    asked = ["run", "-", "--target", "sales", "--key", "shop", "--light"]
    done = call(*asked, stdin=text)
    assert done.code == 3 and "row 2, column 'shop': expected the name of a stream" in done.err
    assert call(*asked, "--on-bad-row", "skip", stdin=text).code == 0


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_formats_read_back_equal(call: Call, hourly: Path, tmp_path: Path, ending: str) -> None:
    lines, out = tmp_path / "r.jsonl", tmp_path / f"r.{ending}"
    assert call("run", hourly, *FULL, "--out", lines).code == 0
    assert call("run", hourly, *FULL, "--out", out).code == 0
    records = [record.to_columns() for record in read_records(str(lines))]
    assert len({tuple(record) for record in records}) == 1
    for name in ("intervals.0.5.low", "experts.persistence", "score", "next.path.2.prediction"):
        assert records[0][name] is None or name.startswith("next")
        assert records[-1][name] is not None
    if ending == "parquet":
        assert pq.read_table(out).to_pylist() == records
        return
    rows = list(csv_module.reader(out.read_text().splitlines()))
    assert rows[0] == list(records[0])
    written = [["" if cell is None else str(cell) for cell in r.values()] for r in records]
    assert rows[1:] == written


def test_the_next_forecast_is_the_prediction_of_the_row(call: Call, hourly: Path) -> None:
    records = call("run", hourly, *FULL).records
    for before, record in zip(records, records[1:], strict=False):
        assert before["next"]["prediction"] == record["prediction"]
        assert before["next"]["intervals"] == record["intervals"]
        first = before["next"]["path"][0]
        assert (first["step"], first["prediction"]) == (record["step"], record["prediction"])
    weights = records[-1]["experts"]
    assert sum(weights.values()) == pytest.approx(1, abs=2e-3) and weights["by phase"] > 0
    assert set(records[0]["intervals"]) == {"0.9", "0.5"}
    low, high = records[-1]["intervals"]["0.9"]
    assert (records[-1]["low"], records[-1]["high"]) == (low, high)


def test_alarms_are_flagged_told_and_summed_up(call: Call, tmp_path: Path) -> None:
    values = np.random.default_rng(1).normal(size=600)
    values[400:] += 8.0
    asked = ["run", "-", "--target", "load", "--light", "--save", tmp_path]
    done = call(*asked, "--alarm", stdin=csv(values))
    flagged = [record["step"] for record in done.records if "alarm" in record["flags"]]
    assert len(flagged) == 1 and 401 <= flagged[0] <= 412
    told = [line for line in done.err.splitlines() if line.startswith("Alarm, row")]
    assert len(told) == 1 and f"row {flagged[0]}: level shifted by +" in told[0]
    assert "1 alarm:\n" in done.err and f"  row {flagged[0]}: level shifted" in done.err
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["alarms"]["count"] == summary["flags"]["alarm"] == 1
    quiet = call("run", "-", "--target", "load", "--light", stdin=csv(values[:300]))
    assert "No alarm" in quiet.err and "Alarm, row" not in quiet.err


def test_the_summary_says_what_intervals_and_paths_are_worth(call: Call, hourly: Path) -> None:
    done = call("run", hourly, *FULL, "--warmup", 50)
    assert "90 % intervals held " in done.err and "50 % intervals held " in done.err
    assert "rows ahead" in done.err and "held by the interval" in done.err


def test_wall_clocks_that_are_set_back(call: Call) -> None:
    hours = ["2021-10-31T01:00", "2021-10-31T02:00", "2021-10-31T02:00", "2021-10-31T03:00"]
    text = "\n".join(["time,load", *(f"{t},{n}" for n, t in enumerate(hours)), ""]).encode()
    asked = ["run", "-", "--target", "load", "--time", "time", "--light"]
    assert call(*asked, stdin=text).code == 3, "an hour that comes twice"
    done = call(*asked, "--zone", "Europe/Paris", stdin=text)
    assert done.code == 0
    assert [record["next"]["time"] for record in done.records[1:3]] == hours[2:]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--level", 1.5], "--level: expected a list, each a number from 0 to 1"),
        (["--level", 1], "level: expected a coverage between 0 and 1"),
        (["--horizon", 0], "--horizon: expected a whole number of at least 1"),
        (["--zone", "Mars/Olympus"], "zone: expected a time zone, as Europe/Paris"),
        (["--key", "lod"], "Did you mean 'load'?"),
        (["--minimum", "none"], "--minimum: expected a number"),
        (["--shared"], "--shared: expected streams by key, got no --key"),
    ],
)
def test_usage_errors(call: Call, hourly: Path, more: list[object], words: str) -> None:
    done = call("run", hourly, *ASKED, *more)
    assert (done.code, done.out) == (2, b"") and words in done.err


def test_a_bare_network_is_taken_where_it_is_asked_for(call: Call, hourly: Path) -> None:
    record = call("run", hourly, *ASKED, "--units", 4).records[-1]
    assert (record["low"], "experts" in record, "score" in record) == (None, False, False)
    assert "experts" in call("run", hourly, *ASKED).records[-1]


def test_the_state_of_another_model_is_refused(call: Call, hourly: Path, tmp_path: Path) -> None:
    call("run", hourly, *ASKED, "--save", tmp_path / "run")
    shutil.copytree(tmp_path / "run", tmp_path / "copy")
    for more, words in ((["--horizon", 2], "--horizon 1, got 2"), (["--light"], "--light False")):
        done = call("run", "--resume", tmp_path / "copy", *more)
        assert done.code == 2 and words in done.err
