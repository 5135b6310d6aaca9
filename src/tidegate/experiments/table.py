"""The table of an experiment: our trials beside what was published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from tidegate.experiments.base import Experiment, Row, Trial
from tidegate.experiments.claims import FAILS, FEWEST, UNCLEAR, Nothing
from tidegate.experiments.keeping import Job
from tidegate.experiments.wilson import wilson

__all__ = ["Line", "columns", "lines", "remarks", "table_json", "unmet"]


@dataclass(frozen=True)
class Line:
    """A row with its trials summed up; medians are over the trials that solved it.

    >>> from tidegate.experiments import named
    >>> trials = {Job("forget", seed, 30_000): Trial(True, 700 + seed) for seed in range(3)}
    >>> (line,) = lines(named("cerg"), trials)
    >>> line.solved, line.median_symbols, line.verdict
    (3, 701, 'not comparable')
    """

    row: Row
    trials: int
    solved: int
    median_symbols: float | None
    max_symbols: int | None
    median_streams: float | None
    retest_perfect: int | None
    error_free_1e6: int | None
    measure: float | None
    interval: tuple[float, float]
    verdict: str

    def json(self) -> dict[str, Any]:
        """The fields by the names that scripts rely on."""
        names = ["trials", "solved", "median_symbols", "max_symbols", "median_streams"]
        names += ["retest_perfect", "error_free_1e6"]
        start = {"row": self.row.name} | {name: getattr(self, name) for name in names}
        interval = [round(end, 4) for end in self.interval]
        end = {"published": self.row.published or None, "interval": interval}
        return start | end | {"verdict": self.verdict, "measure": self.measure}


def lines(
    experiment: Experiment, trials: Mapping[Job, Trial], shortened: bool = False
) -> list[Line]:
    """One line for each row that has trials.

    Args:
        experiment: whose rows they are.
        trials: by their jobs.
        shortened: the budget was less than the experiment asks, so nothing can be compared.

    >>> from tidegate.experiments import named
    >>> [line.trials for line in lines(named("cerg"), {Job("forget", 1, 9): Trial(False, 90)})]
    [1]
    """
    by_row: dict[str, list[Trial]] = {}
    for job, trial in trials.items():
        by_row.setdefault(job.row, []).append(trial)
    rows = [row for row in experiment.rows() if row.name in by_row]
    return [_line(row, by_row[row.name], shortened) for row in rows]


def _line(row: Row, trials: Sequence[Trial], shortened: bool) -> Line:
    solved = [trial for trial in trials if trial.solved]
    symbols = [trial.symbols for trial in solved]
    streams = [trial.streams for trial in solved if trial.streams is not None]
    measures = [trial.measure for trial in trials if trial.measure is not None]
    verdict = UNCLEAR if shortened else row.claim.judge(len(solved), len(trials))
    return Line(
        row=row,
        trials=len(trials),
        solved=len(solved),
        median_symbols=median(symbols) if symbols else None,
        max_symbols=max(symbols, default=None),
        median_streams=median(streams) if streams else None,
        retest_perfect=_count([trial.retest for trial in solved]),
        error_free_1e6=_count([trial.error_free for trial in solved]),
        measure=median(measures) if measures else None,
        interval=wilson(len(solved), len(trials)),
        verdict=verdict,
    )


def _count(answers: Sequence[bool | None]) -> int | None:
    """How many are true; None where the question was never put."""
    known = [answer for answer in answers if answer is not None]
    return sum(known) if known else None


def table_json(experiment: Experiment, found: Sequence[Line]) -> dict[str, Any]:
    """The whole table as one object."""
    return {"name": experiment.name, "rows": [line.json() for line in found]}


def unmet(found: Sequence[Line]) -> list[str]:
    """The rows whose claim should hold and does not."""
    return [line.row.name for line in found if line.row.stands and line.verdict == FAILS]


def remarks(experiment: Experiment, found: Sequence[Line], budget: int) -> list[str]:
    """Why some rows are not judged, in full sentences."""
    if budget < experiment.budget:
        return [f"Nothing is judged by less than {experiment.budget:,} {experiment.unit} a trial."]
    claims = [line for line in found if not isinstance(line.row.claim, Nothing)]
    if any(line.verdict == UNCLEAR for line in claims):
        few = f"Rows with fewer than {FEWEST} trials"
        return [f"{few}, or with an interval too wide to tell, are not judged."]
    return []


def columns(experiment: Experiment, found: Sequence[Line]) -> list[list[str]]:
    """The table as text, its heads first; columns without an entry are left out.

    Medians are over the trials that solved it; that of the measure is over all.
    """
    heads = ["row", "solved", "95 %", "published", "verdict", "symbols (median, max)"]
    heads += [
        f"{experiment.unit} (median)",
        "retest",
        "quiet 1e6",
        f"{experiment.measure or 'measure'} (median)",
    ]
    rows = [_cells(line) for line in found]
    used = [k for k in range(len(heads)) if any(row[k] != "-" for row in rows)]
    return [[row[k] for k in used] for row in [heads, *rows]]


def _cells(line: Line) -> list[str]:
    low, high = line.interval
    symbols = "-"
    if line.median_symbols is not None:
        symbols = f"{line.median_symbols:,.0f}, {line.max_symbols:,}"
    return [
        line.row.label,
        f"{line.solved}/{line.trials}",
        f"{100 * low:.0f}-{100 * high:.0f} %",
        line.row.published or "-",
        line.verdict,
        symbols,
        _number(line.median_streams),
        _of(line.retest_perfect, line.solved),
        _of(line.error_free_1e6, line.solved),
        "-" if line.measure is None else _measure(line.measure),
    ]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def _measure(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _of(count: int | None, total: int) -> str:
    return "-" if count is None else f"{count}/{total}"
