"""``tidegate explain`` on a run that was recorded, and on a stream passed through a saved one."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

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


def test_a_run_from_before_an_option_existed_is_explained(
    call: Call, recorded: Path, tmp_path: Path
) -> None:
    run = shutil.copytree(recorded / "run", tmp_path / "run")
    about = json.loads((run / "run.json").read_text())
    for later in ("categories", "most_categories", "shared"):
        del about["options"][later]
    (run / "run.json").write_text(json.dumps(about))
    done = call("explain", run, "--format", "json")
    assert done.code == 0 and json.loads(done.out)["units"]


@pytest.mark.parametrize("words", [[], ["--learn"]])
def test_weights_move_only_where_it_learns(
    call: Call, recorded: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    from tidegate.cli import _models

    seen: set[bytes] = set()

    class Spying(_models.NetworkTracer):
        def look(self) -> None:
            seen.add(self._network.learner.state.weights.tobytes())
            super().look()

    monkeypatch.setattr(_models, "NetworkTracer", Spying)
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


@pytest.fixture(scope="module")
def forecast(recorded: Path) -> Path:
    """A folder with 120 hours forecast, the networks recorded, and one without a recording."""
    from tidegate.cli import _models
    from tidegate.cli._commands import commands
    from tidegate.cli._exit import exit_code

    file = recorded / "short.csv"
    file.write_text("".join((recorded / "hourly.csv").read_text().splitlines(True)[:121]))
    asked = ["run", file, "--target", "load", "--time", "time", "--out", recorded / "out.jsonl"]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_models, "NETWORK_UNITS", 3)
        for name, more in (("forecast", ["--trace"]), ("plain", [])):
            words = [*asked, "--save", recorded / name, *more]
            assert exit_code(commands, [str(word) for word in words]) == 0
    return recorded


def test_a_forecaster_is_explained(call: Call, forecast: Path) -> None:
    done = call("explain", forecast / "forecast", "--format", "json")
    found = json.loads(done.out)
    assert done.code == 0 and len(found["networks"]) == 8 and len(found["units"]) == 3
    assert found["first_step"] + found["steps"] - 1 == 120
    heaviest = max(found["networks"], key=lambda row: row["weight"])
    assert found["network"] == heaviest["network"] == found["networks"][0]["network"]
    lean = call("explain", forecast / "forecast", "--format", "json", "--expert", "lean")
    assert json.loads(lean.out)["network"] == "lean"
    trace = read_trace(forecast / "forecast" / "trace" / "lean")
    assert trace.meta.cell == "LSTM(forget_bias=1.0)"


def test_a_traced_forecaster_says_the_same(forecast: Path) -> None:
    traced, plain = (forecast / name / "records.jsonl" for name in ("forecast", "plain"))
    assert traced.read_bytes() == plain.read_bytes()


def test_memories_of_the_experts_follow_from_their_gates(forecast: Path) -> None:
    """Also across the places where the forecaster began anew, and was taught the rows so far."""
    for name in ("gated", "smooth-long"):
        trace = read_trace(forecast / "forecast" / "trace" / name)
        f, i, g = (trace.gates[gate].astype(np.float64) for gate in "fig")
        c = trace.memory["c"].astype(np.float64)
        kept = np.abs(f[1:] * c[:-1] + i[1:] * g[1:] - c[1:]).max(axis=(1, 2)) < 1e-5
        assert kept.mean() > 0.97


def test_without_a_recording_its_records_are_explained(call: Call, forecast: Path) -> None:
    done = call("explain", forecast / "plain", "--format", "text")
    assert done.code == 0 and b"What weighed most in the forecast" in done.out
    assert b"tidegate run --trace" in done.out
    units = call("explain", forecast / "plain", "--units", "0")
    assert units.code == 2 and "a network that was recorded" in units.err


@pytest.mark.parametrize("words", [[], ["--learn"]])
def test_a_stream_goes_through_a_saved_forecaster(
    call: Call, forecast: Path, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tidegate.cli import _models

    monkeypatch.setattr(_models, "NETWORK_UNITS", 3)
    run = forecast / "plain"
    before = (run / "state.safetensors").read_bytes()
    done = call("explain", run, forecast / "short.csv", "--format", "json", *words)
    found = json.loads(done.out)
    assert done.code == 0 and (found["first_step"], found["steps"]) == (1, 120)
    assert ("learning" if words else "weights frozen") in found["title"]
    assert (run / "state.safetensors").read_bytes() == before
    assert found["stream"]["mae"] < found["stream"]["persistence"]
