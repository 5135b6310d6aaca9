"""What does it cost to record every gate and memory of a run, and is anything lost on the way?

One forecaster with an LSTM of 64 units meets a stream row by row, as ``tidegate run`` does: without
a trace, with log-retention and memory written to disk, and with all that ``--trace`` writes (gates
and hidden values too). The three are cut into the same stretches, which take turns, so that a busy
machine disturbs them alike. Times are CPU time of this process, the disk's part included. Then the
recorded pieces are read back, one at a time, and decimated again and again: the least retention of
every unit must survive every time.

    python benchmarks/trace_cost.py [--steps 1000000] [--json]

``memory_ratio`` should be at most 2, and ``growth_mib``, what memory grows from the first tenth of
the steps to the last, should not depend on their number.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tidegate._core.decimation import Buckets, decimate
from tidegate._core.trace import Trace
from tidegate._core.trace_files import TraceWriter, pieces
from tidegate.forecast import BareNetwork, Prequential
from tidegate.forecast.tracing import NetworkTracer
from tidegate.kernels.code.cpu import host
from tidegate.streams import Row, StopAtBadRow

UNITS, STRETCH = 64, 2_000
DECIMATIONS = (7, 10, 10, 100)  #: each on top of the ones before
MEBI = 1024 * 1024


class Run:
    """A forecaster in the middle of its stream."""

    def __init__(self) -> None:
        self.network = BareNetwork(1, "lstm", UNITS, seed=0)
        self.run = Prequential(lambda: self.network, "waves", StopAtBadRow())
        self.seconds = 0.0
        self.tracer: Any = None

    def recorded(self, folder: Path) -> Run:
        self.tracer = NetworkTracer(self.network, folder, 0, seed=0)
        return self

    def close(self) -> None:
        """Writes what is still open."""
        begun = time.process_time()
        if self.tracer:
            self.tracer.close()
        self.seconds += time.process_time() - begun

    def meet(self, values: np.ndarray) -> None:
        """Predicts and learns rows (steps,)."""
        begun = time.process_time()
        for number, value in enumerate(values.tolist(), self.run.steps + 1):
            passing = self.tracer.look() if self.tracer else None
            record = self.run.step(Row(number, None, np.array([value])))
            if self.tracer and record is not None:
                self.tracer.keep(passing, record.step)
        self.seconds += time.process_time() - begun


class MemoriesAlone:
    """A writer that passes on log-retention and memory of what it is given."""

    def __init__(self, writer: TraceWriter) -> None:
        self._writer = writer

    def write(self, trace: Trace) -> None:
        self._writer.write(
            Trace(trace.log_retention, trace.memory, reset=trace.reset, meta=trace.meta)
        )

    def close(self) -> None:
        self._writer.close()


def waves(first: int, steps: int) -> np.ndarray:
    """Two periods and noise, the same numbers however the stream is cut."""
    at = np.arange(first, first + steps)
    noise = np.random.default_rng(first).normal(size=steps)
    return 50 + 20 * np.sin(at * 2 * np.pi / 24) + 5 * np.sin(at * 2 * np.pi / 168) + noise


def resident_mib() -> float:
    """Memory of this process now, in MiB; where it cannot be asked, the most it ever had."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return pages * resource.getpagesize() / MEBI


def compare(steps: int, folder: Path) -> dict[str, Any]:
    """CPU microseconds a step of the three runs, and how memory grew while they went on."""
    plain, all_ = Run(), Run().recorded(folder / "all")
    memory = Run().recorded(folder / "memory")
    memory.tracer._writer = MemoriesAlone(memory.tracer._writer)
    runs, sizes = [plain, memory, all_], []
    for first in range(0, steps, STRETCH):
        values = waves(first, min(STRETCH, steps - first))
        for run in runs:
            run.meet(values)
            if not first:
                run.seconds = 0.0  # what is imported and compiled once
        runs.append(runs.pop(0))
        sizes.append(resident_mib())
    for run in runs:
        run.close()
    tenth, timed = max(1, len(sizes) // 10), steps - STRETCH
    return {
        "plain_us": plain.seconds / timed * 1e6,
        "memory_us": memory.seconds / timed * 1e6,
        "all_us": all_.seconds / timed * 1e6,
        "memory_ratio": memory.seconds / plain.seconds,
        "all_ratio": all_.seconds / plain.seconds,
        "growth_mib": max(sizes[-tenth:]) - max(sizes[:tenth]),
        "same_predictions": len({run.network.forecast() for run in runs}) == 1,
    }


def least_survives(folder: Path) -> tuple[int, bool]:
    """Recorded steps, and whether each unit's least log-retention is in every decimation."""
    recorded, survives = 0, True
    for trace in pieces(folder):
        recorded += trace.steps
        least = trace.log_retention["c"].min(axis=0)
        buckets: Buckets | None = None
        for every in DECIMATIONS:
            buckets = decimate(trace, every) if buckets is None else buckets.coarser(every)
            survives &= bool((buckets.minimum["c"].min(axis=0) == least).all())
    return recorded, survives


def folder_size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.steps < 2 * STRETCH:
        parser.error(f"--steps: expected at least {2 * STRETCH}, got {options.steps}")
    with TemporaryDirectory() as place:
        found = compare(options.steps, Path(place))
        recorded, survives = least_survives(Path(place) / "memory")
        sizes = {n: folder_size(Path(place) / n) / recorded for n in ("memory", "all")}
    found |= {
        "steps": options.steps,
        "units": UNITS,
        "recorded_steps": recorded,
        "memory_bytes_per_step": sizes["memory"],
        "all_bytes_per_step": sizes["all"],
        "least_survives": survives,
        "cpu": host().identity,
    }
    if options.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:21} {value:.4g}" if isinstance(value, float) else f"{name:21} {value}")
    return 0 if found["memory_ratio"] <= 2 and survives and found["same_predictions"] else 5


if __name__ == "__main__":
    sys.exit(main())
