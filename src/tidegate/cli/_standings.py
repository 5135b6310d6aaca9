"""How methods compare, as a table or as JSON; and which did not take part."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table

from tidegate.bench import METHODS, Comparison, standings

HEADS = ("method", "MAE", "skill", "coverage", "worst 500", "interval score", "us/row")
LEGEND = """\
skill: the share of persistence's error that is saved. coverage: of 90 % intervals, over all rows
and in the worst 500. interval score: width, plus 20 times what fell outside, in units of the
target as MAE is. Intervals of the others are quantiles of their last 500 errors. us/row: processor
time."""


def show(comparison: Comparison, format_name: str) -> None:
    """Prints what has come of a comparison so far to standard output."""
    if format_name == "json":
        click.echo(json.dumps(_as_json(comparison)))
        return
    series, rows = comparison.series, standings(comparison.lines)
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else 120, highlight=False)
    console.print(_table(rows), markup=False)
    scored = max(row["scored"] for row in rows)
    click.echo(f"{series.name}: {scored:,} rows scored, after the first {series.first:,}")
    for row in rows:
        if row["silent"]:
            said = f"{row['method']} said nothing at {row['silent']:,} of them"
            click.echo(f"{said}; there the last value stands in")
    click.echo(LEGEND)


def _as_json(comparison: Comparison) -> dict[str, Any]:
    series = comparison.series
    found = {"stream": series.name, "rows": len(series.values), "warmup": series.first}
    absent = [
        {"method": name, "package": one.package, "install": f"pip install {one.package}"}
        for name, one in METHODS.items()
        if not one.here
    ]
    rows = [
        {key: _finite(value) for key, value in row.items()} for row in standings(comparison.lines)
    ]
    return {"schema": 1, **found, "step": series.step, "methods": rows, "failed": comparison.failed,
            "absent": absent}  # fmt: skip


def _finite(value: Any) -> Any:
    """JSON knows no NaN."""
    return None if isinstance(value, float) and not isfinite(value) else value


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in HEADS:
        table.add_column(head, justify="left" if head == "method" else "right", no_wrap=True)
    for row in rows:
        skill = row["skill_persistence"]
        table.add_row(
            row["method"], f"{row['mae']:.5g}", "" if skill is None else f"{skill:.3f}",
            f"{row['coverage']:.3f}", f"{row['worst_window']:.3f}",
            f"{row['interval_score']:.5g}", f"{row['us_per_step']:,.0f}",
        )  # fmt: skip
    return table


def tell_absent() -> None:
    """Which methods did not take part, and what would let them."""
    packages: dict[str, list[str]] = {}
    for name, one in METHODS.items():
        if one.package is not None and not one.here:
            packages.setdefault(one.package, []).append(name)
    for package, names in packages.items():
        click.echo(f"Absent: {', '.join(names)}. They need: pip install {package}", err=True)
    slow = [name for name, one in METHODS.items() if one.here and one.slow]
    if slow:
        click.echo(f"Slow, only where asked for with --method: {', '.join(slow)}.", err=True)
