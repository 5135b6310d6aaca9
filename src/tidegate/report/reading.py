"""A study from a run's folder: its trace, its records, and the part of them that is looked at."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from tidegate._core.category_records import CategoryRecord
from tidegate._core.errors import UsageError
from tidegate._core.record_reader import read_records
from tidegate._core.records import Record
from tidegate._core.trace import Meta, Trace, joined
from tidegate._core.trace_files import newest_first
from tidegate._core.trace_folders import folder_of, traced
from tidegate.report.category_stream import CategoryStream, category_stream_of
from tidegate.report.networks import network_memory
from tidegate.report.stream import Stream, stream_of
from tidegate.report.study import Study

__all__ = ["forecast_study", "last_steps", "read_forecast", "read_study"]

RECORDS = "records.jsonl"

AnyRecord = Record | CategoryRecord


def read_study(folder: Path, last: int, title: str, borders: Sequence[int] = ()) -> Study:
    """The last recorded steps of a run.

    Args:
        folder: with ``trace/``, and ``records.jsonl`` where there is one.
        last: how many steps at most; what came before a gap in the recording is left out.

    Raises:
        UsageError: nothing was recorded.
        DataError: a file is damaged.

    >>> import numpy as np, tempfile
    >>> from tidegate._core.trace_files import TraceWriter
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with TraceWriter(Path(folder) / "trace") as writer:
    ...         writer.write(Trace({"c": np.zeros((100, 1, 1))}))
    ...     study = read_study(Path(folder), 45, "demo")
    >>> study.start, study.stream
    (55, None)
    """
    trace = last_steps(folder / "trace", last)
    return Study(title, trace, _stream(folder / RECORDS, trace), borders)


def read_forecast(
    folder: Path,
    last: int,
    title: str,
    borders: Sequence[int] = (),
    expert: str | None = None,
    key: str | None = None,
    read: Callable[[str], Iterable[AnyRecord]] = read_records,
) -> Study:
    """The last steps of a forecaster's run: its records, and a network where they were recorded.

    Args:
        folder: with ``records.jsonl``, and ``trace/`` where networks were recorded.
        last: how many steps at most.
        title: what it is a study of.
        borders: steps at which something is known to begin.
        expert: whose network is looked at; by default the one that weighed most.
        key: of the stream, where a run has several; by default that of the last record.
        read: reads the records; ``read_category_records`` where the run is one over categories.

    Raises:
        UsageError: there are no records as lines, or that expert or stream is not among them.
        DataError: a file is damaged.

    >>> import tempfile
    >>> from tidegate._core.records import Forecast, with_schema
    >>> record = Record(step=7, time=None, prediction=5.0, actual=5.5, error=0.5,
    ...                 next=Forecast(time=None, prediction=None), experts={"near": 1.0})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lines = Path(folder, "records.jsonl")
    ...     written = lines.write_text(with_schema(record.to_json_line()))
    ...     study = read_forecast(Path(folder), 100, "demo")
    >>> study.stream.weights
    {'near': 1.0}
    """
    path = folder / RECORDS
    if not path.exists():
        raise UsageError(
            str(folder), f"a run with {RECORDS}", "none",
            f"Keep records as lines: tidegate run FILE --target COLUMN --save {folder}.",
        )  # fmt: skip
    records = _last_records(read(str(path)), last, key)
    if records and records[-1].key is not None:
        title = f"{title} of {records[-1].key}"
    return forecast_study(records, folder / "trace", last, title, borders, expert)


def _last_records(records: Iterable[AnyRecord], last: int, key: str | None) -> list[AnyRecord]:
    found = deque((r for r in records if key in (None, r.key)), maxlen=last)
    if not found and key is not None:
        raise UsageError("--key", "the key of a stream", repr(key), "Write it as the records do.")
    return [record for record in found if record.key == found[-1].key]


def forecast_study(
    records: Sequence[AnyRecord],
    trace: Path,
    last: int,
    title: str,
    borders: Sequence[int] = (),
    expert: str | None = None,
) -> Study:
    """The study of a forecaster from its ``records``, and from the traces in a folder.

    Raises:
        UsageError: there is no record, or that expert was not recorded.
        DataError: a file is damaged.

    >>> from tidegate._core.records import Forecast
    >>> record = Record(step=7, time=None, prediction=5.0, actual=5.5, error=0.5,
    ...                 next=Forecast(time=None, prediction=None), experts={"near": 1.0})
    >>> study = forecast_study([record], Path("nowhere"), 100, "demo")
    >>> study.start, study.recorded
    (7, False)
    """
    if not records:
        raise UsageError(str(trace.parent), "a run with records", "none", "Let it go on a while.")
    first, steps = records[0].step, records[-1].step - records[0].step + 1
    stream = _part_of(records, first, steps)
    names = traced(trace)
    if expert is not None and expert not in names:
        known = f"one of {', '.join(names)}" if names else "a network that was recorded (--trace)"
        raise UsageError("--expert", known, repr(expert), "The page names them all.")
    if not names or stream is None:
        return Study(title, _empty(first, steps), stream, borders)
    traces = {name: last_steps(folder_of(trace, name), last) for name in names}
    weights = stream.weights
    chosen = expert or max(names, key=lambda name: weights.get(name, 0.0))
    found = [network_memory(name, weights.get(name, 0.0), traces[name]) for name in names]
    shown = traces[chosen]
    return Study(
        title,
        shown,
        _part_of(records, shown.meta.start, shown.steps),
        borders,
        networks=sorted(found, key=lambda network: -network.weight),
        looked_at=chosen,
    )


def _part_of(
    records: Sequence[AnyRecord], start: int, steps: int
) -> Stream | CategoryStream | None:
    """The stream of the records that a Trace has steps for, of whichever kind they are."""
    categories = [record for record in records if isinstance(record, CategoryRecord)]
    if categories:
        return category_stream_of(categories, start, steps)
    return stream_of([r for r in records if isinstance(r, Record)], start, steps)


def _empty(first: int, steps: int) -> Trace:
    """A Trace of no units: there is a stream to look at alone."""
    return Trace({"c": np.zeros((steps, 1, 0))}, meta=Meta(start=first))


def last_steps(folder: Path, steps: int) -> Trace:
    """The last ``steps`` of a recording that follow one another, in the memory of these alone.

    Raises:
        UsageError: nothing was recorded.
        DataError: a piece is damaged.

    >>> import numpy as np, tempfile
    >>> from tidegate._core.trace_files import TraceWriter
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with TraceWriter(Path(folder), piece=30) as writer:
    ...         writer.write(Trace({"c": np.zeros((100, 1, 1))}))
    ...     found = last_steps(Path(folder), 45)
    >>> found.meta.start, found.steps
    (55, 45)
    """
    kept: list[Trace] = []
    for piece in newest_first(folder):
        if kept and piece.meta.start + piece.steps != kept[0].meta.start:
            break
        kept.insert(0, piece)
        if sum(t.steps for t in kept) >= steps:
            break
    if not kept:
        raise UsageError(
            str(folder.parent), "a run with a recorded trace", "none",
            f"Record one: tidegate run FILE --target COLUMN --save {folder.parent} --trace. "
            f"Or give a stream to pass through its network: tidegate explain {folder.parent} FILE.",
        )  # fmt: skip
    whole = joined(kept)
    return whole.part(max(0, whole.steps - steps), whole.steps)


def _stream(path: Path, trace: Trace) -> Stream | None:
    if not path.exists():
        return None
    return stream_of(read_records(str(path)), trace.meta.start, trace.steps)
