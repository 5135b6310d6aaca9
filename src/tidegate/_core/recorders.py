"""Recorders: where records go, one class per format."""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from types import TracebackType
from typing import Self

from tidegate._core.discovery import find
from tidegate._core.errors import UsageError
from tidegate._core.record_ends import cut, end_of_csv, end_of_json_lines, lost
from tidegate._core.records import Cell, RowRecord, with_schema
from tidegate._core.sinks import STDOUT, OutputFile, Sink, sink_for

__all__ = [
    "STDOUT",
    "CsvRecorder",
    "FileRecorder",
    "JsonLinesRecorder",
    "Recorder",
    "recorder_for",
    "require_known",
    "resume",
]


class _Utf8:
    """What csv writes to."""

    def __init__(self, file: Sink) -> None:
        self._file = file

    def write(self, text: str) -> None:
        self._file.write(text.encode())


class Recorder(ABC):
    """Writes records to a place of its own."""

    @abstractmethod
    def write(self, record: RowRecord) -> None:
        """Takes one record.

        Raises:
            OSError: the disk is full, or nobody reads the pipe any more.
        """

    @abstractmethod
    def sync(self) -> None:
        """What was written outlives a power cut; called before a run's state is saved."""

    @abstractmethod
    def close(self) -> None:
        """Finishes; nothing more will come."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class FileRecorder(Recorder):
    """Writes records to ``file``; what can be read while the run goes on is there at once.

    Example: see :func:`recorder_for`.
    """

    def __init__(self, file: Sink) -> None:
        self._file = file

    @classmethod
    @abstractmethod
    def resumed(cls, out: str, step: int) -> Self:
        """Goes on after the record of ``step`` in a file written before; see :func:`resume`."""

    @abstractmethod
    def finish(self) -> None:
        """Writes what the format needs at its end."""

    def sync(self) -> None:
        self._file.sync()

    def close(self) -> None:
        try:
            self.finish()
        finally:
            self._file.close()


class JsonLinesRecorder(FileRecorder):
    """One line of JSON a record; the first says which schema they follow."""

    name = "jsonl"

    def __init__(self, file: Sink) -> None:
        super().__init__(file)
        self._form = with_schema

    @classmethod
    def resumed(cls, out: str, step: int) -> Self:
        """Reads the file from its end."""
        with open(out, "rb") as file:
            end = end_of_json_lines(file, step)
        recorder = cls(OutputFile(cut(out, end)))
        if end:
            recorder._form = _as_it_is
        return recorder

    def write(self, record: RowRecord) -> None:
        """Writes and flushes one line."""
        line = self._form(record.to_json_line())
        self._form = _as_it_is
        self._file.write(f"{line}\n".encode("ascii"))
        self._file.flush()

    def finish(self) -> None:
        """Lines need no end."""


class CsvRecorder(FileRecorder):
    """One line of comma-separated values a record; the first record decides the columns.

    Raises:
        ValueError: a later record has a column the first one lacks.
    """

    name = "csv"

    def __init__(self, file: Sink) -> None:
        super().__init__(file)
        self._lines = csv.writer(_Utf8(file), lineterminator="\n")
        self._names: Collection[str] = ()

    @classmethod
    def resumed(cls, out: str, step: int) -> Self:
        """Reads the file from its beginning: a cell may hold ends of lines."""
        with open(out, "rb") as file:
            names, end = end_of_csv(file, step)
        recorder = cls(OutputFile(cut(out, end)))
        recorder._names = names
        return recorder

    def write(self, record: RowRecord) -> None:
        """Writes and flushes one line."""
        columns = record.to_columns()
        if not self._names:
            self._names = columns.keys()
            self._lines.writerow(self._names)
        require_known(columns, self._names)
        self._lines.writerow([columns.get(name) for name in self._names])
        self._file.flush()

    def finish(self) -> None:
        """Lines need no end."""


def recorder_for(format_name: str, out: str, owner: str = "--format") -> Recorder:
    """The recorder of a format, writing to the file ``out`` or, for ``-``, to standard output.

    Raises:
        UsageError: there is no such format, or the file cannot be written.

    >>> import tempfile
    >>> from tidegate._core.records import Forecast, Record
    >>> with tempfile.NamedTemporaryFile("r") as file:
    ...     with recorder_for("csv", file.name) as recorder:
    ...         recorder.write(Record(step=1, time=None, prediction=None, actual=5.0, error=None,
    ...                               next=Forecast(time=None, prediction=5.5)))
    ...     file.read().splitlines()[1]
    '1,,,,,,5.0,,,,5.5,,'
    """
    return _kind(format_name, owner)(sink_for(out))


def resume(format_name: str, out: str, step: int, owner: str = "--format") -> Recorder:
    """The recorder that goes on in the file ``out`` after the record of ``step``.

    Later records and half a line at the end are cut off, so that the file becomes that of a run
    that was never interrupted, byte for byte. ``step`` 0 empties the file.

    Raises:
        UsageError: there is no such format, it cannot be continued, or the file cannot be written.
        DataError: the file does not hold the records up to ``step``.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("r+", suffix=".jsonl") as file:
    ...     print('{"schema": 1, "step": 1, "key": null}', file=file)
    ...     print('{"step": 2, "k', end="", file=file, flush=True)
    ...     resume("jsonl", file.name, 1).close()
    ...     file.seek(0), file.read()
    (0, '{"schema": 1, "step": 1, "key": null}\\n')
    """
    kind = _kind(format_name, owner)
    if step == 0:
        return kind(sink_for(out))
    try:
        return kind.resumed(out, step)
    except FileNotFoundError as error:
        raise lost(out, step, "no file") from error
    except OSError as error:
        hint = "Check the folder and its permissions."
        raise UsageError(out, "a file that can be written", str(error.strerror), hint) from error


def _kind(format_name: str, owner: str) -> type[FileRecorder]:
    return find("tidegate._core", FileRecorder, format_name, owner)  # type: ignore[type-abstract]


def _as_it_is(line: str) -> str:
    return line


def require_known(columns: Mapping[str, Cell], names: Collection[str]) -> None:
    """Refuses a record with a column that the first one lacked."""
    if not columns.keys() <= set(names):
        late = sorted(columns.keys() - set(names))
        raise ValueError(f"columns {late} came after the first record")
