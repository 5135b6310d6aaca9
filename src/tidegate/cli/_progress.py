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
from tidegate.cli._outputs import on_terminal
from tidegate.cli._summary import share
from tidegate.forecast import OURS, Prequential

Say = Callable[[str], None]

REFRESHES = 4  #: a second
SMOOTHING = 0.3  #: of the rate, a refresh


@contextmanager
def progress(run: Prequential, paths: Sequence[str]) -> Iterator[Say]:
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

    >>> from tidegate.forecast import BareNetwork
    >>> from tidegate.streams import StopAtBadRow
    >>> run = Prequential(lambda: BareNetwork(1, "lstm", 8, seed=0), "demo", StopAtBadRow())
    >>> View(run).line().plain
    '0 rows  waiting for the first one'
    """

    def __init__(self, run: Prequential) -> None:
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


def _error(run: Prequential) -> str:
    """The error of about the last 500 rows, beside that of persistence."""
    ours, last = run.scores.rolling(OURS), run.scores.rolling("persistence")
    if ours is None or last is None:
        return ""
    skill = f", skill {share(1 - ours / last)}" if last else ""
    warming = "  warming up" if run.warming else ""
    return f"recent error {ours:.4g} (persistence {last:.4g}{skill}){warming}"
