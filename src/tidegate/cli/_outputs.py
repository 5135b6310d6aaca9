"""Where the records of a run go: files, standard output, or both."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from tidegate._core.errors import TidegateError, UsageError
from tidegate._core.record_pieces import PieceRecorder
from tidegate._core.recorders import STDOUT, Recorder, recorder_for, resume
from tidegate._core.records import RowRecord
from tidegate.cli._folder import RunFolder
from tidegate.cli._options import Options

ENDINGS = {".jsonl": "jsonl", ".csv": "csv", ".parquet": "parquet"}
READ_WHOLE = {"parquet"}  # formats nobody can read before their end


def resolved_format(options: Options) -> str:
    """The format that was asked for, else the one that the end of ``--out`` names."""
    return options.format or ENDINGS.get(Path(options.out or "").suffix.lower(), "jsonl")


def places(options: Options, folder: RunFolder | None) -> list[str]:
    """The paths the records go to; ``-`` is standard output.

    Raises:
        UsageError: two of them are one, or one is the file the rows come from.
    """
    format_name = resolved_format(options)
    found = [] if folder is None else [folder.records(format_name)]
    if options.out is not None:
        found.append(options.out)
    elif folder is None or not on_terminal():
        found.append(STDOUT)
    if STDOUT in found:
        _require_reader(format_name)
    _require_apart("--out", [*found, *([options.file] if options.file else [])])
    return found


def on_terminal() -> bool:
    """Whether standard output is read by a person."""
    return sys.stdout is not None and sys.stdout.isatty()


@dataclass(frozen=True)
class _Place:
    path: str
    written: str
    recorder: Recorder

    def close(self) -> None:
        self.recorder.close()
        if self.written != self.path:
            os.replace(self.written, self.path)


class Outputs:
    """Writes each record to every place; a format that is read whole appears when it is whole.

    Args:
        format_name: of the records.
        paths: what :func:`places` found.
        folder: the run's, whose records come in pieces where the format is read whole.
        step: the last record that is kept of a run before, which goes on in these files.

    Raises:
        UsageError: a file cannot be written, or not be continued.
        DataError: a file does not hold the records up to ``step``.
    """

    def __init__(
        self, format_name: str, paths: Sequence[str], folder: RunFolder | None, step: int = 0
    ) -> None:
        pieces = None if folder is None else folder.records(format_name)
        self._places: list[_Place] = []
        for path in paths:
            if path == pieces and format_name in READ_WHOLE:
                self._places.append(_Place(path, path, PieceRecorder(Path(path), step)))
            elif step and (path == pieces or os.path.isfile(path)):
                self._places.append(_Place(path, path, resume(format_name, path, step)))
            else:
                written = f"{path}.part" if _appears_whole(format_name, path) else path
                self._places.append(_Place(path, written, recorder_for(format_name, written)))

    def write(self, record: RowRecord) -> None:
        """Writes and flushes one record.

        Raises:
            BrokenPipeError: nobody reads the pipe any more.
            TidegateError: the disk is full, or the file has gone.
        """
        for place in self._places:
            try:
                place.recorder.write(record)
            except OSError as error:
                raise _cannot_write(place.path, error) from error

    def sync(self) -> None:
        """What was written outlives a power cut.

        Raises:
            BrokenPipeError: nobody reads the pipe any more.
            TidegateError: the disk is full, or the file has gone.
        """
        for place in self._places:
            try:
                place.recorder.sync()
            except OSError as error:
                raise _cannot_write(place.path, error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for place in self._places:
            try:
                place.close()
            except OSError as failure:
                with suppress(OSError):
                    _remove_part(place)
                # The first error is the one that says what happened.
                if error is None:
                    raise _cannot_write(place.path, failure) from failure


def _cannot_write(path: str, error: OSError) -> OSError | TidegateError:
    if isinstance(error, BrokenPipeError):
        return error
    name = "standard output" if path == STDOUT else path
    hint = "The records before are whole; start again where there is room."
    return TidegateError(name, "room for a record", str(error.strerror), hint)


def _remove_part(place: _Place) -> None:
    if place.written != place.path:
        os.remove(place.written)


def _appears_whole(format_name: str, path: str) -> bool:
    return format_name in READ_WHOLE and path != STDOUT and _replaceable(path)


def _require_reader(format_name: str) -> None:
    if sys.stdout is None:
        got, hint = "a closed one", "Open it, or name a file: --out FILE."
        raise UsageError("standard output", "an open file", got, hint)
    if format_name in READ_WHOLE and on_terminal():
        hint = "Name one: --out FILE."
        raise UsageError(f"--format {format_name}", "a file or a pipe", "a terminal", hint)


def _require_apart(owner: str, paths: Sequence[str]) -> None:
    """Nothing is written over what is read, nor twice to one file."""
    files = [os.path.realpath(path) for path in paths if path != STDOUT and _replaceable(path)]
    for path in paths:
        if files.count(os.path.realpath(path)) > 1:
            got = f"{path!r}, which is in use"
            raise UsageError(owner, "a file of its own", got, "Name another file.")


def _replaceable(path: str) -> bool:
    """A pipe or device with a name cannot be replaced by a file, and may be named twice."""
    return os.path.isfile(path) or not os.path.exists(path)
