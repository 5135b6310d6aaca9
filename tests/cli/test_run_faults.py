"""What ``tidegate run`` says where something is wrong, and what it leaves behind."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cli.conftest import Call

BAD = b"time,load\n2021-01-01,1\n2021-01-02,2 MW\n2021-01-03,3\n"
BACKWARDS = b"time,load\n2021-01-02,1\n2021-01-03,2\n2021-01-01,3\n2021-01-04,4\n"
UNREADABLE = b"when,load\n2021-01-02,1\nyesterday,2\n2021-01-03,3\n"


def test_the_target_is_asked_for_with_the_columns(call: Call, hourly: Path) -> None:
    done = call("run", hourly)
    assert (done.code, done.out) == (2, b"")
    assert "--target: expected one of 'time', 'load', 'wind'" in done.err
    assert str(hourly) in done.err and len(done.err.splitlines()) == 1


def test_a_pipe_is_asked_for_its_target_too(call: Call) -> None:
    assert "expected one of 'a', 'b'" in call("run", "-", stdin=b"a,b\n1,2\n").err


@pytest.mark.parametrize("option", ["--target", "--input", "--time"])
def test_columns_need_a_file(call: Call, option: str) -> None:
    done = call("run", option, "traffic_volume")
    assert done.code == 2
    assert f"a FILE with {option}" in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "lod"], "Did you mean 'load'?"),
        (["--target", "load", "--input", "lod"], "Did you mean 'load'?"),
        (["--target", "load", "--cell", "lstmm"], "--cell: expected one of"),
        (["--target", "load", "--units", "0"], "--units: expected a whole number of at least 1"),
        (["--target", "load", "--units", "100000000"], "--units: expected units that fit in"),
        (["--target", "load", "--seed", "-1"], "at least 0, got '-1'"),
        (["--target", "load", "--warmup", "few"], "--warmup: expected a whole number"),
        (["--target", "load", "--format", "xml"], "expected jsonl, csv or parquet, got 'xml'"),
        (["--target", "load", "--save-every", "-1"], "--save-every: expected a number of at"),
        (["--target", "load", "--decimal", ";"], "--decimal: expected . or ,, got ';'"),
        (["--target", "load", "--separator", "ab"], "--separator: expected one character"),
        (["--target", "load", "--trace"], "--trace: expected a folder for it"),
        (["--target", "load", "--unit", "3"], "'--units'?"),
    ],
)
def test_usage_errors(call: Call, hourly: Path, arguments: list[str], words: str) -> None:
    done = call("run", hourly, *arguments)
    assert (done.code, done.out) == (2, b"")
    assert words in done.err


def test_no_such_file(call: Call) -> None:
    done = call("run", "nowhere.csv", "--target", "a")
    assert done.code == 2
    assert "nowhere.csv: expected a file that can be read" in done.err


def test_a_folder_with_a_state_is_refused(call: Call, hourly: Path, tmp_path: Path) -> None:
    (tmp_path / "state.safetensors").write_bytes(b"months of work")
    done = call("run", hourly, "--target", "load", "--save", tmp_path)
    assert done.code == 2
    assert f"--resume {tmp_path}" in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hourly.csv", "state.safetensors"]


def test_a_file_is_no_folder(call: Call, hourly: Path) -> None:
    done = call("run", hourly, "--target", "load", "--save", hourly)
    assert done.code == 2
    assert "--save: expected a folder" in done.err


@pytest.mark.parametrize("stop", [[], ["--on-bad-row", "stop"]])
def test_a_bad_cell_stops_the_run_by_name(call: Call, tmp_path: Path, stop: list[str]) -> None:
    done = call("run", "-", "--target", "load", "--save", tmp_path, *stop, stdin=BAD)
    assert done.code == 3
    message = done.err.splitlines()[-1]
    assert "standard input, row 2, column 'load': expected a number, got '2 MW'" in message
    assert [record["actual"] for record in done.records] == [1.0]
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["steps"] == 1
    assert "row 2" in summary["ended"]


def test_bad_cells_can_be_skipped(call: Call, tmp_path: Path) -> None:
    arguments = ["--target", "load", "--save", tmp_path, "--on-bad-row", "skip"]
    done = call("run", "-", *arguments, stdin=BAD)
    assert done.code == 0
    assert [record["actual"] for record in done.records] == [1.0, 3.0]
    assert "1 row skipped" in done.err and "row 2, column 'load'" in done.err
    skipped = json.loads((tmp_path / "summary.json").read_text())["skipped"]
    assert skipped["count"] == 1 and "'2 MW'" in skipped["first"][0]


@pytest.mark.parametrize(
    ("data", "time", "words", "kept"),
    [
        (BACKWARDS, "time", "row 3, column 'time': expected a time after", [1.0, 2.0, 4.0]),
        (UNREADABLE, "when", "row 2, column 'when': expected a time, as", [1.0, 3.0]),
    ],
)
def test_bad_times_are_bad_rows(
    call: Call, data: bytes, time: str, words: str, kept: list[float]
) -> None:
    arguments = ["run", "-", "--target", "load", "--time", time]
    stopped = call(*arguments, stdin=data)
    assert stopped.code == 3
    assert words in stopped.err
    skipped = call(*arguments, "--on-bad-row", "skip", stdin=data)
    assert skipped.code == 0
    assert words in skipped.err
    assert [record["actual"] for record in skipped.records] == kept


def test_the_source_is_not_written_over(call: Call, hourly: Path, tmp_path: Path) -> None:
    before = hourly.read_bytes()
    link = tmp_path / "link.csv"
    link.symlink_to(hourly)
    for out in (hourly, link):
        assert call("run", hourly, "--target", "load", "--out", out).code == 2
    assert hourly.read_bytes() == before


def test_two_outputs_are_two_files(call: Call, hourly: Path, tmp_path: Path) -> None:
    arguments = ["--save", tmp_path, "--out", tmp_path / "records.jsonl"]
    assert call("run", hourly, "--target", "load", *arguments).code == 2


@pytest.mark.parametrize(
    "arguments", [["--target", "lod"], [], ["--target", "load", "--cell", "x"]]
)
def test_an_error_before_the_first_row_leaves_the_old_file(
    call: Call, hourly: Path, tmp_path: Path, arguments: list[str]
) -> None:
    out = tmp_path / "old.jsonl"
    out.write_text("old")
    assert call("run", hourly, *arguments, "--out", out).code == 2
    assert out.read_text() == "old"


def test_parquet_is_whole_though_the_run_stopped(call: Call, tmp_path: Path) -> None:
    out = tmp_path / "records.parquet"
    assert call("run", "-", "--target", "load", "--out", out, stdin=BAD).code == 3
    assert pq.read_table(out).column("actual").to_pylist() == [1.0]
    assert [path.name for path in tmp_path.iterdir()] == ["records.parquet"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_is_an_error_and_no_traceback(call: Call, hourly: Path) -> None:
    done = call("run", hourly, "--target", "load", "--out", "/dev/full")
    assert done.code == 1
    assert "/dev/full: expected room for a record, got No space left on device" in done.err
    assert "1 row predicted" in done.err


def test_a_file_that_cannot_be_written(call: Call, hourly: Path, tmp_path: Path) -> None:
    out = tmp_path / "no" / "such" / "folder.jsonl"
    done = call("run", hourly, "--target", "load", "--out", out)
    assert done.code == 2
    assert "expected a file that can be written" in done.err


def test_a_closed_standard_output_is_said(
    call: Call, hourly: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", None)
        assert call("run", hourly, "--target", "load").code == 2
