"""``tidegate explain`` on a run that was recorded, and on a stream passed through a saved one."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tidegate._core.trace_files import read_trace
from tidegate.learn.checkpoint import load

from .conftest import Call

COLUMNS = ("--target", "load", "--time", "time", "--units", "4")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 300 hours learned and recorded, and the file beside it."""
    from tidegate.cli._commands import commands
    from tidegate.cli._exit import exit_code

    place = tmp_path_factory.mktemp("recorded")
    hours = np.arange(300)
    load = 100 + 30 * np.sin(hours * 2 * np.pi / 24) + np.random.default_rng(5).normal(size=300)
    times = np.datetime64("2021-03-01T00:00", "m") + hours * np.timedelta64(60, "m")
    lines = [f"{t},{v}" for t, v in zip(times, load, strict=True)]
    file = place / "hourly.csv"
    file.write_text("\n".join(["time,load", *lines, ""]))
    run = ["run", file, *COLUMNS, "--save", place / "run", "--trace", "--out", place / "all.jsonl"]
    assert exit_code(commands, [str(word) for word in run]) == 0
    return place


def test_the_page_goes_into_the_folder(call: Call, recorded: Path) -> None:
    done = call("explain", recorded / "run")
    assert done.code == 0 and done.out == b""
    page = (recorded / "run" / "explain.html").read_text(encoding="utf-8")
    assert "run: what its network remembers" in page
    assert done.err.startswith("Wrote ")


def test_steps_are_those_of_the_records(call: Call, recorded: Path) -> None:
    found = json.loads(call("explain", recorded / "run", "--format", "json").out)
    trace = read_trace(recorded / "run" / "trace")
    assert (found["first_step"], found["steps"]) == (trace.meta.start, trace.steps)
    assert trace.meta.start + trace.steps - 1 == 300
    page = call("explain", recorded / "run", "--out", recorded / "page.html")
    assert page.code == 0
    assert (
        f"{trace.steps} steps: {trace.meta.start} to 300." in (recorded / "page.html").read_text()
    )


def test_the_checkpoint_stands_for_its_folder(call: Call, recorded: Path) -> None:
    by_file = call("explain", recorded / "run" / "state.safetensors", "--format", "csv")
    assert by_file.out == call("explain", recorded / "run", "--format", "csv").out
    assert len(by_file.out.splitlines()) == 5


def test_units_and_last_steps_are_chosen(call: Call, recorded: Path) -> None:
    done = call("explain", recorded / "run", "--format", "csv", "--units", "3,0-1", "--last", "150")
    rows = list(csv.DictReader(io.StringIO(done.out.decode())))
    assert [row["unit"] for row in rows] == ["3", "0", "1"]
    kept = read_trace(recorded / "run" / "trace").log_retention["c"][-150:, 0]
    half_life = np.log(0.5) / np.median(kept[:, 3])
    assert float(rows[0]["between_events"]) == pytest.approx(half_life)


def test_borders_are_compared_with(call: Call, recorded: Path) -> None:
    (recorded / "borders.txt").write_text("\n".join(map(str, range(24, 300, 24))))
    done = call(
        "explain", recorded / "run", "--format", "json", "--borders", recorded / "borders.txt"
    )
    found = json.loads(done.out)
    assert found["borders"] == list(range(24, 300, 24))
    assert found["alignment"] is None or 0 < found["alignment"]["p_value"] <= 1


def test_png_follows_from_the_name(call: Call, recorded: Path) -> None:
    done = call("explain", recorded / "run", "--out", recorded / "figure.png")
    assert done.code == 0
    assert (recorded / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_frozen_weights_stay_and_learned_ones_do_not(call: Call, recorded: Path) -> None:
    file, run = recorded / "hourly.csv", recorded / "run"
    before = (run / "state.safetensors").read_bytes()
    frozen = call("explain", run, file, "--format", "json")
    learned = call("explain", run, file, "--learn", "--format", "json")
    assert frozen.code == learned.code == 0
    assert (run / "state.safetensors").read_bytes() == before
    assert json.loads(frozen.out)["first_step"] == 1
    assert json.loads(frozen.out)["units"] != json.loads(learned.out)["units"]
    assert "weights frozen" in json.loads(frozen.out)["title"]


@pytest.mark.parametrize("words", [[], ["--learn"]])
def test_weights_move_only_where_it_learns(
    call: Call, recorded: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    from tidegate.cli import _replay

    seen: set[bytes] = set()

    class Spying(_replay.NetworkTracer):
        def look(self) -> Any:
            seen.add(self._network.learner.state.weights.tobytes())
            return super().look()

    monkeypatch.setattr(_replay, "NetworkTracer", Spying)
    done = call("explain", recorded / "run", recorded / "hourly.csv", "--format", "csv", *words)
    assert done.code == 0
    saved = load(recorded / "run" / "state.safetensors").arrays
    first = next(array for name, array in saved.items() if name.endswith("learner.weights"))
    assert first.tobytes() in seen
    assert (len(seen) > 100) if words else (len(seen) == 1)


def test_without_a_trace_the_error_says_what_to_run(
    call: Call, recorded: Path, tmp_path: Path
) -> None:
    shutil.copytree(recorded / "run", tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "trace")
    done = call("explain", tmp_path / "run")
    assert done.code == 2
    assert "--trace" in done.err and f"tidegate explain {tmp_path / 'run'} FILE" in done.err
    assert call("explain", tmp_path / "run", recorded / "hourly.csv").code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "nothing there"),
        (["{run}", "--units", "0,x"], "--units"),
        (["{run}", "--units", "9"], "numbers from 0 to 3"),
        (["{run}", "--learn"], "a FILE to learn from"),
        (["{run}", "--borders", "nowhere"], "--borders"),
        (["{run}", "--out", "nowhere/page.html"], "--out"),
    ],
)
def test_what_cannot_be_is_said(call: Call, recorded: Path, words: list[str], said: str) -> None:
    done = call("explain", *[word.format(run=recorded / "run") for word in words])
    assert done.code == 2
    assert said in done.err
