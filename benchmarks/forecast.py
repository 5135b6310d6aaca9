"""Is the forecaster better, on any real stream, than what one would pick instead?

Nine public streams, one pass: every row is predicted, then learned. The same rows are scored for
all methods: those with a value, after the first 10 % of the grid. Medians over the seeds. A stream
or method whose package is missing is named, and left out.

    python benchmarks/forecast.py                      # ours, simple forecasts, RLS
    python benchmarks/forecast.py --method boosting --stream taxi --json rows.json
"""

from __future__ import annotations

import argparse
import json
import sys
from statistics import median
from typing import Any

from tidegate._core.errors import MissingExtraError
from tidegate.bench import METHODS, Score, compare, made
from tidegate.bench.methods import QUICK
from tidegate.datasets import load
from tidegate.streams import parse_time

STREAMS = "taxi i94 victoria pm25 chicago calls machine household sunspots".split()
SEEDS = (0, 1, 2)


def main() -> int:
    """Print the table, and write the rows where asked."""
    options = _options()
    rows: list[dict[str, Any]] = []
    for stream in options.stream or STREAMS:
        try:
            rows += _stream_rows(stream, options.method, options.seeds)
        except MissingExtraError as error:
            print(f"{stream}: left out. {error}", file=sys.stderr)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"rows": rows}, file, indent=1)
    return 0 if rows else 2


def _stream_rows(stream: str, methods: list[str], seeds: list[int]) -> list[dict[str, Any]]:
    data, persistence = load(stream), None
    read = list(data.rows())
    times = [parse_time(row.time or "") for row in read]
    values = [float(row.values[0]) for row in read]
    rows = []
    for name in ["persistence", *(m for m in methods if m != "persistence")]:
        try:
            scores = _scores(name, data.step, times, values, seeds)
        except MissingExtraError as error:
            print(f"{name}: left out. {error}", file=sys.stderr)
            continue
        row = _row(stream, name, scores, persistence)
        persistence = persistence or row["mae"]
        rows.append(row)
        _show(row)
    return rows


def _scores(
    name: str, step: float, times: list[float], values: list[float], seeds: list[int]
) -> list[Score]:
    first = len(values) // 10
    needed = seeds if METHODS[name].seeded else seeds[:1]
    return [compare(made(name, step, seed), times, values, first) for seed in needed]


def _row(stream: str, name: str, scores: list[Score], persistence: float | None) -> dict[str, Any]:
    fields = ("mae", "coverage", "worst_window", "interval_score", "plain_score", "us_per_step")
    row: dict[str, Any] = {f: median(getattr(score, f) for score in scores) for f in fields}
    skill = 0.0 if persistence is None else 1 - row["mae"] / persistence
    return {"stream": stream, "method": name, "skill_persistence": skill, **row,
            "scored": scores[0].scored, "seeds": len(scores)}  # fmt: skip


def _show(row: dict[str, Any]) -> None:
    print(
        f"{row['stream']:10} {row['method']:16} mae {row['mae']:<9.5g} "
        f"skill {row['skill_persistence']:6.3f}  coverage {row['coverage']:.4f} "
        f"worst {row['worst_window']:.3f}  score {row['interval_score'] / row['plain_score']:.3f} "
        f"of plain  {row['us_per_step']:.0f} us",
        flush=True,
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--stream", action="append", choices=STREAMS, help="may be repeated")
    parser.add_argument("--method", action="append", choices=list(METHODS), help="may be repeated")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
    parser.add_argument("--json", metavar="FILE", help="where rows go")
    options = parser.parse_args()
    options.method = [*QUICK, *(options.method or [])]
    options.method = list(dict.fromkeys(options.method))
    return options


if __name__ == "__main__":
    sys.exit(main())
