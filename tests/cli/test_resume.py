"""Going on with a run: nothing is lost, nothing doubled, nothing quietly something else."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from cli.conftest import Call, csv
from tidegate._core.trace_files import read_trace
from tidegate.cli import _session

ASKED = ["--target", "load", "--time", "time", "--input", "wind", "--units", 4]
STATE = "state.safetensors"


def part(hourly: Path, rows: int) -> bytes:
    """The header and the first rows of the file."""
    return b"".join(hourly.read_bytes().splitlines(keepends=True)[: rows + 1])


def content(path: Path) -> bytes:
    """Of a file, or of a folder of pieces by their names."""
    if path.is_dir():
        return b"".join(p.name.encode() + p.read_bytes() for p in sorted(path.iterdir()))
    return path.read_bytes()


@pytest.fixture
def growing(hourly: Path, tmp_path: Path) -> Path:
    """A file that is cut short at first, and whole when the run goes on."""
    return tmp_path / "growing.csv"


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize("cut", [0, 1, 2, 150])
def test_a_resumed_run_equals_an_unbroken_one(
    call: Call, hourly: Path, growing: Path, tmp_path: Path, kind: str, cut: int
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    shutil.copy(hourly, growing)
    call("run", growing, *ASKED, "--save", one, "--format", kind, "--trace")
    growing.write_bytes(part(hourly, cut))
    call("run", growing, *ASKED, "--save", two, "--format", kind, "--trace")
    growing.write_bytes(part(hourly, 300))
    assert call("run", "--resume", two).code == 0
    growing.write_bytes(hourly.read_bytes())
    assert call("run", "--resume", two).code == 0
    for name in (f"records.{kind}", "summary.json"):
        assert content(two / name) == content(one / name), name
    traces = [read_trace(folder / "trace") for folder in (one, two)]
    for name, array in traces[0]._arrays().items():
        np.testing.assert_array_equal(array, traces[1]._arrays()[name], err_msg=name)
    if kind == "parquet":
        assert pq.read_table(two / "records.parquet").num_rows == 400


def test_what_came_after_the_saved_state_is_cut_off(
    call: Call, hourly: Path, growing: Path, tmp_path: Path
) -> None:
    """As a kill leaves it: records and trace are ahead of the state."""
    one, two, out = tmp_path / "one", tmp_path / "two", tmp_path / "out.csv"
    shutil.copy(hourly, growing)
    call("run", growing, *ASKED, "--save", one, "--trace", "--out", out)
    whole = content(out)
    growing.write_bytes(part(hourly, 100))
    call("run", growing, *ASKED, "--save", two, "--trace", "--out", out)
    state = (two / STATE).read_bytes()
    growing.write_bytes(part(hourly, 300))
    call("run", "--resume", two)
    (two / STATE).write_bytes(state)
    growing.write_bytes(hourly.read_bytes())
    assert call("run", "--resume", two, "--out", out).code == 0
    assert read_trace(two / "trace").steps == read_trace(one / "trace").steps == 398
    assert content(out) == content(two / "records.csv") == whole


def test_a_trace_is_what_the_network_did(call: Call, hourly: Path, tmp_path: Path) -> None:
    plain, traced = tmp_path / "plain", tmp_path / "traced"
    call("run", hourly, *ASKED, "--save", plain)
    call("run", hourly, *ASKED, "--save", traced, "--trace")
    assert content(plain / "records.jsonl") == content(traced / "records.jsonl")
    trace = read_trace(traced / "trace")
    assert trace.meta.start == 3, "two rows tell the first change, the third is learned"
    f, i, g = (trace.gates[name].astype(np.float64) for name in "fig")
    c = trace.memory["c"].astype(np.float64)
    np.testing.assert_allclose(f[1:] * c[:-1] + i[1:] * g[1:], c[1:], atol=2e-6)
    np.testing.assert_allclose(trace.log_retention["c"], np.log(f), atol=1e-6)
    assert (trace.units, trace.meta.sizes["units"]) == (4, 4)


def test_a_pipe_goes_on_with_what_comes(call: Call, tmp_path: Path) -> None:
    values = np.sin(np.arange(300.0)) + 0.1 * np.arange(300)
    one, two = tmp_path / "one", tmp_path / "two"
    call("run", "-", "--target", "load", "--save", one, stdin=csv(values))
    call("run", "-", "--target", "load", "--save", two, stdin=csv(values[:120]))
    done = call("run", "--resume", two, stdin=csv(values[120:]))
    assert done.code == 0 and len(done.records) == 180
    assert content(one / "records.jsonl") == content(two / "records.jsonl")


def test_a_resume_without_a_state_starts_anew_with_what_was_asked(
    call: Call, hourly: Path, tmp_path: Path
) -> None:
    """A supervisor may always say the same: killed before the first save, nothing is there."""
    folder = tmp_path / "run"
    always = ["run", hourly, *ASKED, "--resume", folder]
    first = call(*always)
    assert (first.code, len(first.records)) == (0, 400)
    (folder / STATE).unlink()
    again = call("run", "--resume", folder)
    assert (again.code, again.out) == (0, first.out)
    assert call(*always).out == b"", "nothing is left to predict"
    assert content(folder / "records.jsonl") == first.out


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (["--units", 5], "--units 4, got 5 (--units)"),
        (["--cell", "gru"], "no --cell, got 'gru' (--cell)"),
        (["--seed", 1], "--seed 0, got 1"),
        (["--input", "load"], "--input ('wind',), got ('load',)"),
        (["other.csv"], "FILE"),
        (["--format", "csv"], "--format 'jsonl', got 'csv'"),
        (["--trace"], "--trace False, got True"),
        (["--save", "elsewhere"], "Leave --save out"),
    ],
)
def test_another_run_is_refused_by_what_differs(
    call: Call, hourly: Path, tmp_path: Path, other: list[object], words: str
) -> None:
    folder = tmp_path / "run"
    call("run", hourly, *ASKED, "--save", folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = call("run", *other, "--resume", folder)
    assert done.code == 2 and words in done.err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_environment_may_not_make_it_another_run(
    call: Call, hourly: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("run", hourly, *ASKED, "--save", tmp_path / "run")
    monkeypatch.setenv("TIDEGATE_UNITS", "5")
    done = call("run", "--resume", tmp_path / "run")
    assert done.code == 2 and "got 5 (TIDEGATE_UNITS)" in done.err


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (lambda text: text.replace(b"2021-03-02T04:00", b"2021-03-02T04:01"), "got others"),
        (lambda text: text[: text.index(b"\n2021-03-05") + 1], "an end after row"),
    ],
    ids=["a time", "shorter"],
)
def test_a_file_that_is_another_one_is_refused(
    call: Call, hourly: Path, tmp_path: Path, changed: object, words: str
) -> None:
    folder = tmp_path / "run"
    call("run", hourly, *ASKED, "--save", folder)
    before = (folder / "records.jsonl").read_bytes()
    hourly.write_bytes(changed(hourly.read_bytes()))  # type: ignore[operator]
    done = call("run", "--resume", folder)
    assert done.code == 3
    assert "the rows up to row 400 that were learned" in done.err and words in done.err
    assert (folder / "records.jsonl").read_bytes() == before


def test_a_damaged_state_is_refused(call: Call, hourly: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    call("run", hourly, *ASKED, "--save", folder)
    state = bytearray((folder / STATE).read_bytes())
    state[len(state) // 2] ^= 1
    (folder / STATE).write_bytes(state)
    done = call("run", "--resume", folder)
    assert done.code == 3 and "a whole checkpoint" in done.err


def test_another_version_is_refused(
    call: Call, hourly: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("run", hourly, *ASKED, "--save", tmp_path / "run")
    monkeypatch.setattr("tidegate.__version__", "99.0")
    done = call("run", "--resume", tmp_path / "run")
    assert done.code == 3 and "tidegate = '99.0'" in done.err


def test_lost_records_are_said(call: Call, hourly: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    call("run", hourly, *ASKED, "--save", folder)
    (folder / "records.jsonl").unlink()
    done = call("run", "--resume", folder)
    assert done.code == 3 and "the records up to step 400" in done.err


def test_a_bad_row_can_be_passed_over_later(call: Call, hourly: Path, tmp_path: Path) -> None:
    lines = hourly.read_bytes().splitlines(keepends=True)
    bad = [*lines[:201], b"2021-03-09T08:30,12 MW,1\n", *lines[201:]]
    hourly.write_bytes(b"".join(bad))
    one, two = tmp_path / "one", tmp_path / "two"
    call("run", hourly, *ASKED, "--save", one, "--on-bad-row", "skip")
    stopped = call("run", hourly, *ASKED, "--save", two)
    assert stopped.code == 3 and f"--resume {two}" in stopped.err
    assert call("run", "--resume", two).code == 3, "it is still there"
    done = call("run", "--resume", two, "--on-bad-row", "skip")
    assert done.code == 0 and "1 row skipped" in done.err
    assert content(one / "records.jsonl") == content(two / "records.jsonl")
    assert content(one / "summary.json") == content(two / "summary.json")


def test_bad_rows_are_counted_once(call: Call, tmp_path: Path) -> None:
    file, folder = tmp_path / "a.csv", tmp_path / "run"
    asked = ["run", file, "--target", "load", "--save", folder, "--on-bad-row", "skip"]
    file.write_bytes(b"load\n1\nx\n2\ny\n")
    call(*asked)
    file.write_bytes(b"load\n1\nx\n2\ny\n3\nz\n4\n")
    done = call("run", "--resume", folder)
    skipped = json.loads((folder / "summary.json").read_text())["skipped"]
    assert skipped["count"] == 3 and [text[-90:-60] != "" for text in skipped["first"]]
    assert [f"row {n}," in text for n, text in zip((2, 4, 6), skipped["first"], strict=True)]
    assert "3 rows skipped" in done.err


def test_the_state_is_saved_as_often_as_asked(
    call: Call, hourly: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[int] = []
    write = _session.RunFolder.write_state

    def counted(folder: _session.RunFolder, checkpoint: _session.Checkpoint) -> None:
        saved.append(int(checkpoint.arrays["steps"]))
        write(folder, checkpoint)

    monkeypatch.setattr(_session.RunFolder, "write_state", counted)
    clock = iter(range(10_000))
    monkeypatch.setattr(_session, "monotonic", lambda: float(next(clock)))
    call("run", hourly, *ASKED, "--save", tmp_path / "run", "--save-every", 100)
    assert saved == [100, 200, 300, 400, 400], "and at the end"


def test_full_disk_at_a_save_leaves_the_state_before(
    call: Call, hourly: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    call("run", hourly, *ASKED, "--save", tmp_path / "whole")
    states: list[bytes] = []
    replace = os.replace

    def full(source: object, target: object) -> None:
        if Path(str(target)).name == STATE and len(states) == 3:
            raise OSError(28, "No space left on device")
        replace(source, target)  # type: ignore[call-overload]
        if Path(str(target)).name == STATE:
            states.append((folder / STATE).read_bytes())

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        done = call("run", hourly, *ASKED, "--save", folder, "--save-every", 0)
    assert done.code == 1
    assert "No space left on device" in done.err and "--resume" in done.err
    assert (folder / STATE).read_bytes() == states[-1]
    assert call("run", "--resume", folder, "--save-every", 30).code == 0
    assert content(folder / "records.jsonl") == content(tmp_path / "whole" / "records.jsonl")


def test_full_disk_at_a_record_leaves_the_state_before(
    call: Call, hourly: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    whole = call("run", hourly, *ASKED).out
    written = [0]
    write = _session.Outputs.write

    def full(outputs: _session.Outputs, record: object) -> None:
        written[0] += 1
        if written[0] == 60:
            file = outputs._places[0].recorder._file  # type: ignore[attr-defined]
            file.write(b'{"step": 60, "half a')
            raise _session.TidegateError("records", "room", "none", "Make some.")
        write(outputs, record)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(_session.Outputs, "write", full)
        asked = ["--save", folder, "--save-every", 0, "--out", tmp_path / "o.jsonl"]
        assert call("run", hourly, *ASKED, *asked).code == 1
    assert call("run", "--resume", folder, "--save-every", 30).code == 0
    assert content(folder / "records.jsonl") == content(tmp_path / "o.jsonl") == whole


def test_a_network_that_diverged_does_not_take_the_place_of_a_sound_one(
    call: Call, hourly: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tidegate.forecast import BareNetwork

    observe = BareNetwork.observe

    def diverging(network: BareNetwork, values: object) -> tuple[str, ...]:
        if network.learner.steps == 50:
            state = network.learner.state
            state.weights[:] = np.nan
            network.learner.state = state
        return observe(network, values)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(BareNetwork, "observe", diverging)
        asked = ["--save", tmp_path / "run", "--save-every", 0]
        done = call("run", hourly, *ASKED, *asked)
    assert done.code == 4 and "predictions that are finite" in done.err
    assert call("run", "--resume", tmp_path / "run", "--save-every", 30).code == 0
    assert content(tmp_path / "run" / "records.jsonl") == call("run", hourly, *ASKED).out


def test_a_folder_that_cannot_be_written_is_a_usage_error(
    call: Call, hourly: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(path: object, content: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tidegate.cli._folder.replace_file", denied)
    done = call("run", hourly, *ASKED, "--save", tmp_path / "run")
    assert (done.code, done.out) == (2, b"")
    assert "a folder that can be written" in done.err and "Permission denied" in done.err


def test_a_file_that_vanished_is_said_and_the_run_can_go_on(
    call: Call, hourly: Path, tmp_path: Path
) -> None:
    call("run", hourly, *ASKED, "--save", tmp_path / "run")
    state = (tmp_path / "run" / STATE).read_bytes()
    hourly.rename(tmp_path / "moved.csv")
    done = call("run", "--resume", tmp_path / "run")
    assert done.code == 2 and "a file that can be read" in done.err
    assert (tmp_path / "run" / STATE).read_bytes() == state
    (tmp_path / "moved.csv").rename(hourly)
    assert call("run", "--resume", tmp_path / "run").code == 0


def test_two_runs_do_not_share_a_folder(call: Call, hourly: Path, tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    call("run", hourly, *ASKED, "--save", tmp_path / "run")
    held = os.open(tmp_path / "run", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    done = call("run", "--resume", tmp_path / "run")
    os.close(held)
    assert done.code == 2 and "a folder no other run writes to" in done.err
    assert call("run", "--resume", tmp_path / "run").code == 0
