"""``tidegate run --categories``: symbols as they come, and going on with them."""

from __future__ import annotations

import csv as csv_module
import json
from pathlib import Path

import numpy as np
import pytest

from cli.conftest import Call
from tidegate._core.record_reader import read_category_records
from tidegate._core.trace_files import read_trace
from tidegate._core.trace_folders import traced
from tidegate.cli import _models
from tidegate.tasks import Reber

ASKED = ["--target", "symbol", "--categories"]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Networks of few units: nothing here depends on how many there are."""
    monkeypatch.setattr(_models, "NETWORK_UNITS", 2)


def grammar(rows: int) -> bytes:
    """Symbols of two sites, some missing, one of them rare."""
    symbols = [Reber.alphabet[s] for s in Reber().stream(7).block(rows).symbols]
    lines = ["hour,symbol,site"]
    for n, symbol in enumerate(symbols):
        hour = np.datetime64("2021-03-01T00:00", "m") + 60 * n
        cell = "" if n % 30 == 17 else '"a, b"' if n % 50 == 49 else symbol
        lines.append(f"{hour},{cell},{'ns'[n % 3 % 2]}")
    return "\n".join([*lines, ""]).encode()


def part(rows: int) -> bytes:
    return b"".join(grammar(300).splitlines(keepends=True)[: rows + 1])


def content(path: Path) -> bytes:
    if path.is_dir():
        return b"".join(p.name.encode() + p.read_bytes() for p in sorted(path.iterdir()))
    return path.read_bytes()


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize("cut", [0, 1, 170])
@pytest.mark.parametrize("more", [["--time", "hour", "--trace"], ["--key", "site"]])
def test_a_resumed_run_equals_an_unbroken_one(
    call: Call, tmp_path: Path, kind: str, cut: int, more: list[str]
) -> None:
    one, two, growing = tmp_path / "one", tmp_path / "two", tmp_path / "growing.csv"
    asked = [growing, *ASKED, *more, "--format", kind, "--most-categories", 6]
    growing.write_bytes(part(300))
    assert call("run", *asked, "--save", one).code == 0
    growing.write_bytes(part(cut))
    call("run", *asked, "--save", two)
    growing.write_bytes(part(300))
    assert call("run", "--resume", two, "--most-categories", 6).code == 0
    for name in (f"records.{kind}", "summary.json"):
        assert content(two / name) == content(one / name), name
    for name in traced(one / "trace"):
        traces = [
            read_trace(next((run / "trace").glob(name.replace(" ", "?")))) for run in (one, two)
        ]
        for array, other in zip(*(t._arrays().values() for t in traces), strict=True):
            np.testing.assert_array_equal(array, other)
    assert (len(traced(one / "trace")) == 2) == ("--trace" in more)


def test_other_rows_are_not_gone_on_with(call: Call, tmp_path: Path) -> None:
    growing = tmp_path / "growing.csv"
    growing.write_bytes(part(60))
    call("run", growing, *ASKED, "--save", tmp_path / "run")
    growing.write_bytes(part(100).replace(b",P,", b",T,"))
    done = call("run", "--resume", tmp_path / "run")
    assert done.code == 3 and "the rows up to row 60 that were learned" in done.err


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_formats_read_back_equal(call: Call, tmp_path: Path, ending: str) -> None:
    import pyarrow.parquet as pq

    lines, out, rows = tmp_path / "r.jsonl", tmp_path / f"r.{ending}", tmp_path / "a.csv"
    rows.write_bytes(part(200))
    assert call("run", rows, *ASKED, "--out", lines).code == 0
    assert call("run", rows, *ASKED, "--out", out).code == 0
    records = [record.to_columns() for record in read_category_records(str(lines))]
    if ending == "parquet":
        assert pq.read_table(out).to_pylist() == records
        return
    with out.open(newline="") as file:
        found = list(csv_module.reader(file))
    assert found[0] == list(records[0])
    assert found[1:] == [["" if c is None else str(c) for c in r.values()] for r in records]


def test_the_summary_is_that_of_the_records(call: Call, tmp_path: Path) -> None:
    rows = tmp_path / "a.csv"
    rows.write_bytes(part(300))
    done = call("run", rows, *ASKED, "--warmup", 100, "--save", tmp_path / "run")
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    bits = [r["bits"] for r in done.records[100:] if r["bits"] is not None]
    assert summary["bits"]["tidegate"] == pytest.approx(np.mean(bits))
    assert summary["model"] == "categories" and summary["target"] == "symbol"
    assert f"{np.mean(bits):.4g}" in done.err
    assert "after last (counts after the last one)" in done.err
    assert f"scored: {len(bits)} rows, the same for all, after a warm-up of 100" in done.err
    assert "300 rows predicted: 10 with a missing value, 8 with a category" in done.err
    assert "8 categories came." in done.err
    actual = [r["actual"] for r in done.records]
    assert actual[17] is None and actual[49] == "a, b"


def test_more_categories_than_are_told_apart(call: Call) -> None:
    done = call("run", "-", *ASKED, "--most-categories", 3, stdin=part(300))
    others = sum("other" in record["flags"] for record in done.records)
    assert others > 50
    words = f"3 categories are told apart; {others} rows had another one: --most-categories"
    assert words in done.err
    assert all(len(record["next"]["probabilities"]) <= 3 for record in done.records)


def test_numbers_may_be_categories(call: Call) -> None:
    done = call("run", "-", "--target", "n", "--categories", stdin=b"n\n1\n2\n1\n2.0\n")
    assert [record["actual"] for record in done.records] == ["1", "2", "1", "2.0"]


def test_a_target_of_text_names_the_option(call: Call) -> None:
    done = call("run", "-", "--target", "symbol", stdin=part(5))
    assert done.code == 3 and "tidegate run --categories predicts those" in done.err


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--units", 4], "--units: expected a target of numbers, got --categories"),
        (["--cell", "gru"], "--cell: expected a target of numbers"),
        (["--horizon", 3], "--horizon: expected a target of numbers"),
        (["--input", "site"], "--input: expected a target of numbers"),
        (["--alarm"], "--alarm: expected a target of numbers"),
        (["--light"], "--light: expected a target of numbers"),
        (["--most-categories", 1001], "--most-categories: expected at most 1,000, got 1,001"),
        (["--no-categories", "--most-categories", 5], "--most-categories: expected --categories"),
        (["--target", "symbl"], "Did you mean 'symbol'?"),
    ],
)
def test_usage_errors(call: Call, tmp_path: Path, more: list[object], words: str) -> None:
    rows = tmp_path / "a.csv"
    rows.write_bytes(part(5))
    done = call("run", rows, *ASKED, *more)
    assert (done.code, done.out) == (2, b"") and words in done.err


def test_the_shipped_stream_has_no_categories(call: Call) -> None:
    done = call("run", "--categories")
    assert done.code == 2 and "a FILE with --categories" in done.err


def test_a_run_is_explained(call: Call, tmp_path: Path) -> None:
    rows, run = tmp_path / "a.csv", tmp_path / "run"
    rows.write_bytes(part(300))
    call("run", rows, *ASKED, "--save", run, "--trace")
    found = json.loads(call("explain", run, "--format", "json").out)
    assert found["cell"].startswith("LSTM") and len(found["networks"]) == 2
    summary = json.loads((run / "summary.json").read_text())
    assert 0 < found["stream"]["bits"] < 3 and summary["steps"] == found["steps"] == 300
    text = call("explain", run, "--format", "text").out.decode()
    assert "bits a row; by the frequencies of these rows: " in text
    assert "Mean absolute error" not in text
    named = json.loads(call("explain", run, "--format", "json", "--expert", "gated steady").out)
    assert named["network"] == "gated steady"
    page = call("explain", run)
    assert page.code == 0 and b"categoryViews" in (run / "explain.html").read_bytes()
    passed = json.loads(call("explain", run, rows, "--format", "json").out)
    assert passed["stream"]["bits"] < found["stream"]["bits"] and passed["first_step"] == 1
