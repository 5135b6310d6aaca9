"""Whether `tidegate run` costs the same at row 10^7 as at the beginning: memory and time.

One column goes through the command with a bare network, from a file and from a pipe, and with the
forecaster, from a file; records go to a file, which takes 2.7 GB for 10^7 of the network's. Seen
from outside, memory is what the process holds (resident), from 5 % to 99 % of the rows; time is its
own (user and system), in microseconds a row, over the second and the last tenth.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import sleep

import click
import numpy as np

NETWORK = ["--units", "32"]
PIECE = 100_000
TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def write_rows(path: Path, rows: int) -> None:
    """A wave in noise."""
    rng = np.random.default_rng(0)
    with open(path, "w") as file:
        file.write("load\n")
        for first in range(0, rows, PIECE):
            n = np.arange(first, min(first + PIECE, rows))
            values = 10 * np.sin(n * 0.26) + rng.normal(size=len(n))
            file.write("".join([f"{value:.3f}\n" for value in values.tolist()]))


def looked(process: subprocess.Popen[bytes], records: Path) -> tuple[int, float, int]:
    """Rows done, seconds of work, bytes held."""
    with open(f"/proc/{process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    with open(f"/proc/{process.pid}/statm") as file:
        held = int(file.read().split()[1]) * PAGE
    last = b""
    with open(records, "rb") as file:
        file.seek(max(0, records.stat().st_size - 1000))
        last = file.read().rpartition(b"\n")[0].rpartition(b"\n")[2]
    rows = int(last.partition(b'"step": ')[2].partition(b",")[0]) if last else 0
    return rows, (int(fields[11]) + int(fields[12])) / TICK, held


def measure(rows: int, piped: bool, model: list[str]) -> dict[str, float]:
    """Pass so many rows through the command; what they cost."""
    seen: list[tuple[int, float, int]] = []
    with tempfile.TemporaryDirectory() as folder:
        stream, records = Path(folder, "stream.csv"), Path(folder, "records.jsonl")
        write_rows(stream, rows)
        source = "-" if piped else str(stream)
        command = [sys.executable, "-m", "tidegate", "run", source, "--target", "load", *model]
        with open(records, "wb") as out, open(stream, "rb") as rest:
            feed = subprocess.Popen(["cat"], stdin=rest, stdout=subprocess.PIPE)
            process = subprocess.Popen(
                command, stdin=feed.stdout, stdout=out, stderr=subprocess.DEVNULL
            )
            while process.poll() is None:
                sleep(0.5)
                try:
                    seen.append(looked(process, records))
                except (OSError, IndexError, ValueError):
                    break
            process.wait()
            feed.kill()
            feed.wait()
    return figures(rows, seen)


def figures(rows: int, seen: list[tuple[int, float, int]]) -> dict[str, float]:
    done, work, held = (np.array(column, float) for column in zip(*seen, strict=True))
    settled = (done >= 0.05 * rows) & (done <= 0.99 * rows)

    def cost(start: float, stop: float) -> float:
        seconds = np.interp([start * rows, stop * rows], done, work)
        return float(1e6 * (seconds[1] - seconds[0]) / ((stop - start) * rows))

    return {
        "rows": rows,
        "rss_growth_bytes": int(held[settled][-1] - held[settled][0]),
        "us_second_tenth": round(cost(0.1, 0.2), 2),
        "us_last_tenth": round(cost(0.9, 0.99), 2),
    }


@click.command(help=__doc__)
@click.option("--rows", default=10_000_000, show_default=True)
@click.option("--forecaster-rows", default=1_000_000, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def main(rows: int, forecaster_rows: int, as_json: bool) -> None:
    found = {name: measure(rows, name == "pipe", NETWORK) for name in ("file", "pipe")}
    if forecaster_rows:
        found["file, forecaster"] = measure(forecaster_rows, False, [])
    if as_json:
        click.echo(json.dumps(found))
        return
    for name, values in found.items():
        click.echo(
            f"from a {name}: " + ", ".join(f"{key} {value:,}" for key, value in values.items())
        )


if __name__ == "__main__":
    main()
