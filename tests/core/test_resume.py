"""Records that go on: a resumed run's file equals an unbroken one's, byte for byte."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate import DataError, UsageError
from tidegate._core import record_pieces
from tidegate._core.record_pieces import PieceRecorder
from tidegate._core.recorders import recorder_for, resume
from tidegate._core.records import Forecast, Record

LINES = ("csv", "jsonl")
TEXTS = st.text(st.sampled_from("a,\"\n\r'é5 {}"), max_size=6)


def record(step: int, time: str | None = "noon", **fields: Any) -> Record:
    coming = Forecast(time=None, prediction=step / 7, low=-0.1)
    given = dict(prediction=step / 3, actual=None if step % 3 == 0 else 1e-9 * step, error=None)
    return Record(step=step, time=time, next=coming, **given | fields)


def written(path: Path, format_name: str, records: list[Record]) -> bytes:
    with recorder_for(format_name, str(path)) as recorder:
        for item in records:
            recorder.write(item)
    return path.read_bytes()


def go_on(path: Path, format_name: str, records: list[Record], step: int) -> None:
    """What a resumed run writes after ``step``."""
    with resume(format_name, str(path), step) as recorder:
        for item in records:
            if item.step > step:
                recorder.write(item)


@pytest.mark.parametrize("format_name", LINES)
def test_any_cut_after_any_step_heals(format_name: str, tmp_path: Path) -> None:
    """Killed anywhere in the bytes after the saved position: the same file in the end."""
    path, records = tmp_path / "r", [record(step) for step in (1, 2, 5, 11)]
    whole = written(path, format_name, records)
    for place in range(len(records) + 1):
        saved = records[place - 1].step if place else 0
        kept = len(written(path, format_name, records[:place]))
        for size in {kept, *range(len(whole), kept, -7)}:
            path.write_bytes(whole[:size])
            go_on(path, format_name, records, saved)
            assert path.read_bytes() == whole, (saved, size)


@given(st.lists(TEXTS, min_size=1, max_size=6), st.data())
@pytest.mark.parametrize("format_name", LINES)
def test_texts_with_ends_of_lines_do_not_mislead(
    tmp_path_factory: pytest.TempPathFactory, format_name: str, times: list[str], data: Any
) -> None:
    path = tmp_path_factory.getbasetemp() / "texts"
    experts = {"a\nb": 0.5, '1,"': 0.5}
    records = [record(step, time, experts=experts) for step, time in enumerate(times, 1)]
    whole = written(path, format_name, records)
    saved = data.draw(st.integers(0, len(records)))
    kept = len(written(path, format_name, records[:saved]))
    path.write_bytes(whole[: data.draw(st.integers(kept, len(whole)))])
    go_on(path, format_name, records, saved)
    assert path.read_bytes() == whole


@pytest.mark.parametrize("format_name", LINES)
def test_what_a_power_cut_leaves_behind_the_position_does_not_matter(
    format_name: str, tmp_path: Path
) -> None:
    path, records = tmp_path / "r", [record(step) for step in range(1, 9)]
    whole = written(path, format_name, records)
    for tail in (bytes(5_000), b"\n\n\n", b'{"step": 3, "x\n', b"7,\n", b'"', b"\xff\n" * 99):
        path.write_bytes(written(path, format_name, records[:5]) + tail)
        go_on(path, format_name, records, 5)
        assert path.read_bytes() == whole, tail


@pytest.mark.parametrize("format_name", LINES)
@pytest.mark.parametrize("content", [b"", b"step,key\n", b"\n", b"\0" * 100, b"half"])
def test_records_that_are_not_there_are_missed(
    format_name: str, content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "r"
    path.write_bytes(content)
    with pytest.raises(DataError, match="the records up to step 5, got none"):
        resume(format_name, str(path), 5)
    assert path.read_bytes() == content


@pytest.mark.parametrize("format_name", LINES)
def test_records_that_end_before_the_position_are_missed(format_name: str, tmp_path: Path) -> None:
    path = tmp_path / "r"
    whole = written(path, format_name, [record(step) for step in (1, 2, 4)])
    for step in (3, 5):
        with pytest.raises(DataError, match=f"step {step}, got records up to step"):
            resume(format_name, str(path), step)
    # Half of the record that was saved is as good as none.
    path.write_bytes(whole[:-1])
    with pytest.raises(DataError, match="got records up to step 2"):
        resume(format_name, str(path), 4)
    path.unlink()
    with pytest.raises(DataError, match="got no file"):
        resume(format_name, str(path), 4)


@pytest.mark.parametrize("format_name", LINES)
def test_nothing_saved_begins_anew(format_name: str, tmp_path: Path) -> None:
    path, records = tmp_path / "r", [record(step) for step in (1, 2)]
    go_on(path, format_name, records, 0)
    assert path.read_bytes() == written(tmp_path / "other", format_name, records)
    go_on(path, format_name, records[1:], 0)
    assert path.read_bytes() == written(tmp_path / "other", format_name, records[1:])


@pytest.mark.parametrize("format_name", LINES)
def test_a_late_column_is_refused_after_a_resume_as_before(
    format_name: str, tmp_path: Path
) -> None:
    path = tmp_path / "r"
    written(path, format_name, [record(1)])
    with resume(format_name, str(path), 1) as recorder:
        if format_name == "csv":
            with pytest.raises(ValueError, match="score"):
                recorder.write(record(2, score=1.0))


def test_a_long_file_of_lines_is_read_from_its_end(tmp_path: Path) -> None:
    path = tmp_path / "r"
    noise = b"no record at all\n" * 200_000
    path.write_bytes(noise + written(path, "jsonl", [record(1), record(2)]))
    resume("jsonl", str(path), 1).close()
    assert path.stat().st_size == len(noise) + len(written(tmp_path / "one", "jsonl", [record(1)]))


def test_a_parquet_file_cannot_be_continued(tmp_path: Path) -> None:
    written(tmp_path / "r", "parquet", [record(1)])
    with pytest.raises(UsageError, match="records that can be continued"):
        resume("parquet", str(tmp_path / "r"), 1)


def test_an_unknown_format_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Did you mean 'jsonl'"):
        resume("json", str(tmp_path / "r"), 1)
    with pytest.raises(UsageError, match="a file that can be written"):
        resume("jsonl", str(tmp_path), 1)


@pytest.mark.parametrize("format_name", [*LINES, "parquet"])
def test_sync_puts_the_file_on_the_disk(
    format_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    with recorder_for(format_name, str(tmp_path / "r")) as recorder:
        recorder.write(record(1))
        assert synced == []
        recorder.sync()
        assert len(synced) == 1
    for out in ("-", "/dev/null"):
        with recorder_for(format_name, out) as recorder:
            recorder.sync()
    assert len(synced) == 1


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_pieces, "ROWS", 4)


def folder_of(recorder: PieceRecorder, records: list[Record], sync_after: int = 0) -> None:
    with recorder:
        for item in records:
            recorder.write(item)
            if item.step == sync_after:
                recorder.sync()


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("saved", range(12))
@pytest.mark.parametrize("killed", [0, 1, 2, 5])
def test_pieces_of_a_resumed_run_equal_those_of_an_unbroken_one(
    saved: int, killed: int, tmp_path: Path
) -> None:
    records = [record(step, experts={"a": step / 9}) for step in range(1, 12)]
    folder_of(PieceRecorder(tmp_path / "whole"), records)
    broken = PieceRecorder(tmp_path / "r")
    for item in records[: saved + killed]:
        broken.write(item)
        if item.step == saved:
            broken.sync()
    (tmp_path / "r" / ".000000000001.parquet.0123.part").write_bytes(b"half")
    folder_of(PieceRecorder(tmp_path / "r", saved), records[saved:])
    assert content(tmp_path / "r") == content(tmp_path / "whole")
    assert pq.read_table(tmp_path / "r").to_pylist() == [item.to_columns() for item in records]


@pytest.mark.usefixtures("small_pieces")
def test_rows_that_were_cut_off_are_gone_even_where_none_follow(tmp_path: Path) -> None:
    folder_of(PieceRecorder(tmp_path / "r"), [record(1), record(2), record(3)])
    PieceRecorder(tmp_path / "r", 2).close()
    assert pq.read_table(tmp_path / "r")["step"].to_pylist() == [1, 2]


@pytest.mark.usefixtures("small_pieces")
def test_pieces_are_named_by_their_first_step(tmp_path: Path) -> None:
    folder_of(PieceRecorder(tmp_path / "r"), [record(10 * step) for step in range(1, 7)])
    assert sorted(content(tmp_path / "r")) == ["000000000010.parquet", "000000000050.parquet"]


@pytest.mark.usefixtures("small_pieces")
def test_pieces_that_are_not_there_are_missed(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="up to step 3, got none"):
        PieceRecorder(tmp_path / "r", 3)
    folder_of(PieceRecorder(tmp_path / "r"), [record(step) for step in range(1, 7)])
    with pytest.raises(DataError, match="up to step 9, got records up to step 6"):
        PieceRecorder(tmp_path / "r", 9)
    piece = tmp_path / "r" / "000000000005.parquet"
    piece.write_bytes(piece.read_bytes()[:-5])
    with pytest.raises(DataError, match="a sound piece of records"):
        PieceRecorder(tmp_path / "r", 6)
    PieceRecorder(tmp_path / "r", 0)
    assert content(tmp_path / "r") == {}


@pytest.mark.usefixtures("small_pieces")
def test_a_late_column_is_refused_in_pieces(tmp_path: Path) -> None:
    folder_of(PieceRecorder(tmp_path / "r"), [record(1)])
    recorder = PieceRecorder(tmp_path / "r", 1)
    with pytest.raises(ValueError, match="score"):
        recorder.write(record(2, score=1.0))


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="a folder for records"):
        PieceRecorder(tmp_path / "file" / "r")
