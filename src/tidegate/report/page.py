"""One HTML page with everything in it: no file beside it, nothing fetched from a network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from tidegate._core.version import __version__
from tidegate.report.equations import Equation, cell_of, equations
from tidegate.report.facts import alignment_facts, network_rows, sentences, unit_rows
from tidegate.report.payload import payload
from tidegate.report.study import Study

__all__ = ["html_page"]

ASSETS = files("tidegate.report") / "assets"
SCRIPTS = (
    "numbers.js", "tables.js", "charts.js", "memory.js", "gate_map.js", "cell_view.js",
    "stream_views.js", "category_views.js", "half_life_view.js", "views.js", "report.js",
)  # fmt: skip

HEADINGS = {
    "between_events": "half-life between events, steps",
    "effective": "effective half-life, steps",
    "least_kept": "least kept in a step",
    "evidence": "use of the memory",
}


NETWORK_HEADINGS = {
    "network": "network",
    "weight": "weight in the forecast",
    "between_events": "half-life between events",
    "effective": "effective half-life",
    "longest": "longest half-life",
}


def html_page(study: Study) -> str:
    """The page of a study.

    >>> import numpy as np
    >>> from tidegate._core.trace import Trace
    >>> kept = np.full((300, 1, 2), np.log(0.9))
    >>> page = html_page(Study("demo", Trace({"c": kept}, {"c": np.zeros(kept.shape)})))
    >>> page.startswith("<!DOCTYPE html>"), "://" in page
    (True, False)
    """
    return Template(_asset("page.html")).substitute(
        title=escape(study.title),
        version=__version__,
        styles=_asset("uplot/uPlot.min.css") + _asset("page.css"),
        findings="".join(f"<li>{escape(line)}</li>" for line in sentences(study)),
        alignment=_alignment(study),
        equations=_equations(study),
        networks=_networks(study),
        units=_units(study),
        alarms=_alarms(study),
        # "</" would end the script that holds it.
        data=json.dumps(payload(study), allow_nan=False).replace("</", "<\\/"),
        scripts=_scripts(),
    )


def _scripts() -> str:
    library = _asset("uplot/uPlot.iife.min.js")
    # The first line of the library is an address; the licence says what it says, and more.
    library = f"/*!\n{_asset('uplot/LICENSE')}*/\n{library.partition('*/')[2]}"
    return "\n".join(f"<script>{s}</script>" for s in (library, *map(_asset, SCRIPTS)))


def _asset(name: str) -> str:
    return ASSETS.joinpath(name).read_text(encoding="utf-8")


def _alignment(study: Study) -> str:
    found = alignment_facts(study)
    if found is None:
        return (
            "<p>No borders were given, or none can be met: --borders FILE compares with some.</p>"
        )
    rows = [
        ["events", len(study.events)],
        ["borders", len(study.borders)],
        ["met within, steps", found["within"]],
        ["precision", found["precision"]],
        ["recall", found["recall"]],
        ["F1", found["f1"]],
        ["F1 with borders shifted, mean", found["shifted_f1"]],
        ["p-value", found["p_value"]],
    ]
    caption = (
        "Do events mark the borders? F1 beside that of the same borders shifted round the stream."
    )
    return _table(caption, ["", "value"], rows)


def _equations(study: Study) -> str:
    if not study.recorded:
        return ""
    cell = cell_of(study.trace.meta.cell)
    if cell is None:
        return "<p>The equations of a cell that is not Tidegate's own are not known here.</p>"
    return "".join(map(_equation, equations(cell, study.trace)))


def _equation(equation: Equation) -> str:
    numbers = f"<math><mo>=</mo>{equation.numbers}</math>" if equation.numbers else ""
    return f'<div class="equation"><math>{equation.symbols}</math><div>{numbers}</div></div>'


def _units(study: Study) -> str:
    rows = unit_rows(study)
    if not rows:
        return ""
    names = [name for name in rows[0] if name != "pattern"]
    headings = [HEADINGS.get(name) or _gate_heading(name) for name in names]
    return _table(
        "Closed: share of steps with |gate| below 0.1; open: above 0.9.",
        headings,
        [[row[name] for name in names] for row in rows],
    )


def _networks(study: Study) -> str:
    rows = network_rows(study)
    if not rows:
        return ""
    names = list(rows[0])
    table = _table(
        "Half-lives of the unit in the middle, in steps, and of the one that keeps longest. "
        f"“{study.looked_at}” is looked at below; --expert NAME takes another one.",
        [NETWORK_HEADINGS[name] for name in names],
        [[row[name] for name in names] for row in rows],
    )
    return f"<section><h2>How long each network remembers</h2>{table}</section>"


def _gate_heading(name: str) -> str:
    gate, _, end = name.rpartition("_")
    return f"{gate} {end}" if gate else name


def _alarms(study: Study) -> str:
    if not study.alarms:
        return ""
    found = "".join(
        f'<p class="alarm">Unit {study.units[a.unit]}: {escape(a.kind)}, steps '
        f"{study.start + a.first:,} to {study.start + a.last:,}"
        f"{' (healed)' if a.healed else ''}. {escape(a.advice)}</p>"
        for a in study.alarms[:50]
    )
    return f"<section><h2>Memories that cannot be used</h2>{found}</section>"


def _table(caption: str, headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    head = "".join(map(_heading, headings, rows[0]))
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def _heading(heading: str, below: Any) -> str:
    words = ' class="words"' if isinstance(below, str) else ""
    return f'<th scope="col"{words}>{escape(heading)}</th>'


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return f'<td class="words">{escape(value)}</td>'
    return f"<td>{value:,}</td>" if isinstance(value, int) else f"<td>{value:.3g}</td>"
