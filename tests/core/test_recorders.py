"""Where records go: every format, files and standard output, at once."""

from __future__ import annotations

import csv
import errno
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tidegate import UsageError
from tidegate._core import parquet_recorder
from tidegate._core.parquet_recorder import ParquetRecorder
from tidegate._core.record_reader import read_records
from tidegate._core.recorders import JsonLinesRecorder, recorder_for
from tidegate._core.records import Forecast, Record

FORMATS = ("csv", "jsonl", "parquet")


def record(step: int, **fields: Any) -> Record:
    return Record(
        step=step,
        time=f"a, {step}",
        prediction=step / 3,
        actual=None if step % 5 == 0 else step / 7,
        error=float("nan"),
        flags=("missing", "gap") if step % 5 == 0 else (),
        next=Forecast(time=None, prediction=1e300 / step, low=-0.1),
        **fields,
    )


def write(path: Path, format_name: str, records: list[Record]) -> None:
    with recorder_for(format_name, str(path)) as recorder:
        for item in records:
            recorder.write(item)


def rows(path: Path, format_name: str) -> list[dict[str, Any]]:
    if format_name == "parquet":
        found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
        return found
    if format_name == "csv":
        with open(path, newline="", encoding="utf-8") as file:
            return [dict(row) for row in csv.DictReader(file)]
    return [item.to_columns() for item in read_records(str(path))]


@pytest.mark.parametrize("format_name", FORMATS)
def test_every_format_holds_the_same_columns(format_name: str, tmp_path: Path) -> None:
    records = [record(step, score=0.1, intervals={"0.9": (None, 1.5)}) for step in range(1, 20)]
    write(tmp_path / "out", format_name, records)
    expected = [item.to_columns() for item in records]
    found = rows(tmp_path / "out", format_name)
    if format_name == "csv":
        expected = [{n: "" if c is None else str(c) for n, c in row.items()} for row in expected]
    assert found == expected


def test_numbers_in_csv_read_back_to_the_bit(tmp_path: Path) -> None:
    write(tmp_path / "out", "csv", [record(step) for step in range(1, 50)])
    for step, row in enumerate(rows(tmp_path / "out", "csv"), 1):
        assert float(row["prediction"]).hex() == (step / 3).hex()
        assert float(row["next.prediction"]).hex() == (1e300 / step).hex()


def test_types_in_parquet_do_not_depend_on_the_values(tmp_path: Path) -> None:
    forecast = Forecast(time=None, prediction=None)
    empty = Record(step=1, time=None, prediction=None, actual=None, error=None, next=forecast)
    empty.experts = {"time": None, "step": None}
    write(tmp_path / "out", "parquet", [empty])
    schema = pq.read_schema(tmp_path / "out")
    kinds = dict(zip(schema.names, map(str, schema.types), strict=True))
    texts = {name for name, kind in kinds.items() if kind == "string"}
    assert texts == {"key", "time", "flags", "next.time"}
    assert {name for name, kind in kinds.items() if kind == "int64"} == {"step"}
    assert set(kinds.values()) == {"string", "int64", "double"}


@pytest.mark.parametrize("format_name", ["csv", "jsonl"])
def test_a_line_is_there_before_the_next_row_is_awaited(format_name: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    with recorder_for(format_name, str(path)) as recorder:
        for step in range(1, 4):
            recorder.write(record(step))
            assert len(rows(path, format_name)) == step


def test_only_the_first_line_names_the_schema(tmp_path: Path) -> None:
    write(tmp_path / "out", "jsonl", [record(1), record(2)])
    first, second = (tmp_path / "out").read_text().splitlines()
    assert first.startswith('{"schema": 1, "step": 1, ')
    assert second == record(2).to_json_line()


def test_parquet_is_written_in_bounded_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_recorder, "ROW_GROUP", 10)
    write(tmp_path / "out", "parquet", [record(step) for step in range(1, 26)])
    groups = pq.ParquetFile(tmp_path / "out").metadata
    assert [groups.row_group(i).num_rows for i in range(groups.num_row_groups)] == [10, 10, 5]
    assert [row["step"] for row in rows(tmp_path / "out", "parquet")] == list(range(1, 26))


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_run_without_a_row_leaves_a_sound_file(format_name: str, tmp_path: Path) -> None:
    write(tmp_path / "out", format_name, [])
    assert rows(tmp_path / "out", format_name) == []


def test_parquet_is_closed_when_the_run_fails(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), recorder_for("parquet", str(tmp_path / "o")) as recorder:
        recorder.write(record(1))
        raise KeyboardInterrupt
    assert len(rows(tmp_path / "o", "parquet")) == 1


@pytest.mark.parametrize("format_name", ["csv", "parquet"])
def test_a_column_that_comes_late_is_refused(format_name: str, tmp_path: Path) -> None:
    with recorder_for(format_name, str(tmp_path / "out")) as recorder:
        recorder.write(record(1, score=1.0))
        recorder.write(record(2))
        with pytest.raises(ValueError, match="experts.lstm"):
            recorder.write(record(3, experts={"lstm": 1.0}))
    assert [row["score"] for row in rows(tmp_path / "out", format_name)][1] in ("", None)


@pytest.mark.parametrize("format_name", FORMATS)
def test_standard_output_carries_the_same_bytes_and_stays_open(
    format_name: str, tmp_path: Path
) -> None:
    program = f"""
from tidegate._core.recorders import recorder_for
from tidegate._core.records import Forecast, Record
record = Record(step=1, time="ü", prediction=0.1, actual=None, error=None,
                next=Forecast(time=None, prediction=0.2))
for out in ("-", {str(tmp_path / "out")!r}):
    with recorder_for({format_name!r}, out) as recorder:
        recorder.write(record)
import sys
sys.stdout.buffer.write(b"still open")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout == (tmp_path / "out").read_bytes() + b"still open"


def test_an_unknown_format_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        recorder_for("json", "-")
    assert caught.value.owner == "--format"
    assert "csv, jsonl, parquet" in str(caught.value)
    assert "Did you mean 'jsonl'" in str(caught.value)


def test_a_file_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a file that can be written"):
        recorder_for("jsonl", str(tmp_path / "none" / "out"))


class FullDisk(io.BytesIO):
    """Takes the first bytes, then no more."""

    def write(self, data: Any, /) -> int:
        if self.tell() > 100:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(data)


def test_a_full_disk_is_told_at_once() -> None:
    file = FullDisk()
    with JsonLinesRecorder(file) as recorder:
        recorder.write(record(1))
        with pytest.raises(OSError, match="No space left"):
            recorder.write(record(2))
    assert file.closed


def test_the_file_is_closed_even_where_finishing_fails() -> None:
    file = FullDisk(b"x" * 200)
    file.seek(200)
    recorder = ParquetRecorder(file)
    recorder.write(record(1))
    with pytest.raises(OSError):
        recorder.close()
    assert file.closed


def test_every_line_is_json(tmp_path: Path) -> None:
    write(tmp_path / "out", "jsonl", [record(step) for step in range(1, 9)])
    steps = [json.loads(line)["step"] for line in (tmp_path / "out").read_text().splitlines()]
    assert steps == list(range(1, 9))
