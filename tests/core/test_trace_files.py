"""Traces on disk: pieces, kills, resumes; the same numbers come back."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate._core.errors import DataError, UsageError
from tidegate._core.trace import Meta, Trace
from tidegate._core.trace_files import TraceWriter, cut, newest_first, pieces, read_trace


def recording(steps: int, start: int = 0) -> Trace:
    rng = np.random.default_rng(5)
    shape = (start + steps, 2, 3)
    kept = -rng.exponential(size=shape)
    kept[::7, 0, 0] = -7.66764807372e-53
    return Trace(
        log_retention={"c": kept},
        memory={"c": rng.normal(size=shape).astype(np.float32), "n": np.ones(shape, np.float32)},
        gates={"f": np.exp(kept).astype(np.float32)},
        retention_sign={"c": np.sign(rng.normal(size=shape)).astype(np.float32)},
        reset=rng.random(shape[:2]) < 0.3,
        meta=Meta(cell="LSTM()", sizes={"units": 3}, seed=1, versions={"numpy": "2"}),
    ).part(start, start + steps)


def same(one: Trace, other: Trace) -> None:
    for part in ("log_retention", "memory", "gates", "retention_sign", "hidden", "slots"):
        assert getattr(one, part).keys() == getattr(other, part).keys()
        for name, array in getattr(one, part).items():
            assert array.dtype == getattr(other, part)[name].dtype
            np.testing.assert_array_equal(array, getattr(other, part)[name])
    np.testing.assert_array_equal(one.reset, other.reset)
    assert one.meta == other.meta


def test_what_was_written_comes_back_to_the_bit(tmp_path: Path) -> None:
    trace = recording(100)
    with TraceWriter(tmp_path / "trace", piece=32) as writer:
        for first in range(0, 100, 15):
            writer.write(trace.part(first, min(first + 15, 100)))
    names = sorted(path.name for path in (tmp_path / "trace").iterdir())
    assert names == [f"{first:015d}.parquet" for first in (0, 32, 64, 96)]
    same(read_trace(tmp_path / "trace"), trace)
    same(read_trace(tmp_path / "trace", 40, 70), trace.part(40, 70))
    assert [piece.steps for piece in pieces(tmp_path / "trace")] == [32, 32, 32, 4]


@pytest.mark.parametrize(
    ("first", "stop", "wanted"),
    [
        (40, 70, [32, 64]), (32, 64, [32]), (31, 33, [0, 32]), (0, 1, [0]), (95, None, [64, 96]),
        (96, None, [96]), (0, None, [0, 32, 64, 96]),
    ],
)  # fmt: skip
def test_only_pieces_in_the_range_are_opened(
    tmp_path: Path, opened_pieces: list[int], first: int, stop: int | None, wanted: list[int]
) -> None:
    trace = recording(100)
    with TraceWriter(tmp_path, piece=32) as writer:
        writer.write(trace)
    same(read_trace(tmp_path, first, stop), trace.part(first, 100 if stop is None else stop))
    assert opened_pieces == wanted


def test_a_range_over_a_gap_or_past_the_end(tmp_path: Path, opened_pieces: list[int]) -> None:
    with TraceWriter(tmp_path, piece=10) as writer:
        writer.write(recording(10))
        writer.write(recording(10, start=20))
    assert [piece.meta.start for piece in pieces(tmp_path, 12, 18)] == [0]
    with pytest.raises(DataError, match="none of those asked for"):
        read_trace(tmp_path, 12, 18)
    with pytest.raises(DataError, match="none of those asked for"):
        read_trace(tmp_path, 50)


def test_the_newest_pieces_come_first_and_no_more_than_asked_for(
    tmp_path: Path, opened_pieces: list[int]
) -> None:
    with TraceWriter(tmp_path, piece=10) as writer:
        writer.write(recording(95))
    newest = newest_first(tmp_path)
    assert [next(newest).steps, next(newest).steps] == [5, 10]
    assert opened_pieces == [90, 80]


def test_one_row_a_step_and_lists_of_fixed_size(tmp_path: Path) -> None:
    import pyarrow.parquet

    with TraceWriter(tmp_path) as writer:
        writer.write(recording(10, start=5))
    table = pyarrow.parquet.read_table(tmp_path / f"{5:015d}.parquet")
    assert table["step"].to_pylist() == list(range(5, 15))
    assert str(table.schema.field("log_retention.c").type) == "fixed_size_list<element: double>[6]"
    assert str(table.schema.field("memory.c").type) == "fixed_size_list<element: float>[6]"
    assert json.loads(table.schema.metadata[b"tidegate"])["meta"]["cell"] == "LSTM()"


def test_memory_of_float64_is_kept_as_float32(tmp_path: Path) -> None:
    trace = Trace(memory={"c": np.full((3, 1, 1), 0.1)})
    with TraceWriter(tmp_path) as writer:
        writer.write(trace)
    back = read_trace(tmp_path).memory["c"]
    assert back.dtype == np.float32 and back[0, 0, 0] == np.float32(0.1)


@given(position=st.integers(0, 120))
def test_after_a_cut_the_recording_goes_on(tmp_path_factory, position: int) -> None:
    folder, trace = tmp_path_factory.mktemp("run"), recording(120)
    with TraceWriter(folder, piece=25) as writer:
        writer.write(trace.part(0, 100))
    cut(folder, position)
    assert all(piece.meta.start + piece.steps <= position for piece in pieces(folder))
    with TraceWriter(folder, piece=25) as writer:
        writer.write(trace.part(min(position, 100), 120))
    same(read_trace(folder), trace)


KILLED = """
import os, sys
from pathlib import Path
import numpy as np
from tidegate._core.trace import Trace, Meta
from tidegate._core.trace_files import TraceWriter
writer = TraceWriter(Path(sys.argv[1]), piece=10)
writer.write(Trace(memory={"c": np.zeros((25, 1, 1), np.float32)}))
os._exit(9)
"""


def test_a_kill_loses_the_open_piece_only(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert done.returncode == 9
    assert [p.steps for p in pieces(tmp_path)] == [10, 10]
    assert len(list(tmp_path.glob("*.part"))) == 1
    with TraceWriter(tmp_path, piece=10) as writer:
        assert not list(tmp_path.glob("*.part"))
        writer.write(Trace(memory={"c": np.ones((5, 1, 1), np.float32)}, meta=Meta(start=20)))
    assert read_trace(tmp_path).memory["c"].sum() == 5


def test_a_gap_or_another_kind_of_trace_is_refused(tmp_path: Path) -> None:
    trace = recording(20)
    with TraceWriter(tmp_path) as writer:
        writer.write(trace.part(0, 5))
        with pytest.raises(UsageError, match="from step 5, got one from step 6"):
            writer.write(trace.part(6, 8))
        with pytest.raises(UsageError, match="Traces of one recording"):
            writer.write(Trace(memory={"c": np.zeros((2, 2, 3))}, meta=Meta(start=5)))
    with pytest.raises(UsageError, match="at least 1 step"):
        TraceWriter(tmp_path, piece=0)


def test_a_spoilt_piece_and_an_empty_folder_say_so(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="none of those asked for"):
        read_trace(tmp_path)
    (tmp_path / f"{0:015d}.parquet").write_bytes(b"no piece")
    with pytest.raises(DataError, match="a piece of a Trace"):
        list(pieces(tmp_path))


def test_pyarrow_comes_with_the_disk_only() -> None:
    program = (
        "import sys, tidegate._core.trace, tidegate._core.trace_files;"
        "assert 'pyarrow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
