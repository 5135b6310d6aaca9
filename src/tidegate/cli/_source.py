"""The stream a run was asked to predict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tidegate._core.errors import UsageError
from tidegate.cli._options import Options
from tidegate.datasets import load
from tidegate.streams import (
    BadRows,
    Stream,
    decimal_comma,
    decimal_point,
    follow_file,
    open_stream,
)

SHIPPED = "i94"
HINT = "Name the column to predict: --target COLUMN."
NO_COLUMN = "\0"  # a name no header can hold
DECIMALS = {".": decimal_point, ",": decimal_comma}


@dataclass(frozen=True)
class Source:
    """A stream, its name, that of its time column, and how many of its rows are not scored."""

    stream: Stream
    name: str
    time: str
    warmup: int | None


def open_source(options: Options, bad_rows: BadRows) -> Source:
    """The stream of ``options.file``, or the shipped one.

    Raises:
        UsageError: the options do not name the columns of what is there.
        DataError: the source has no header, or is damaged.
    """
    if options.file is None:
        return _shipped(options)
    opened = partial(
        follow_file if options.follow else open_stream,
        options.file,
        separator=options.separator,
        number=DECIMALS[options.decimal],
        key=options.key,
    )
    if options.target is None:
        raise _target_needed(options.file, opened)
    if options.categories:
        stream = opened(None, (), options.time, bad_rows=bad_rows, category=options.target)
    else:
        stream = opened(options.target, options.input, options.time, bad_rows=bad_rows)
    return Source(stream, stream.source, options.time or "time", options.warmup)


def _shipped(options: Options) -> Source:
    asked = {
        "--target": options.target, "--time": options.time, "--input": options.input,
        "--key": options.key, "--categories": options.categories,
    }  # fmt: skip
    for name, value in asked.items():
        if value:
            got = f"{name} alone"
            raise UsageError("tidegate run", f"a FILE with {name}", got, "Name a file, or -.")
    dataset = load(SHIPPED)
    warmup = dataset.warmup if options.warmup is None else options.warmup
    return Source(dataset.stream(), dataset.name, dataset.time, warmup)


def _target_needed(file: str, opened: Callable[[str], Stream]) -> UsageError:
    """The error that lists the columns of ``file``: opening it for none of them knows them all."""
    try:
        opened(NO_COLUMN)
    except UsageError as error:
        if error.got != repr(NO_COLUMN):
            return error
        expected = error.expected
    return UsageError("--target", f"{expected} (the columns of {file})", "none", HINT)
