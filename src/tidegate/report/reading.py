"""A study from a run's folder: its trace, its records, and the part of them that is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tidegate._core.errors import UsageError
from tidegate._core.record_reader import read_records
from tidegate._core.trace import Trace, joined
from tidegate._core.trace_files import newest_first
from tidegate.report.study import Stream, Study, stream_of

__all__ = ["last_steps", "read_study"]


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
    return Study(title, trace, _stream(folder / "records.jsonl", trace), borders)


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
