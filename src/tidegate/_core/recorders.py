"""Recorders: where records go, one class per format."""

from __future__ import annotations

import csv
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import KeysView
from types import TracebackType
from typing import Any, BinaryIO, Protocol, Self

from tidegate._core.discovery import find
from tidegate._core.errors import UsageError
from tidegate._core.records import Cell, Forecast, Record, with_schema

STDOUT = "-"
ROW_GROUP = 8192

# Names given by the user come after "probabilities." or "experts.": neither pattern takes them.
TEXTS = re.compile(r"key|flags|((next\.)(path\.\d+\.)?)?time")
STEPS = re.compile(r"(next\.path\.\d+\.)?step")
NOTHING = Record(
    step=0,
    time=None,
    prediction=None,
    actual=None,
    error=None,
    next=Forecast(time=None, prediction=None),
)


class Sink(Protocol):
    """What a recorder needs of the file it writes to."""

    def write(self, data: bytes, /) -> object:
        """Takes the bytes."""

    def flush(self) -> object:
        """Sends on what was taken."""

    def close(self) -> object:
        """Nothing more will come."""


class StandardOutput:
    """Standard output as a file that stays open when its recorder is closed."""

    closed = False

    def write(self, data: bytes, /) -> int:
        """Takes the bytes."""
        return sys.stdout.buffer.write(data)

    def flush(self) -> None:
        """Sends on what was taken."""
        sys.stdout.buffer.flush()

    def close(self) -> None:
        """Others may still write to it."""
        self.flush()


class _Utf8:
    """What csv writes to."""

    def __init__(self, file: Sink) -> None:
        self._file = file

    def write(self, text: str) -> None:
        self._file.write(text.encode())


class Recorder(ABC):
    """Writes records to ``file``; what can be read while the run goes on is there at once.

    Example: see :func:`recorder_for`.
    """

    def __init__(self, file: Sink) -> None:
        self._file = file

    @abstractmethod
    def write(self, record: Record) -> None:
        """Writes and flushes one record.

        Raises:
            OSError: the disk is full, or nobody reads the pipe any more.
        """

    @abstractmethod
    def finish(self) -> None:
        """Writes what the format needs at its end."""

    def close(self) -> None:
        """Finishes, and closes the file."""
        try:
            self.finish()
        finally:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class JsonLinesRecorder(Recorder):
    """One line of JSON a record; the first says which schema they follow."""

    name = "jsonl"

    def __init__(self, file: Sink) -> None:
        super().__init__(file)
        self._form = with_schema

    def write(self, record: Record) -> None:
        """Writes and flushes one line."""
        line = self._form(record.to_json_line())
        self._form = _as_it_is
        self._file.write(f"{line}\n".encode("ascii"))
        self._file.flush()

    def finish(self) -> None:
        """Lines need no end."""


class CsvRecorder(Recorder):
    """One line of comma-separated values a record; the first record decides the columns.

    Raises:
        ValueError: a later record has a column the first one lacks.
    """

    name = "csv"

    def __init__(self, file: Sink) -> None:
        super().__init__(file)
        self._lines = csv.writer(_Utf8(file), lineterminator="\n")
        self._names: KeysView[str] | None = None

    def write(self, record: Record) -> None:
        """Writes and flushes one line."""
        columns = record.to_columns()
        if self._names is None:
            self._names = columns.keys()
            self._lines.writerow(self._names)
        _require_known(columns, self._names)
        self._lines.writerow([columns.get(name) for name in self._names])
        self._file.flush()

    def finish(self) -> None:
        """Lines need no end."""


class ParquetRecorder(Recorder):
    """The same columns in Parquet; the file can be read once it is closed.

    Raises:
        ValueError: a later record has a column the first one lacks.
    """

    name = "parquet"

    def __init__(self, file: Sink) -> None:
        super().__init__(file)
        self._names: KeysView[str] | None = None
        self._rows: list[dict[str, Cell]] = []
        self._writer: Any = None

    def write(self, record: Record) -> None:
        """Keeps one row; writes a group of them when it is full."""
        columns = record.to_columns()
        if self._names is None:
            self._names = columns.keys()
        _require_known(columns, self._names)
        self._rows.append(columns)
        if len(self._rows) == ROW_GROUP:
            self._write_group()

    def finish(self) -> None:
        """Writes the last group and the table of contents."""
        if self._rows or self._writer is None:
            self._write_group()
        self._writer.close()

    def _write_group(self) -> None:
        import pyarrow as pa  # type: ignore[import-untyped]
        from pyarrow.parquet import ParquetWriter  # type: ignore[import-untyped]

        names = self._names or NOTHING.to_columns().keys()
        schema = pa.schema([(name, _arrow_type(name)) for name in names])
        if self._writer is None:
            self._writer = ParquetWriter(self._file, schema)
        self._writer.write_table(pa.Table.from_pylist(self._rows, schema=schema))
        self._file.flush()
        self._rows.clear()


def recorder_for(format_name: str, out: str, owner: str = "--format") -> Recorder:
    """The recorder of a format, writing to the file ``out`` or, for ``-``, to standard output.

    Raises:
        UsageError: there is no such format, or the file cannot be written.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("r") as file:
    ...     with recorder_for("csv", file.name) as recorder:
    ...         recorder.write(Record(step=1, time=None, prediction=None, actual=5.0, error=None,
    ...                               next=Forecast(time=None, prediction=5.5)))
    ...     file.read().splitlines()[1]
    '1,,,,,,5.0,,,,5.5,,'
    """
    kind = find("tidegate._core", Recorder, format_name, owner)  # type: ignore[type-abstract]
    return kind(StandardOutput() if out == STDOUT else _opened(out))


def _opened(out: str) -> BinaryIO:
    try:
        return open(out, "wb")
    except OSError as error:
        hint = "Check the folder and its permissions."
        raise UsageError(out, "a file that can be written", str(error.strerror), hint) from error


def _as_it_is(line: str) -> str:
    return line


def _require_known(columns: dict[str, Cell], names: KeysView[str]) -> None:
    if not columns.keys() <= names:
        raise ValueError(f"columns {sorted(columns.keys() - names)} came after the first record")


def _arrow_type(name: str) -> str:
    if TEXTS.fullmatch(name):
        return "string"
    return "int64" if STEPS.fullmatch(name) else "double"
