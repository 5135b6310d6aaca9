"""Is the forecaster better, on any real stream, than what one would pick instead?

Nine public streams, one pass: every row is predicted, then learned. The same rows are scored for
all methods: those with a value, after the first 10 % of the grid. Medians over the seeds. A stream
or method whose package is missing is named, and left out.

    python benchmarks/forecast.py                      # ours, simple forecasts, RLS
    python benchmarks/forecast.py --method boosting --stream taxi --json rows.json
    python benchmarks/forecast.py --only --method river-arf --rows 30000 --json slow.json
    python benchmarks/forecast.py --page docs/bench.md --read rows.json slow.json
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
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
    if options.page:
        rows = [row for name in options.read for row in _read(name)]
        write_table(Path(options.page), options.table, rows)
        return 0
    rows = []
    for stream in options.stream or STREAMS:
        try:
            rows += _stream_rows(stream, options.method, options.seeds, options.rows)
        except MissingExtraError as error:
            print(f"{stream}: left out. {error}", file=sys.stderr)
        if options.json:  # as far as it has come: the whole takes long
            Path(options.json).write_text(json.dumps({"rows": rows}, indent=1), encoding="utf-8")
    return 0 if rows else 2


def _read(name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(Path(name).read_text(encoding="utf-8"))["rows"]
    return rows


def _stream_rows(
    stream: str, methods: list[str], seeds: list[int], most: int | None
) -> list[dict[str, Any]]:
    data, persistence = load(stream), None
    read = list(data.rows())[:most]
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
    counts = {"scored": scores[0].scored, "silent": scores[0].silent, "seeds": len(scores)}
    return {"stream": stream, "method": name, "skill_persistence": skill, **row, **counts}


def _show(row: dict[str, Any]) -> None:
    print(
        f"{row['stream']:10} {row['method']:16} mae {row['mae']:<9.5g} "
        f"skill {row['skill_persistence']:6.4g}  coverage {row['coverage']:.4f} "
        f"worst {row['worst_window']:.3f}  score {row['interval_score'] / row['plain_score']:.3f} "
        f"of plain  {row['us_per_step']:.0f} us",
        flush=True,
    )


def write_table(page: Path, name: str, rows: list[dict[str, Any]]) -> None:
    """Put the mean absolute errors, method by stream, between the two marks of a page."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    known = {(row["stream"], row["method"]): row for row in rows}
    streams = [stream for stream in STREAMS if any(stream == found for found, _ in known)]
    methods = [name for name in METHODS if any(name == found for _, found in known)]
    head = ["method", *streams, "us/row"]
    lines = [f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}"]
    for method in methods:
        mine = [known.get((stream, method)) for stream in streams]
        best = [min(r["mae"] for (s, _), r in known.items() if s == stream) for stream in streams]
        cells = [_cell(row, least) for row, least in zip(mine, best, strict=True)]
        spent = f"{median(row['us_per_step'] for row in mine if row):,.0f}"
        lines.append(f"| `{method}` | {' | '.join(cells)} | {spent} |")
    scored = {stream: known[stream, "persistence"]["scored"] for stream in streams}
    lines.append(f"| rows scored | {' | '.join(f'{n:,}' for n in scored.values())} | |")
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(begin)
    table = "\n".join([begin, *lines, end])
    page.write_text(f"{before}{table}{rest.split(end)[1]}", encoding="utf-8")


def _cell(row: dict[str, Any] | None, least: float) -> str:
    if row is None:
        return ""
    text = f"{row['mae']:.4g}"
    return f"**{text}**" if row["mae"] == least else text


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--stream", action="append", choices=STREAMS, help="may be repeated")
    parser.add_argument("--method", action="append", choices=list(METHODS), help="may be repeated")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
    parser.add_argument("--only", action="store_true", help="the methods named, and persistence")
    parser.add_argument("--rows", type=int, metavar="N", help="first rows of a stream, at most")
    parser.add_argument("--json", metavar="FILE", help="where rows go")
    parser.add_argument("--page", metavar="FILE", help="write the table of --read into this page")
    parser.add_argument("--table", default="table", metavar="NAME", help="between which marks")
    parser.add_argument("--read", metavar="FILE", nargs="+", default=[], help="rows of former runs")
    options = parser.parse_args()
    options.method = [*(() if options.only else QUICK), *(options.method or [])]
    options.method = list(dict.fromkeys(options.method))
    return options


if __name__ == "__main__":
    sys.exit(main())
