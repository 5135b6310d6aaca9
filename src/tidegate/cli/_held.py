"""The rows of a stream, all of them, for what must see them more than once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import isfinite, nan

import click

from tidegate._core.errors import DataError, UsageError
from tidegate.bench import Series
from tidegate.cli._options import Options
from tidegate.cli._source import open_source
from tidegate.forecast.timing.grid import usual_step
from tidegate.streams import BadRows, Row, SkipBadRows, StopAtBadRow, bad_cell, parse_time

LEAST = 20  #: rows that must be scored
TENTH = 10  #: a part of the rows that is not scored, by default the first tenth
BAD_ROWS: dict[str, type[BadRows]] = {"stop": StopAtBadRow, "skip": SkipBadRows}


def held(options: Options) -> Series:
    """The target of ``options.file``, or of the shipped stream, to its end.

    Raises:
        UsageError: the options do not name what is there.
        DataError: a row cannot be read, or too few can be scored.
    """
    bad_rows = BAD_ROWS[options.on_bad_row]()
    source = open_source(options, bad_rows)
    dated = options.time is not None or options.file is None
    rows = _in_order(source.stream, source.name, source.time, bad_rows) if dated else source.stream
    read = [(row, float(row.values[0])) for row in rows]
    values = [value if isfinite(value) else nan for _, value in read]
    times = [parse_time(row.time or "") if dated else float(n) for n, (row, _) in enumerate(read)]
    step = usual_step(times) if dated else None
    if bad_rows.count:
        click.echo(f"Rows skipped, as they could not be read: {bad_rows.count:,}.", err=True)
    warmup = len(values) // TENTH if source.warmup is None else source.warmup
    _require_rows(source.name, values, warmup)
    return Series(source.name, times, values, step, warmup)


def _in_order(rows: Iterable[Row], source: str, column: str, bad_rows: BadRows) -> Iterator[Row]:
    """The rows whose time can be read and comes after that of the row before."""
    newest = float("-inf")
    for row in rows:
        try:
            seconds = _seconds(row, source, column)
            if seconds <= newest:
                expected = "a time after that of the row before"
                raise bad_cell(source, row.number, column, expected, str(row.time))
        except DataError as error:
            bad_rows(error)
            continue
        newest = seconds
        yield row


def _seconds(row: Row, source: str, column: str) -> float:
    try:
        return parse_time(row.time or "")
    except DataError as error:
        raise bad_cell(source, row.number, column, error.expected, str(row.time)) from None


def _require_rows(source: str, values: Sequence[float], warmup: int) -> None:
    known = sum(map(isfinite, values))
    scored = sum(map(isfinite, islice(values, warmup, None)))
    if not known:
        raise DataError(source, "numbers in the target column", "none", "Name another --target.")
    if warmup >= len(values):
        got, hint = f"{warmup:,}", "Choose a smaller one."
        raise UsageError("--warmup", f"fewer than the {len(values):,} rows there are", got, hint)
    if scored < LEAST:
        expected = f"at least {LEAST} values after the first {warmup:,} rows"
        raise DataError(source, expected, f"{scored}", "Give more rows, or a smaller --warmup.")
