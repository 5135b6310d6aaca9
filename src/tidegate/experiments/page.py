"""The page of an experiment, as Markdown, written by the run itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tidegate.experiments.base import Experiment, Figure, Trial
from tidegate.experiments.drawing import Curve, chart
from tidegate.experiments.keeping import Job
from tidegate.experiments.table import Line, columns, remarks

__all__ = ["page", "write_page"]


def write_page(
    path: Path,
    experiment: Experiment,
    found: Sequence[Line],
    trials: Mapping[Job, Trial],
    seed: int,
) -> None:
    """Write the page, and its figures as SVG files beside it.

    Args:
        path: of the page; its folder is made where it is missing.
        experiment: what it is about.
        found: the table's lines.
        trials: all trials, for the learning curves.
        seed: of the net that the figures show.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    figures = [*_learning_curves(found, trials), *experiment.figures(seed)]
    for figure in figures:
        beside = path.with_name(f"{path.stem}-{figure.name}.svg")
        beside.write_text(figure.svg + "\n", encoding="utf-8")
    path.write_text(page(experiment, found, trials, figures, path.stem), encoding="utf-8")


def page(
    experiment: Experiment,
    found: Sequence[Line],
    trials: Mapping[Job, Trial],
    figures: Sequence[Figure],
    stem: str,
) -> str:
    """The text of the page; figures are linked as ``stem-name.svg``."""
    seeds = sorted({job.seed for job in trials})
    budgets = sorted({job.budget for job in trials})
    asked = f"Budget {', '.join(f'{b:,}' for b in budgets)} {experiment.unit}"
    parts = [
        f"# {experiment.title}".replace("*", r"\*"),
        f"`tidegate reproduce {experiment.name}`. Source: {experiment.source}.",
        f"```\n{experiment.picture}\n```" if experiment.picture else "",
        f"## Protocol\n\n{experiment.protocol}",
        f"Solved: {experiment.criterion}.",
        f"{asked} a trial; {len(seeds)} seeds, {seeds[0]} to {seeds[-1]}." if seeds else "",
        f"## Results\n\n{_table(experiment, found)}",
        *remarks(experiment, found, min(budgets, default=experiment.budget)),
        *(f"![{f.caption}]({stem}-{f.name}.svg)\n\n{f.caption}" for f in figures),
        f"## What did not reproduce, and what is wanting\n\n{_wanting(experiment, found)}",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(experiment: Experiment, found: Sequence[Line]) -> str:
    heads, *lines = columns(experiment, found)
    rows = [heads, ["---"] * len(heads), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _wanting(experiment: Experiment, found: Sequence[Line]) -> str:
    notes = dict.fromkeys(line.row.note for line in found if line.row.note)
    listed = [f"- {note}" for note in notes if note not in experiment.wanting]
    nothing = "Every row that has a published figure agrees with it."
    if not any(line.row.published for line in found):
        nothing = "No figures were published that the rows could be held against."
    return "\n".join([experiment.wanting or ("" if listed else nothing), "", *listed]).strip()


def _learning_curves(found: Sequence[Line], trials: Mapping[Job, Trial]) -> list[Figure]:
    """The share of trials solved against the symbols learned, a curve for every row."""
    end = np.log10(max((trial.symbols for trial in trials.values() if trial.solved), default=1))
    curves = []
    for line in found:
        own = [trial for job, trial in trials.items() if job.row == line.row.name]
        solved = np.sort([trial.symbols for trial in own if trial.solved]).astype(np.float64)
        if solved.size:
            at = np.append(np.log10(np.maximum(np.repeat(solved, 2), 1.0)), end)
            steps = np.repeat(np.arange(len(solved) + 1) / len(own), 2)[1:]
            curves.append(Curve(line.row.name, at, steps))
    if not curves:
        return []
    start = min(float(curve.x[0]) for curve in curves)
    powers = np.arange(np.ceil(start), np.floor(end) + 1).tolist()
    if len(powers) < 2:
        powers = [start, float(end)]
    ticks = [(power, f"{10**power:,.0f}") for power in powers]
    svg = chart(curves, "symbols learned", "share of trials solved", powers, ticks, top=1.0)
    return [Figure("learning", "Share of trials solved against symbols learned.", svg)]
