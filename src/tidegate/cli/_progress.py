"""How a run goes, on standard error while it goes; a stream has no end to be near to."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from tidegate._core.recorders import STDOUT
from tidegate.cli._models import Run
from tidegate.cli._outputs import on_terminal
from tidegate.cli._summary_words import share
from tidegate.forecast import OURS, CategoryRun
from tidegate.forecast.category_run import SIMPLE

Say = Callable[[str], None]

REFRESHES = 4  #: a second
SMOOTHING = 0.3  #: of the rate, a refresh


@contextmanager
def progress(run: Run, paths: Sequence[str]) -> Iterator[Say]:
    """Shows how ``run`` goes, where a person watches and no records scroll through the view.

    Yields:
        what tells something in between, on a line of its own.
    """
    watched = sys.stderr is not None and sys.stderr.isatty()
    if not watched or (STDOUT in paths and on_terminal()):
        yield _say
        return
    view = View(run)
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    with Live(
        get_renderable=view.line,
        console=console,
        refresh_per_second=REFRESHES,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    ):
        yield console.print


def _say(text: str) -> None:
    click.echo(text, err=True)


class View:
    """One line about a run: rows, their rate, the error of late, what was flagged.

    >>> from tidegate.forecast import BareNetwork, Prequential
    >>> from tidegate.streams import StopAtBadRow
    >>> run = Prequential(lambda: BareNetwork(1, "lstm", 8, seed=0), "demo", StopAtBadRow())
    >>> View(run).line().plain
    '0 rows  waiting for the first one'
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._rate: float | None = None
        self._steps, self._time = 0, monotonic()

    def line(self) -> Text:
        """The line of now."""
        run = self._run
        self._measure()
        if not run.steps:
            return Text("0 rows  waiting for the first one")
        parts = [f"{run.steps:,} rows", _rate(self._rate), _error(run)]
        # A copy: the run may meet a new flag while this is read.
        parts += [f"{flag} {n:,}" for flag, n in dict(run.flagged).items() if flag != "warmup"]
        return Text("  ".join(part for part in parts if part), no_wrap=True, overflow="ellipsis")

    def _measure(self) -> None:
        steps, time = self._run.steps, monotonic()
        if time - self._time < 0.5 / REFRESHES:
            return
        now = (steps - self._steps) / (time - self._time)
        before = now if self._rate is None else self._rate
        self._rate = before + SMOOTHING * (now - before)
        self._steps, self._time = steps, time


def _rate(rate: float | None) -> str:
    return "" if rate is None else f"{rate:,.0f} rows/s" if rate >= 10 else f"{rate:.1f} rows/s"


def _error(run: Run) -> str:
    """The error of about the last 500 rows, beside that of a simple forecast."""
    what, simple, saved = ("error", "persistence", "skill")
    if isinstance(run, CategoryRun):
        what, simple, saved = ("bits", SIMPLE[0], "saved")
    ours, other = run.scores.rolling(OURS), run.scores.rolling(simple)
    if ours is None or other is None:
        return ""
    part = f", {saved} {share(1 - ours / other)}" if other else ""
    warming = "  warming up" if run.warming else ""
    return f"recent {what} {ours:.4g} ({simple} {other:.4g}{part}){warming}"
