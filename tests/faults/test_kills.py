"""Kill -9 at any moment: the records of the run that goes on equal an unbroken one's."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import sleep

import numpy as np
import pytest

from support.forks import Forks
from tidegate._core.trace import Trace
from tidegate._core.trace_files import read_trace
from tidegate._core.trace_folders import folder_of, traced

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")

ROWS, LATEST = 5_000, 0.3
ASKED = ["--target", "load", "--time", "time", "--save-every", 0.01]
ASKED += ["--out", os.devnull, "--on-bad-row", "skip"]
BARE = ["--units", 2]
FEWER = 400  #: rows for a forecaster, which takes longer over each


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks() as found:
        yield found


@pytest.fixture(scope="module")
def rough(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hours with a day in them, missing values, bad rows and a scale that jumps."""
    rng = np.random.default_rng(9)
    lines = ["time,load,place"]
    for n in range(ROWS):
        value = 100 + 30 * np.sin(n * 2 * np.pi / 24) + rng.normal()
        cell = "" if n % 50 == 7 else "12 MW" if n % 997 == 400 else repr(float(value))
        lines.append(f"{np.datetime64('2021-03-01T00:00', 'm') + 60 * n},{cell},{'ab'[n % 3 % 2]}")
    path = tmp_path_factory.mktemp("rough") / "rough.csv"
    path.write_text("\n".join([*lines, ""]))
    return path


def content(folder: Path, kind: str) -> dict[str, bytes]:
    """Records by the names of their files, and the summary."""
    records = folder / f"records.{kind}"
    files = sorted(records.iterdir()) if records.is_dir() else [records]
    return {path.name: path.read_bytes() for path in [*files, folder / "summary.json"]}


@pytest.mark.parametrize(
    ("kind", "more", "enough"),
    [
        ("jsonl", [], 17),
        ("csv", [], 14),
        ("parquet", [], 11),
        ("jsonl", ["--trace", "--save-every", 0.05], 8),
    ],
    ids=["jsonl", "csv", "parquet", "trace"],
)
def test_a_killed_run_that_goes_on_equals_an_unbroken_one(
    forks: Forks, rough: Path, tmp_path: Path, kind: str, more: list[object], enough: int
) -> None:
    asked = ["run", rough, *ASKED, *BARE, "--format", kind, *more]
    killed_again_and_again(forks, asked, tmp_path, kind, enough)


@pytest.mark.parametrize(
    ("kind", "more", "enough"),
    [
        ("jsonl", [], 8),
        ("csv", ["--horizon", 3, "--level", 0.9, "--level", 0.5], 8),
        ("parquet", ["--key", "place", "--light", "--alarm"], 8),
        ("jsonl", ["--key", "place", "--shared"], 5),
        ("jsonl", ["--trace"], 5),
    ],
    ids=["plain", "horizon", "keys", "shared", "trace"],
)
def test_a_killed_forecaster_that_goes_on_equals_an_unbroken_one(
    forks: Forks, rough: Path, tmp_path: Path, kind: str, more: list[object], enough: int
) -> None:
    asked = [
        "run",
        shortened(rough, tmp_path, FEWER),
        *ASKED,
        "--save-every",
        0.03,
        "--format",
        kind,
        *more,
    ]
    killed_again_and_again(forks, asked, tmp_path, kind, enough)


@pytest.mark.parametrize(
    ("kind", "more", "enough"),
    [("jsonl", ["--trace"], 5), ("csv", ["--key", "place", "--most-categories", 4], 5)],
    ids=["trace", "keys"],
)
def test_a_killed_run_over_categories_that_goes_on_equals_an_unbroken_one(
    forks: Forks, tmp_path: Path, kind: str, more: list[object], enough: int
) -> None:
    rng, rows = np.random.default_rng(2), tmp_path / "symbols.csv"
    cells = [
        ("a", "b", "c", "", "longer")[(n + k) % 5] for n, k in enumerate(rng.integers(2, size=500))
    ]
    lines = [f"{n},{cell},{'xy'[n % 3 % 2]}" for n, cell in enumerate(cells)]
    rows.write_text("\n".join(["time,load,place", *lines, ""]))
    asked = ["run", rows, *ASKED, "--categories", "--save-every", 0.02, "--format", kind, *more]
    killed_again_and_again(forks, asked, tmp_path, kind, enough)


def shortened(stream: Path, folder: Path, rows: int) -> Path:
    """The first rows of a stream."""
    short = folder / "short.csv"
    short.write_text("".join(stream.read_text().splitlines(keepends=True)[: rows + 1]))
    return short


def killed_again_and_again(
    forks: Forks, asked: list[object], tmp_path: Path, kind: str, enough: int
) -> None:
    whole = tmp_path / "whole"
    forks.start(*asked, "--save", whole)
    assert forks.wait() == 0
    expected = content(whole, kind)
    rng = np.random.default_rng(int.from_bytes(kind.encode()) % 1000)
    kills = runs = 0
    while kills < enough or runs == 0:
        folder = tmp_path / f"run{runs}"
        done = False
        while not done:
            process = forks.start(*asked, "--resume", folder)
            if kills < enough:
                sleep(rng.uniform(0, LATEST))
                with suppress(ProcessLookupError):  # it may have ended by itself
                    os.kill(process, signal.SIGKILL)
            code = forks.wait()
            assert code in (0, -signal.SIGKILL)
            done = code == 0
            kills += not done
        runs += 1
        assert content(folder, kind) == expected
        if "--trace" in asked:
            for name in traced(whole / "trace") or [""]:
                one, other = (folder_of(place / "trace", name) for place in (folder, whole))
                same(read_trace(one), read_trace(other))


def same(one: Trace, other: Trace) -> None:
    assert one.meta == other.meta
    for name, array in one._arrays().items():
        np.testing.assert_array_equal(array, other._arrays()[name], err_msg=name)


@pytest.mark.parametrize(
    ("sent", "model"), [(signal.SIGINT, BARE), (signal.SIGTERM, BARE), (signal.SIGINT, [])]
)
def test_a_run_that_is_stopped_goes_on(
    forks: Forks, rough: Path, tmp_path: Path, sent: signal.Signals, model: list[object]
) -> None:
    rows, stream = (ROWS, rough) if model else (3 * FEWER, shortened(rough, tmp_path, 3 * FEWER))
    asked = ["run", stream, *ASKED, *model, "--save-every", 1000]
    forks.start(*asked, "--save", tmp_path / "whole")
    assert forks.wait() == 0
    folder = tmp_path / "run"
    process = forks.start(*asked, "--save", folder)
    for _ in range(20_000):
        if (folder / "records.jsonl").exists() and (folder / "records.jsonl").stat().st_size:
            break
        sleep(0.001)
    os.kill(process, sent)
    assert forks.wait() == 128 + sent
    stopped = (folder / "records.jsonl").read_bytes()
    assert stopped.endswith(b"}\n") and len(stopped.splitlines()) < rows - 200
    forks.start("run", "--resume", folder)
    assert forks.wait() == 0
    assert content(folder, "jsonl") == content(tmp_path / "whole", "jsonl")
