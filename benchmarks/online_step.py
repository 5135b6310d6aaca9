"""How long one step of online learning takes: predict and learn, beside torch and plain NumPy.

Seven one-hot inputs, seven classes, softmax, an LSTM that learns at every step. ``run`` hands a
whole stream over; ``call`` is one call of ``predict`` and one of ``learn`` from Python for every
step. Beside it, in the same process: ``torch.nn.LSTMCell`` with a linear readout, backward through
one step and the same optimiser; and the plain NumPy loops that are this library's reference. All
times are those of the calling thread on one core, in nanoseconds a step, the best of several.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Iterator
from typing import Any

import click
import numpy as np
import torch

from tidegate.kernels.code.cpu import host
from tidegate.kernels.engine import ReferenceEngine
from tidegate.learn import SGD, Adam, Learner, Network, Softmax

CLASSES = 7
UNITS = (8, 16, 32, 64, 128)
RATES = {"sgd": 0.1, "adam": 0.01}


def stream(steps: int) -> tuple[np.ndarray, np.ndarray]:
    """One-hot inputs (steps, 7) and the classes that follow (steps, 1)."""
    symbols = np.random.default_rng(0).integers(0, CLASSES, steps + 1)
    return np.eye(CLASSES)[symbols[:-1]], symbols[1:, None].astype(float)


def best(act: Callable[[], Any], steps: int, seconds: float) -> float:
    """Nanoseconds a step of the fastest of as many goes as fit, after one that is not counted."""
    act()
    fastest, end = float("inf"), time.perf_counter() + seconds
    while fastest == float("inf") or time.perf_counter() < end:
        start = time.thread_time_ns()
        act()
        fastest = min(fastest, (time.thread_time_ns() - start) / steps)
    return fastest


def ours(units: int, optimiser: str) -> Learner:
    """The learner under test."""
    rule = SGD(RATES["sgd"]) if optimiser == "sgd" else Adam(RATES["adam"])
    return Learner(Network(CLASSES, CLASSES, units=units), Softmax(), rule)


def run_ns(units: int, optimiser: str, seconds: float) -> float:
    """A stream handed over whole."""
    learner, (xs, targets) = ours(units, optimiser), stream(4000)
    return best(lambda: learner.run(xs, targets), len(xs), seconds)


def call_ns(units: int, optimiser: str, seconds: float) -> float:
    """Two calls a step."""
    learner, (xs, targets) = ours(units, optimiser), stream(1000)
    pairs = list(zip(xs, targets, strict=True))

    def act() -> None:
        for x, target in pairs:
            learner.predict(x)
            learner.learn(x, target)

    return best(act, len(xs), seconds)


def numpy_ns(units: int, optimiser: str, seconds: float) -> float:
    """The plain NumPy loops."""
    learner, (xs, targets) = ours(units, optimiser), stream(50)
    engine = ReferenceEngine(learner._online, learner.state)
    return best(lambda: engine.run(xs, targets), len(xs), seconds)


def torch_ns(units: int, optimiser: str, seconds: float) -> float:
    """LSTMCell, linear readout, cross-entropy, backward through the step, optimiser."""
    torch.manual_seed(0)
    cell, readout = torch.nn.LSTMCell(CLASSES, units), torch.nn.Linear(units, CLASSES)
    weights = [*cell.parameters(), *readout.parameters()]
    kind = torch.optim.SGD if optimiser == "sgd" else torch.optim.Adam
    rule = kind(weights, lr=RATES[optimiser])
    xs, targets = stream(100)
    inputs = torch.tensor(xs, dtype=torch.float32)[:, None]
    classes = torch.tensor(targets[:, 0], dtype=torch.long)[:, None]

    def act() -> None:
        h, c = torch.zeros(1, units), torch.zeros(1, units)
        for x, target in zip(inputs, classes, strict=True):
            h, c = cell(x, (h.detach(), c.detach()))
            rule.zero_grad()
            torch.nn.functional.cross_entropy(readout(h), target).backward()
            rule.step()

    return best(act, len(xs), seconds)


def rows(seconds: float) -> Iterator[dict[str, Any]]:
    """One row for every size, optimiser and mode."""
    for optimiser in RATES:
        for units in UNITS:
            beside = {
                "torch_ns": torch_ns(units, optimiser, seconds),
                "numpy_ns": numpy_ns(units, optimiser, seconds),
            }
            for mode, measure in (("run", run_ns), ("call", call_ns)):
                ns = measure(units, optimiser, seconds)
                yield {"units": units, "optimiser": optimiser, "mode": mode, "ns": ns, **beside}


@click.command(help=__doc__)
@click.option("--seconds", default=1.0, show_default=True, help="Time for every measurement.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def main(seconds: float, as_json: bool) -> None:
    torch.set_num_threads(1)
    measured = list(rows(seconds))
    about = {"cpu": host().identity, "machine": platform.machine(), "torch": torch.__version__}
    if as_json:
        click.echo(json.dumps({**about, "rows": measured}))
        return
    click.echo("  ".join(f"{key} {value}" for key, value in about.items()))
    click.echo("optimiser  units  mode       ns  torch ns  times  NumPy ns  times")
    for row in measured:
        times = {k: row[f"{k}_ns"] / row["ns"] for k in ("torch", "numpy")}
        click.echo(
            f"{row['optimiser']:9}  {row['units']:5}  {row['mode']:4}  {row['ns']:7.0f}  "
            f"{row['torch_ns']:8.0f}  {times['torch']:5.0f}  "
            f"{row['numpy_ns']:8.0f}  {times['numpy']:5.0f}"
        )


if __name__ == "__main__":
    main()
