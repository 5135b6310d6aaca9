"""What ``tidegate bench`` does: the methods over the rows, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from tidegate._core.errors import TidegateError, UsageError
from tidegate.bench import METHODS, Advance, Comparison, made, race
from tidegate.bench.methods import entry
from tidegate.cli._held import held
from tidegate.cli._options import Options, settings_in_force
from tidegate.cli._standings import show, tell_absent


def compared(
    file: str | None, flags: dict[str, Any], methods: Sequence[str], seed: int, format_name: str
) -> int:
    """Carries out a comparison; what is done by the time of an interrupt is shown.

    Returns:
        the exit code.

    Raises:
        UsageError: a column, method or number cannot be.
        MissingExtraError: the package of a method that was asked for is not installed.
        DataError: a row cannot be read, or too few can be scored.
    """
    for name in methods:
        entry(name)
    settings = settings_in_force(flags)
    if settings["categories"]:
        got = f"{settings.source('categories')}, which says that it is none"
        raise UsageError("tidegate bench", "a target of numbers", got, "Leave it out here.")
    options = Options(file=file, **settings)
    comparison = Comparison(held(options))
    chosen = _chosen(methods, comparison.series.step, seed)
    try:
        _go_through(comparison, chosen, seed)
    finally:
        if comparison.lines:
            show(comparison, format_name)
    for name, why in comparison.failed.items():
        click.echo(f"{name}: broke off. {why}", err=True)
    if not methods:
        tell_absent()
    return 0 if comparison.lines else 1


def _chosen(methods: Sequence[str], step: float | None, seed: int) -> list[str]:
    """The methods that take part; persistence always does, as skill is over it."""
    if methods:
        for name in methods:
            made(name, step, seed)
        return list(dict.fromkeys(["persistence", *methods]))
    fit = {name: one for name, one in METHODS.items() if one.here and not one.slow}
    return [name for name, one in fit.items() if step is not None or not one.dated]


def _go_through(comparison: Comparison, methods: Sequence[str], seed: int) -> None:
    with _progress(methods, len(comparison.series.values)) as advance:
        for name in methods:
            try:
                comparison.lines += race(comparison.series, [name], seed, advance)
            except TidegateError:
                raise
            except Exception as error:  # another package's: it must not cost the others' results
                comparison.failed[name] = f"{type(error).__name__}: {error}"


@contextmanager
def _progress(methods: Sequence[str], rows: int) -> Iterator[Advance]:
    """A bar for every method, where a person watches."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    shown = console.is_terminal
    with Progress(*columns, TimeElapsedColumn(), console=console, disable=not shown) as progress:
        bars = {name: progress.add_task(name, total=rows, start=False) for name in methods}

        def advance(method: str, rows: int) -> None:
            if not progress.tasks[bars[method]].started:
                progress.start_task(bars[method])
            progress.update(bars[method], completed=rows)

        yield advance
