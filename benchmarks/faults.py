"""Whether a run that is killed again and again says what an unbroken one says.

`tidegate run` reads a file with missing values, bad rows and a scale that jumps, and saves its
state every few milliseconds. A process of its own is killed (kill -9) at a random moment and goes
on with --resume, until it ends; then its records, byte for byte, and its summary are compared with
those of a run that was never disturbed. JSON lines, CSV and Parquet take turns.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from time import monotonic

import click
import numpy as np

KINDS = ("jsonl", "csv", "parquet")
NETWORK = ["--units", "4"]
FORECASTER = ["--horizon", "3", "--level", "0.9", "--level", "0.5"]


def write_stream(path: Path, rows: int) -> None:
    """Hours with a day in them."""
    rng = np.random.default_rng(9)
    lines = ["time,load"]
    for n in range(rows):
        value = (100 + 30 * np.sin(n * 2 * np.pi / 24) + rng.normal()) * (
            1e6 if 2 * n > rows else 1
        )
        cell = "" if n % 50 == 7 else "12 MW" if n % 997 == 400 else repr(float(value))
        lines.append(f"{np.datetime64('2021-03-01T00:00', 'm') + 60 * n},{cell}")
    path.write_text("\n".join([*lines, ""]))


def started(stream: Path, folder: Path, kind: str, model: list[str]) -> subprocess.Popen[bytes]:
    """One process that begins the run in ``folder``, or goes on with it."""
    asked = ["--target", "load", "--time", "time", *model, "--on-bad-row", "skip"]
    asked += ["--save-every", "0.01", "--format", kind, "--resume", str(folder)]
    command = [sys.executable, "-m", "tidegate", "run", str(stream), *asked, "--out", os.devnull]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL)


def content(folder: Path, kind: str) -> dict[str, bytes]:
    """What is compared, by the names of files."""
    records = folder / f"records.{kind}"
    files = sorted(records.iterdir()) if records.is_dir() else [records]
    return {path.name: path.read_bytes() for path in [*files, folder / "summary.json"]}


def killed_until_done(
    stream: Path,
    folder: Path,
    kind: str,
    model: list[str],
    latest: float,
    rng: np.random.Generator,
    most: int,
) -> int:
    """Kills before the run came to its end, at most ``most``."""
    kills = 0
    while True:
        process = started(stream, folder, kind, model)
        if kills < most:
            with suppress(subprocess.TimeoutExpired):
                process.wait(rng.uniform(0, latest))
            process.kill()
        code = process.wait()
        if code == 0:
            return kills
        if code != -signal.SIGKILL:
            raise SystemExit(f"a run in {folder} ended with {code}")
        kills += 1


@click.command(help=__doc__)
@click.option("--kills", default=500, show_default=True)
@click.option("--rows", default=20_000, show_default=True, help="Of the stream.")
@click.option("--forecaster", is_flag=True, help="Run the forecaster, not a bare network.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def main(kills: int, rows: int, forecaster: bool, as_json: bool) -> None:
    model = FORECASTER if forecaster else NETWORK
    rng = np.random.default_rng(0)
    done = runs = equal = 0
    with tempfile.TemporaryDirectory() as name:
        stream = Path(name, "stream.csv")
        write_stream(stream, rows)
        expected, begun = {}, monotonic()
        for kind in KINDS:
            started(stream, Path(name, kind), kind, model).wait()
            expected[kind] = content(Path(name, kind), kind)
        latest = (monotonic() - begun) / len(KINDS)
        for kind in cycle(KINDS):
            if done >= kills:
                break
            folder = Path(name, f"run{runs}")
            done += killed_until_done(stream, folder, kind, model, latest, rng, kills - done)
            runs += 1
            equal += content(folder, kind) == expected[kind]
    found = {"kills": done, "runs": runs, "equal": equal}
    click.echo(json.dumps(found) if as_json else f"{done} kills, {equal} of {runs} runs equal")
    sys.exit(equal != runs)


if __name__ == "__main__":
    main()
