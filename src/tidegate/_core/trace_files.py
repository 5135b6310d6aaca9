"""Traces on disk: a folder of closed Parquet pieces, each named by its first step.

A piece holds one row a step, one column of fixed-size lists a name. The open piece is a ``.part``
beside them, renamed when it is closed: a run that is killed loses that one at most.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from math import inf
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from tidegate._core.errors import DataError, UsageError
from tidegate._core.trace import PARTS, Array, Meta, Trace, joined

__all__ = ["TraceWriter", "cut", "newest_first", "pieces", "read_trace"]

PIECE = 65_536  #: steps in a piece, unless a save closes it before
OPEN = ".part"


class TraceWriter:
    """Writes Traces that follow one another into a folder, in constant memory.

    Args:
        folder: made where it is missing; stale open pieces in it are deleted.
        piece: steps after which a piece is closed and another begun.

    Raises:
        UsageError: ``piece`` is below 1, or a Trace does not follow the one before.

    >>> import tempfile
    >>> trace = Trace(memory={"c": np.zeros((100, 1, 2), np.float32)})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with TraceWriter(Path(folder), piece=60) as writer:
    ...         writer.write(trace)
    ...     [part.steps for part in pieces(Path(folder))], read_trace(Path(folder)).steps
    ([60, 40], 100)
    """

    def __init__(self, folder: Path, piece: int = PIECE) -> None:
        if piece < 1:
            raise UsageError("TraceWriter piece", "at least 1 step", str(piece), "Try 65536.")
        self._folder, self._piece = folder, piece
        self._open: Any = None
        self._first = self._next = 0
        folder.mkdir(parents=True, exist_ok=True)
        for stale in folder.glob(f"*{OPEN}"):
            stale.unlink()

    def write(self, trace: Trace) -> None:
        """Takes the steps of ``trace``; its ``meta.start`` numbers them."""
        at = 0
        while at < trace.steps:
            if self._open is None:
                self._begin(trace.part(at, at + 1))
            self._check_follows(trace.meta.start + at)
            stop = min(trace.steps, at + self._piece - (self._next - self._first))
            self._open.write_table(_table(trace.part(at, stop), self._open.schema))
            self._next += stop - at
            at = stop
            if self._next - self._first == self._piece:
                self.close()

    def close(self) -> None:
        """Closes the open piece; writing may go on with the next (a save does this)."""
        if self._open is not None:
            self._open.close()
            self._open = None
            self._path(OPEN).replace(self._path(""))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _begin(self, trace: Trace) -> None:
        from pyarrow.parquet import ParquetWriter  # type: ignore[import-untyped]

        self._first = self._next = trace.meta.start
        # Gates hardly repeat: dictionaries and statistics would only cost time.
        self._open = ParquetWriter(
            self._path(OPEN),
            _schema(trace),
            compression="none",
            use_dictionary=False,
            write_statistics=False,
        )

    def _check_follows(self, step: int) -> None:
        if step != self._next:
            raise UsageError(
                "TraceWriter", f"a Trace from step {self._next}", f"one from step {step}",
                "Write what follows, or close the writer before a gap.",
            )  # fmt: skip

    def _path(self, ending: str) -> Path:
        return self._folder / f"{self._first:015d}.parquet{ending}"


def pieces(folder: Path, first: int = 0, stop: int | None = None) -> Iterator[Trace]:
    """The closed pieces in order, one at a time, in the memory of one piece.

    Only those that can hold steps numbered ``first`` to below ``stop`` are opened; their names say
    which.

    Raises:
        DataError: a piece cannot be read.

    >>> import tempfile
    >>> trace = Trace(memory={"c": np.zeros((100, 1, 2), np.float32)})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with TraceWriter(Path(folder), piece=30) as writer:
    ...         writer.write(trace)
    ...     [part.meta.start for part in pieces(Path(folder), 40, 61)]
    [30, 60]
    """
    paths = _closed(folder)
    starts = [int(path.stem) for path in paths]
    ends = [*starts, inf][1:]  # what follows begins where a piece ends, or later
    for path, start, end in zip(paths, starts, ends, strict=True):
        if first < end and (stop is None or start < stop):
            yield _read(path)


def newest_first(folder: Path) -> Iterator[Trace]:
    """The closed pieces from the last to the first, each opened when it is asked for.

    Raises:
        DataError: a piece cannot be read.
    """
    for path in reversed(_closed(folder)):
        yield _read(path)


def read_trace(folder: Path, first: int = 0, stop: int | None = None) -> Trace:
    """The recorded steps numbered ``first`` to below ``stop``, as one Trace.

    Raises:
        DataError: there are none, or a piece cannot be read.
        UsageError: steps are missing in between.
    """
    found: list[Trace] = []
    for trace in pieces(folder, first, stop):
        start = trace.meta.start
        begin = max(first - start, 0)
        end = trace.steps if stop is None else min(stop - start, trace.steps)
        if begin < end:
            found.append(trace.part(begin, end))
    if not found:
        raise DataError(
            str(folder), "a folder with recorded steps", "none of those asked for",
            "Record with --trace, or ask for other steps.",
        )  # fmt: skip
    return joined(found)


def cut(folder: Path, position: int) -> None:
    """Deletes what was recorded from step ``position`` on, so that a run can go on from there."""
    for stale in folder.glob(f"*{OPEN}"):
        stale.unlink()
    for path in _closed(folder):
        first = int(path.stem)
        if first < position < first + _rows(path):
            kept = _read(path).part(0, position - first)
            with TraceWriter(folder, piece=kept.steps) as writer:
                writer.write(kept)
        elif first >= position:
            path.unlink()


def _closed(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.parquet"))


def _rows(path: Path) -> int:
    from pyarrow.parquet import read_metadata

    return int(read_metadata(path).num_rows)


def _columns(trace: Trace) -> dict[str, Array]:
    """Column name -> (steps, values a step)."""
    columns = {f"{p}.{name}": array for p in PARTS for name, array in getattr(trace, p).items()}
    columns["reset"] = trace.reset
    return {name: array.reshape(trace.steps, -1) for name, array in columns.items()}


def _schema(trace: Trace) -> Any:
    import pyarrow as pa  # type: ignore[import-untyped]

    kinds = {"log_retention": pa.float64(), "reset": pa.bool_()}
    fields = [pa.field("step", pa.int64())]
    for name, array in _columns(trace).items():
        kind = kinds.get(name.partition(".")[0], pa.float32())
        fields.append(pa.field(name, pa.list_(kind, array.shape[1])))
    shape = {"rows": trace.rows, "units": trace.units}
    return pa.schema(fields, {"tidegate": json.dumps({"meta": asdict(trace.meta), **shape})})


def _table(trace: Trace, schema: Any) -> Any:
    import pyarrow as pa

    columns = _columns(trace)
    arrays = [pa.array(np.arange(trace.steps, dtype=np.int64) + trace.meta.start)]
    for kind in list(schema)[1:]:
        if kind.name not in columns or columns[kind.name].shape[1] != kind.type.list_size:
            raise UsageError(
                "TraceWriter", f"Traces of one recording, with {', '.join(schema.names[1:])}",
                f"one with {', '.join(columns)} for {trace.rows} x {trace.units}",
                "Close the writer before another kind of Trace.",
            )  # fmt: skip
        values = np.ascontiguousarray(columns[kind.name]).reshape(-1)
        flat = pa.array(values, kind.type.value_type, safe=False)
        arrays.append(pa.FixedSizeListArray.from_arrays(flat, type=kind.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def _read(path: Path) -> Trace:
    import pyarrow as pa
    from pyarrow.parquet import read_table

    try:
        table = read_table(path)
        about = json.loads(table.schema.metadata[b"tidegate"])
    except (pa.ArrowInvalid, OSError, KeyError, TypeError) as error:
        raise DataError(
            str(path), "a piece of a Trace", str(error), "Delete it: a piece is whole or useless."
        ) from error
    shape = (table.num_rows, about["rows"], about["units"])
    parts: dict[str, dict[str, Array]] = {part: {} for part in PARTS}
    for column in table.schema.names[1:]:
        part, _, name = column.partition(".")
        if part in parts:
            parts[part][name] = _values(table[column]).reshape(shape)
    reset = _values(table["reset"]).reshape(shape[:2])
    meta = replace(Meta(**about["meta"]), start=int(path.stem))
    return Trace(**parts, reset=reset, meta=meta)


def _values(column: Any) -> Array:
    return np.asarray(column.combine_chunks().flatten().to_numpy(zero_copy_only=False))
