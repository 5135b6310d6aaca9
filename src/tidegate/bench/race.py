"""Methods one after the other over the same rows, and what that came to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Protocol

from tidegate.bench.compare import Score, compare
from tidegate.bench.methods import made

__all__ = ["Advance", "Comparison", "Line", "Series", "race", "standings"]

LAST = "persistence"


@dataclass(frozen=True)
class Series:
    """The rows of a stream, held in memory, as every method must see the same ones.

    Attributes:
        name: of the stream.
        times: in seconds; without times the numbers of the rows.
        values: of the target; NaN where missing.
        step: seconds from row to row, the usual ones; None without times.
        first: row, from 0, from which rows are scored.

    >>> Series("demo", times=[0.0, 1.0], values=[5.0, 6.0], step=None, first=0).name
    'demo'
    """

    name: str
    times: Sequence[float]
    values: Sequence[float]
    step: float | None
    first: int


@dataclass(frozen=True)
class Line:
    """A method and what it came to.

    Attributes:
        method: its name.
        score: over the rows that are scored.

    >>> Line("rls", Score(1.0, 0.9, 0.85, 4.0, 4.5, 10.0, scored=1000, silent=0)).method
    'rls'
    """

    method: str
    score: Score


@dataclass
class Comparison:
    """Methods on a stream, as far as it has come.

    Attributes:
        series: the rows.
        lines: of the methods that are done.
        failed: of those that broke off, why.

    >>> Comparison(Series("demo", [0.0], [5.0], step=None, first=0)).lines
    []
    """

    series: Series
    lines: list[Line] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


class Advance(Protocol):
    """Called now and then with a method's name and how many rows it has behind it."""

    def __call__(self, method: str, rows: int) -> None: ...


def race(series: Series, methods: Iterable[str], seed: int, seen: Advance) -> Iterator[Line]:
    """Every method over the whole series, one after the other.

    Args:
        series: the rows.
        methods: names out of ``METHODS``.
        seed: of those that draw.
        seen: told how far they have come.

    Raises:
        UsageError: there is no such method, or it needs times.
        MissingExtraError: its package is not installed.

    >>> series = Series("demo", range(100), [1.0, 2.0] * 50, step=None, first=10)
    >>> [line.score.mae for line in race(series, ["persistence"], 0, lambda method, rows: None)]
    [1.0]
    """
    for name in methods:
        method = made(name, series.step, seed)
        rows = series.times, series.values, series.first
        yield Line(name, compare(method, *rows, partial(seen, name)))


def standings(lines: Iterable[Line]) -> list[dict[str, Any]]:
    """The lines as rows of a table, the smallest error first, each with its skill.

    ``skill_persistence`` is the share of persistence's error that a method saves; None without a
    line of persistence, or where it made no error.

    >>> score = partial(Score, coverage=0.9, worst_window=0.8, interval_score=4.0, plain_score=4.0,
    ...                 us_per_step=1.0, scored=100, silent=0)
    >>> rows = standings([Line("persistence", score(mae=2.0)), Line("rls", score(mae=1.5))])
    >>> [(row["method"], row["skill_persistence"]) for row in rows]
    [('rls', 0.25), ('persistence', 0.0)]
    """
    lines = list(lines)
    last = next((line.score.mae for line in lines if line.method == LAST), None)
    return [
        {
            "method": line.method,
            "skill_persistence": 1 - line.score.mae / last if last else None,
            **asdict(line.score),
        }
        for line in sorted(lines, key=_place)
    ]


def _place(line: Line) -> tuple[bool, float]:
    """NaN, where a method diverged, comes last."""
    mae = line.score.mae
    return mae != mae, mae
