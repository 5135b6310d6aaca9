"""Whether a learner costs the same at step 10^7 as at the beginning: memory and time.

An LSTM with 16 units and Adam learns a stream of seven symbols that never ends, handed over in
pieces of 10,000 steps. Memory is what the process holds (resident) between step 10^5 and the end;
time is that of the calling thread, in nanoseconds a step, over the first and the last tenth.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

import click
import numpy as np

from tidegate.learn import Adam, Harmonic, Learner, Network, Softmax

CLASSES, PIECE, SETTLED = 7, 10_000, 100_000


def resident_bytes() -> int:
    """Memory that the process holds; its peak where the system does not say."""
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * resource.getpagesize()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def measure(steps: int) -> dict[str, float]:
    """Learn ``steps`` steps; what they cost."""
    learner = Learner(
        Network(CLASSES, CLASSES, units=16), Softmax(), Adam(Harmonic(0.02, tau=1e5), eps=1e-2)
    )
    rng, one_hot = np.random.default_rng(0), np.eye(CLASSES)
    times, settled = [], 0
    for done in range(0, steps, PIECE):
        symbols = rng.integers(0, CLASSES, PIECE + 1)
        xs, targets = one_hot[symbols[:-1]], symbols[1:].astype(float)
        start = time.thread_time_ns()
        learner.run(xs, targets)
        times.append((time.thread_time_ns() - start) / PIECE)
        if done + PIECE <= SETTLED:
            settled = resident_bytes()
    tenth = max(1, len(times) // 10)
    return {
        "steps": learner.steps,
        "rss_growth_bytes": resident_bytes() - settled,
        "ns_first_tenth": float(np.mean(times[:tenth])),
        "ns_last_tenth": float(np.mean(times[-tenth:])),
    }


@click.command(help=__doc__)
@click.option("--steps", default=10_000_000, show_default=True, help="Length of the stream.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def main(steps: int, as_json: bool) -> None:
    found = measure(steps)
    if as_json:
        click.echo(json.dumps(found))
        return
    click.echo(f"steps                      {found['steps']:12,}")
    click.echo(f"memory grew by, bytes      {found['rss_growth_bytes']:12,}")
    click.echo(f"ns a step, first tenth     {found['ns_first_tenth']:12.0f}")
    click.echo(f"ns a step, last tenth      {found['ns_last_tenth']:12.0f}")


if __name__ == "__main__":
    main()
