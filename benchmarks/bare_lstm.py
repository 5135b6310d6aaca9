"""What is a forget gate worth where nobody names the season?

Networks that see the level and the last change, and nothing else: LSTMs, the same with their forget
gate held at 1 (the cell of 1997), and gated layers without memory. A forecast is the mean of 16
networks that differ in their start weights; one LSTM alone is shown too. Beside them ridge
regression on the last eight values. One pass, predicted before learned, the same rows scored for
all: those with a value after the first 10 %. Medians over the seeds; the same settings for all
streams and networks, chosen for the LSTM on these streams.

    TIDEGATE_DATA=folder python benchmarks/bare_lstm.py
    python benchmarks/bare_lstm.py --stream i94 --seeds 0
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, nan
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate._core.errors import MissingExtraError
from tidegate.cells import LSTM, LSTM1997, Cell, Step, input
from tidegate.cells.functions import sigmoid, tanh
from tidegate.datasets import load
from tidegate.forecast.model.ridge import Ridge
from tidegate.forecast.model.scale import RunningScale
from tidegate.learn import Adam, Harmonic, Huber, Learner, Network

Floats = NDArray[np.float64]

STREAMS = "i94 victoria taxi calls machine".split()
SEEDS = (0, 1, 2)
NETWORKS, UNITS, START = 16, 48, 0.4
RATE, TAU, EPS, WIDTH = 0.01, 5e3, 1e-4, 1.0
CAP = 5.0  #: usual sizes at which inputs are cut
FAR = 30.0  #: usual changes that one counts for
SCALE_WINDOW, LEVEL_WINDOW = 500, 2_000
USUAL = 1.25  #: standard deviation of a normal number of mean absolute value 1
KEEP, RIDGE, LAGS = 0.9995, 1.0, 8


class GatedLayer(Cell):
    """The LSTM without its memory and without what was seen before: a gated feed-forward layer."""

    slots = {"i": input, "g": input, "o": input}
    memory = ("c",)

    def step(self, z: Any, past: Any, par: Any) -> Step:
        i, g, o = sigmoid(z.i), tanh(z.g), sigmoid(z.o)
        c = 0.0 * past.c + i * g
        return Step(h=o * tanh(c), c=c, gates={"i": i, "g": g, "o": o})


@dataclass(frozen=True)
class Seen:
    """A stream as its learners see it, every row by what was known before it.

    Attributes:
        values: (row); NaN where missing.
        last: (row) the value before.
        usual: (row) the usual change.
        inputs: (row, 2) the level and the last change, on the scale of 1.
    """

    values: Floats
    last: Floats
    usual: Floats
    inputs: Floats

    @property
    def changes(self) -> Floats:
        """(row) the targets: changes over usual ones; NaN where not known."""
        usual = np.where(self.usual > 0, self.usual, nan)
        return np.clip((self.values - self.last) / usual, -FAR, FAR)


def seen(values: list[float]) -> Seen:
    """Levels and changes by running means; a missing value is no change."""
    rows = len(values)
    known = Seen(np.array(values), np.full(rows, nan), np.zeros(rows), np.zeros((rows, 2)))
    change, deviation = RunningScale(SCALE_WINDOW), RunningScale(LEVEL_WINDOW)
    last, level, count, moved = nan, nan, 0, 0.0
    for n, value in enumerate(values):
        known.last[n], known.usual[n] = last, change.value
        if change.value > 0 and deviation.value > 0:
            known.inputs[n] = (last - level) / deviation.value, moved / change.value
        moved = value - last if isfinite(value) and isfinite(last) else 0.0
        if not isfinite(value):
            continue
        if count:
            change.update(moved)
            deviation.update(value - level)
        count += 1
        level = value if count == 1 else level + (value - level) / min(count, LEVEL_WINDOW)
        last = value
    known.inputs[:] = np.clip(known.inputs / USUAL, -CAP, CAP)
    return known


def networks(cell: Cell, count: int) -> Callable[[Seen, int], Floats]:
    """Forecasts (row) of the mean of so many networks of a cell."""

    def forecasts(stream: Seen, seed: int) -> Floats:
        said = np.zeros(len(stream.values))
        for k in range(count):
            learner = Learner(
                Network(2, 1, cell=cell, units=UNITS, scale=START),
                loss=Huber(WIDTH),
                optimiser=Adam(Harmonic(RATE, tau=TAU), eps=EPS),
                seed=1_000 * seed + k,
            )
            said += learner.run(stream.inputs, stream.changes)[:, 0] / count
        return stream.last + stream.usual * said

    return forecasts


def ridge(stream: Seen, seed: int) -> Floats:
    """Forecasts (row) of ridge regression on the last eight values; own forecasts fill holes."""
    expert, said = Ridge(LAGS, KEEP, RIDGE), np.full(len(stream.values), nan)
    past: list[float] = []
    for n, value in enumerate(stream.values.tolist()):
        usual = float(stream.usual[n])
        said[n] = stream.last[n]
        if len(past) == LAGS and usual > 0:
            x = np.array([1.0, *((older - past[0]) / usual for older in past[1:])])
            said[n] = past[0] + usual * expert.predict(x)
            if isfinite(value):
                expert.learn(x, min(max((value - past[0]) / usual, -FAR), FAR))
        stand_in = value if isfinite(value) else float(said[n])
        past = [stand_in, *past[: LAGS - 1]] if isfinite(stand_in) else past
    return said


METHODS: dict[str, Callable[[Seen, int], Floats]] = {
    "LSTM": networks(LSTM(), NETWORKS),
    "one LSTM": networks(LSTM(), 1),
    "f = 1": networks(LSTM1997(), NETWORKS),
    "gated layer": networks(GatedLayer(), NETWORKS),
    "ridge, 8 lags": ridge,
    "persistence": lambda stream, seed: stream.last,
}


def error(stream: Seen, said: Floats) -> float:
    """Mean absolute error after the first tenth."""
    apart = np.abs(stream.values - said)[len(said) // 10 :]
    return float(np.nanmean(apart))


def main() -> int:
    """Print the table, and write the rows where asked; the exit code tells whether it holds."""
    options = _options()
    rows, kept = [], True
    for name in options.stream or STREAMS:
        try:
            stream = seen([float(row.values[0]) for row in load(name).rows()])
        except MissingExtraError as missing:
            print(f"{name}: left out. {missing}", file=sys.stderr)
            continue
        maes = {
            method: median(error(stream, said(stream, seed)) for seed in options.seeds)
            for method, said in METHODS.items()
        }
        rows += [{"stream": name, "method": method, "mae": mae} for method, mae in maes.items()]
        others = [mae for method, mae in maes.items() if "LSTM" not in method]
        kept &= maes["LSTM"] < min(others)
        print(f"{name:10}", *(f"{method} {mae:.4g};" for method, mae in maes.items()), flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps({"rows": rows}, indent=1), encoding="utf-8")
    return 0 if kept and rows else 5


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--stream", action="append", choices=STREAMS, help="may be repeated")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
    parser.add_argument("--json", metavar="FILE", help="where rows go")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
