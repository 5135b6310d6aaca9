"""What ``tidegate reproduce`` does: which trials are wanted, how they go, what they came to."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from tidegate._core.errors import UsageError
from tidegate.experiments import Experiment, Job, Kept, Line, Trial, experiments, named, run
from tidegate.experiments.page import write_page
from tidegate.experiments.table import columns, lines, remarks, table_json, unmet

UNMET = 5  #: exit code where a claim that should hold does not


@dataclass(frozen=True)
class Wish:
    """The options of the command as they were given; None where the experiment decides."""

    name: str
    rows: tuple[str, ...]
    trials: int | None
    seed: int
    budget: int | None
    quick: bool
    processes: int | None
    save: str | None
    kept: bool
    page: str | None
    format: str


def listed() -> str:
    """Every experiment: its name, what it is, and what a budget counts.

    >>> "cerg" in listed()
    True
    """
    found = experiments()
    width = max(map(len, found))
    return "\n".join(
        f"{name:{width}}  {e.title} ({e.trials} trials of {e.budget:,} {e.unit})"
        for name, e in found.items()
    )


def reproduced(wish: Wish) -> int:
    """Run what is wished and print the table; the exit code."""
    experiment = named(wish.name)
    trials, budget = _size(wish, experiment)
    folder = Path(wish.save or Path("results") / wish.name)
    if wish.kept:
        finished = _kept(wish, experiment, budget, folder)
    else:
        jobs = _jobs(wish, experiment, trials, budget)
        finished = _resumable(experiment, jobs, folder, wish.processes or os.cpu_count() or 1)
    found = lines(experiment, finished, shortened=budget < experiment.budget)
    if wish.page:
        write_page(Path(wish.page), experiment, found, finished, wish.seed)
    if wish.format == "json":
        click.echo(json.dumps(table_json(experiment, found)))
    else:
        _print(experiment, found, budget)
    failed = unmet(found)
    if failed:
        click.echo(f"Should hold and does not: {', '.join(failed)}", err=True)
    return UNMET if failed else 0


def _size(wish: Wish, experiment: Experiment) -> tuple[int, int]:
    """Trials of a row and the budget of each."""
    trials, budget = experiment.trials, experiment.budget
    if wish.quick:
        trials, budget = experiment.quick
    return wish.trials or trials, wish.budget or budget


def _jobs(wish: Wish, experiment: Experiment, trials: int, budget: int) -> list[Job]:
    """All rows of the first seed, then of the next: a run that is broken off has some of each."""
    wanted = _rows(wish, experiment)
    seeds = range(wish.seed, wish.seed + trials)
    return [Job(row, seed, budget) for seed in seeds for row in wanted]


def _rows(wish: Wish, experiment: Experiment) -> list[str]:
    """The rows that are wished for; all where none is named."""
    known = [row.name for row in experiment.rows()]
    for row in wish.rows:
        if row not in known:
            raise UsageError("--row", f"one of {', '.join(known)}", repr(row), "Copy its name.")
    return [row for row in known if not wish.rows or row in wish.rows]


def _kept(wish: Wish, experiment: Experiment, budget: int, folder: Path) -> dict[Job, Trial]:
    """The finished trials of the rows that are wished for, from any seed, by this budget."""
    rows = _rows(wish, experiment)
    found = Kept(folder, experiment).trials if folder.is_dir() else {}
    trials = {job: t for job, t in found.items() if job.row in rows and job.budget == budget}
    if not trials:
        expected = f"trials of {wish.name} by {budget:,} {experiment.unit}"
        raise UsageError("--kept", expected, f"none in {folder}", "Run it first, without --kept.")
    return trials


def _resumable(
    experiment: Experiment, jobs: list[Job], folder: Path, processes: int
) -> dict[Job, Trial]:
    try:
        return _watched(experiment, jobs, folder, processes)
    except KeyboardInterrupt:
        click.echo(f"Stopped. {folder} keeps what is finished; the same command goes on.", err=True)
        raise


def _watched(
    experiment: Experiment, jobs: list[Job], folder: Path, processes: int
) -> dict[Job, Trial]:
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns, TimeElapsedColumn(), console=console, disable=not console.is_terminal
    ) as progress:
        bar = progress.add_task(experiment.name, total=len(jobs))

        def heard(job: Job, trial: Trial) -> None:
            progress.advance(bar)
            if not console.is_terminal:
                what = "solved" if trial.solved else "not solved"
                where = "" if trial.streams is None else f" in {trial.streams:,} streams"
                click.echo(
                    f"{job.row} seed {job.seed}: {what}, {trial.symbols:,} symbols{where}", err=True
                )

        return run(experiment, jobs, folder, processes, heard)


def _print(experiment: Experiment, found: list[Line], budget: int) -> None:
    table = Table(title=f"{experiment.title}; {budget:,} {experiment.unit}", title_justify="left")
    heads, *rows = columns(experiment, found)
    for head in heads:
        table.add_column(head)
    for row in rows:
        table.add_row(*row)
    Console(file=sys.stdout, width=None if sys.stdout.isatty() else 200).print(table)
    for note in dict.fromkeys(line.row.note for line in found if line.row.note):
        whose = [line.row.name for line in found if line.row.note == note]
        click.echo(f"{', '.join(whose)}: {note}")
    for remark in remarks(experiment, found, budget):
        click.echo(remark)
