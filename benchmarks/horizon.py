"""How good is a path of many steps, and do its intervals hold at every step of it?

At every row of a stream the forecaster gives the path of the coming 24 steps (12 for months),
before it sees any of them. Scored are, after the first 10 % of the grid, all rows that have a
value, at every lead: mean absolute error, and the share of values inside the 90 % interval. Beside
it the last value, the value of a week before (a year for months), and the forecaster's own one-step
model taken for what came, step after step.

    TIDEGATE_DATA=folder python benchmarks/horizon.py
    python benchmarks/horizon.py --stream i94 --rows 6000 --units 0 --json rows.json
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate import Forecaster
from tidegate._core.errors import MissingExtraError
from tidegate.datasets import load
from tidegate.forecast.horizon import iterated
from tidegate.streams import parse_time

Floats = NDArray[np.float64]

STREAMS = {"taxi": 24, "i94": 24, "chicago": 24, "sunspots": 12}
WEEK = 604_800.0
LEVEL = 0.9
SHOWN = (1, 2, 3, 6, 12, 24)
OURS, ITERATED, LAST, AGO = "tidegate", "iterated only", "persistence", "week ago"


@dataclass(frozen=True)
class Paths:
    """What was said at every row of the coming ones.

    Attributes:
        values: (row); NaN where missing.
        said: method -> (row, lead): entry [t, k] was said of row t before rows t-k..t came, so
            that its lead is k + 1.
        low, high: (row, lead) of ours.
    """

    values: Floats
    said: dict[str, Floats]
    low: Floats
    high: Floats


def paths(stream: str, rows: int | None, units: int, seed: int) -> Paths:
    """One pass over a stream."""
    data, steps = load(stream), STREAMS[stream]
    read = list(data.rows())[:rows]
    values = np.array([row.values[0] for row in read])
    back = round(WEEK / data.step) if data.step < WEEK else 12
    found = Paths(
        values,
        {name: np.full((len(read), steps), nan) for name in (OURS, ITERATED, LAST, AGO)},
        *(np.full((len(read), steps), nan) for _ in range(2)),
    )
    forecaster = Forecaster(horizon=steps, levels=(LEVEL,), units=units, seed=seed)
    last = nan
    for n, row in enumerate(read):
        forecaster.learn(float(row.values[0]), time=parse_time(row.time or ""))
        last = last if np.isnan(row.values[0]) else float(row.values[0])
        _ask(found, n, forecaster, last, back)
    return found


def _ask(found: Paths, n: int, forecaster: Forecaster, last: float, back: int) -> None:
    """Write down what is said after row n of the rows that come."""
    steps = found.low.shape[1]
    own = iterated(forecaster.core, [p for _, p in forecaster.timeline.coming_places(steps)])
    ahead = forecaster.forecast(steps)[: len(found.values) - n - 1]
    for k, said in enumerate(ahead):
        at = (n + 1 + k, k)
        found.said[OURS][at], found.said[ITERATED][at] = said.value, own[k]
        found.low[at], found.high[at] = said.intervals.get(LEVEL, (nan, nan))
        ago = found.values[n + 1 + k - back] if n + 1 + k >= back else nan
        found.said[LAST][at], found.said[AGO][at] = last, last if np.isnan(ago) else ago


def scored(stream: str, found: Paths) -> list[dict[str, Any]]:
    """For every method and lead the error, and for ours the coverage."""
    late = np.arange(len(found.values)) >= len(found.values) // 10
    rows = []
    for name, said in found.said.items():
        for k in range(said.shape[1]):
            known = late & np.isfinite(found.values) & np.isfinite(found.said[OURS][:, k])
            errors = np.abs(found.values - said[:, k])[known]
            inside = (found.values >= found.low[:, k]) & (found.values <= found.high[:, k])
            row = {"stream": stream, "method": name, "lead": k + 1, "mae": float(errors.mean())}
            if name == OURS:
                given = known & np.isfinite(found.low[:, k])
                row["coverage"] = float(inside[given].mean())
                row["interval_score"] = _interval_score(found, k, given)
            rows.append(row)
    return rows


def _interval_score(found: Paths, k: int, given: NDArray[np.bool_]) -> float:
    """Mean of width + 20 (distance outside), in units of the target."""
    value, low, high = (part[given] for part in (found.values, found.low[:, k], found.high[:, k]))
    outside = np.maximum(low - value, 0) + np.maximum(value - high, 0)
    return float((high - low + 2 / (1 - LEVEL) * outside).mean())


def show(stream: str, rows: list[dict[str, Any]]) -> None:
    """A line for every method: its errors at some leads and over all, and the coverage of ours."""
    for name in (OURS, ITERATED, LAST, AGO):
        mine = [row for row in rows if row["method"] == name]
        cells = [f"{row['lead']}: {row['mae']:.4g}" for row in mine if row["lead"] in SHOWN]
        mean = np.mean([row["mae"] for row in mine])
        print(f"{stream:10} {name:14} {'  '.join(cells)}  all: {mean:.4g}", flush=True)
    shares = [row["coverage"] for row in rows if row["method"] == OURS]
    score = np.mean([row["interval_score"] for row in rows if row["method"] == OURS])
    held = f"coverage from {min(shares):.3f} to {max(shares):.3f}"
    print(f"{stream:10} {held}  interval score {score:.4g}", flush=True)


def main() -> int:
    """Print the tables, and write the rows where asked."""
    options = _options()
    rows: list[dict[str, Any]] = []
    for stream in options.stream or STREAMS:
        try:
            found = scored(stream, paths(stream, options.rows, options.units, options.seed))
        except MissingExtraError as error:
            print(f"{stream}: left out. {error}", file=sys.stderr)
            continue
        show(stream, found)
        rows += found
        if options.json:
            Path(options.json).write_text(json.dumps({"rows": rows}, indent=1), encoding="utf-8")
    return 0 if rows else 2


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--stream", action="append", choices=STREAMS, help="may be repeated")
    parser.add_argument("--rows", type=int, metavar="N", help="first rows of a stream, at most")
    parser.add_argument("--units", type=int, default=32, help="of every gated expert")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", metavar="FILE", help="where rows go")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
