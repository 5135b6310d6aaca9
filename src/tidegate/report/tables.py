"""A study as text for a terminal, as JSON and as CSV."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from tidegate.report.facts import expert_rows, facts, network_rows, sentences, unit_rows
from tidegate.report.study import Study

__all__ = ["csv_text", "json_text", "plain_text"]

SHOWN_EVENTS = 20


def json_text(study: Study) -> str:
    """One object with everything found.

    >>> import numpy as np
    >>> from tidegate._core.trace import Trace
    >>> study = Study("demo", Trace({"c": np.full((50, 1, 2), np.log(0.5))}))
    >>> json.loads(json_text(study))["units"][1]["between_events"]
    1.0
    """
    return json.dumps(facts(study), indent=2, allow_nan=False) + "\n"


def csv_text(study: Study) -> str:
    """One row a unit: half-lives in steps, the pattern of its use, shares of closed and open gates.

    Where no network was recorded, one row an expert: what it weighed.

    >>> import numpy as np
    >>> from tidegate._core.trace import Trace
    >>> study = Study("demo", Trace({"c": np.full((50, 1, 2), np.log(0.5))}))
    >>> print(csv_text(study), end="")
    unit,between_events,effective,least_kept
    0,1.0,1.0,0.5
    1,1.0,1.0,0.5
    """
    rows = unit_rows(study) if study.recorded else expert_rows(study)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def plain_text(study: Study) -> str:
    """The findings as sentences, the units as a table, the first events.

    >>> import numpy as np
    >>> from tidegate._core.trace import Trace
    >>> study = Study("demo", Trace({"c": np.full((50, 1, 2), np.log(0.5))}))
    >>> print(plain_text(study).splitlines()[1])
    2 units, 50 steps: 0 to 49.
    """
    parts = [study.title, *sentences(study)]
    if study.networks:
        parts += ["", *_networks(study)]
    if study.recorded:
        parts += ["", *_units(study)]
    if study.events:
        parts += ["", "forget events (step: score, standard deviations above its mean)"]
        parts += [f"  {e.step}: {e.score:.2f}, {e.excess:.1f}" for e in study.events[:SHOWN_EVENTS]]
        if len(study.events) > SHOWN_EVENTS:
            parts.append(f"  and {len(study.events) - SHOWN_EVENTS} more: --format json has all")
    return "\n".join(parts) + "\n"


def _networks(study: Study) -> list[str]:
    heading = f"{'network':<14}{'weight':>7}  {'half-life between events':>24}"
    lines = [f"{heading}  {'effective':>12}  longest"]
    for row in network_rows(study):
        between, effective, longest = (
            _steps(row[name]) for name in ("between_events", "effective", "longest")
        )
        name, weight = row["network"], row["weight"]
        lines.append(f"{name:<14}{weight:>7.3f}  {between:>24}  {effective:>12}  {longest}")
    return lines


def _units(study: Study) -> list[str]:
    lines = [f"{'unit':>5}  {'half-life between events':>24}  {'effective':>12}  pattern"]
    for row in unit_rows(study):
        between, effective = (_steps(row[name]) for name in ("between_events", "effective"))
        lines.append(
            f"{row['unit']:>5}  {between:>24}  {effective:>12}  {row.get('evidence', '')}".rstrip()
        )
    return lines


def _steps(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.4g} steps"
