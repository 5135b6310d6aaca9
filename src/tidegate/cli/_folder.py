"""A run's folder: settings, state, records and summary, each file there whole or not at all."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import tidegate
from tidegate._core.errors import CheckpointError, TidegateError, UsageError
from tidegate._core.records import SCHEMA
from tidegate._core.whole_file import replace_file
from tidegate.cli._options import Options, options_of
from tidegate.kernels.code.cpu import host
from tidegate.learn.checkpoint import Checkpoint, load, same_or_refuse, save

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

STATE, SETTINGS, SUMMARY = "state.safetensors", "run.json", "summary.json"


class RunFolder:
    """The folder of ``--save`` or ``--resume``; nothing is written before the run begins."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self._locked: int | None = None

    @property
    def trace(self) -> Path:
        """Where the trace lies."""
        return self.path / "trace"

    def records(self, format_name: str) -> str:
        """Where the records lie; in Parquet they are a folder of pieces."""
        return str(self.path / f"records.{format_name}")

    def refuse_state(self) -> None:
        """A new run may not take the place of one that can go on.

        Raises:
            UsageError: there is the state of a run.
        """
        if (self.path / STATE).exists():
            path = str(self.path)
            hint = f"Go on with that run: --resume {path}. Or save to another folder."
            raise UsageError("--save", "a folder without a run to go on with", repr(path), hint)

    def state(self) -> Checkpoint | None:
        """The saved state, or None where there is none.

        Raises:
            CheckpointError: it is damaged, or another version wrote it.
        """
        path = self.path / STATE
        if not path.exists():
            return None
        found = load(path)
        same_or_refuse(path, {"tidegate": tidegate.__version__}, found.header)
        return found

    def settings(self) -> dict[str, Any] | None:
        """The options of a run that was begun here, or None where none was, or it was cut off."""
        try:
            found: dict[str, Any] = json.loads((self.path / SETTINGS).read_bytes())["options"]
        except (OSError, ValueError, KeyError):
            return None
        return found

    def begin(self, options: Options) -> None:
        """Makes the folder and ``run.json``: all that is needed to repeat the run.

        Raises:
            UsageError: the folder cannot be made, or not be written.
        """
        settings = {"schema": SCHEMA, **about(options)}
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self.lock()
            (self.path / SUMMARY).unlink(missing_ok=True)
            self._write(SETTINGS, settings)
        except OSError as error:
            got, hint = f"{str(self.path)!r} ({error.strerror})", "Check path and permissions."
            raise UsageError("--save", "a folder that can be written", got, hint) from error

    def lock(self) -> None:
        """Keeps other runs out until this one ends, however it ends.

        Raises:
            UsageError: another run writes to the folder.
        """
        if fcntl is None:
            return
        self._locked = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.flock(self._locked, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.release()
            path, hint = str(self.path), "Wait for that run to end, or save to another folder."
            raise UsageError("--save", "a folder no other run writes to", path, hint) from None
        except OSError:
            pass  # some file systems know no locks

    def release(self) -> None:
        """Lets others in."""
        if self._locked is not None:
            os.close(self._locked)
            self._locked = None

    def write_state(self, checkpoint: Checkpoint) -> None:
        """The state, in the place of the one before.

        Raises:
            TidegateError: it cannot be written; the one before stays.
        """
        try:
            save(self.path / STATE, checkpoint)
        except CheckpointError as error:
            hint = "The state before is whole: make room, then go on with --resume."
            raise TidegateError(error.owner, error.expected, error.got, hint) from error

    def write_summary(self, summary: Mapping[str, Any]) -> None:
        """``summary.json``: how far off the predictions were.

        Raises:
            OSError: it cannot be written.
        """
        self._write(SUMMARY, {"schema": SCHEMA, **summary})

    def _write(self, name: str, content: Mapping[str, Any]) -> None:
        text = json.dumps(content, indent=2, allow_nan=False)
        replace_file(self.path / name, f"{text}\n".encode())


def of_forecaster(folder: Path) -> bool:
    """Whether the run in ``folder`` is a forecaster's, and not one of a bare network."""
    settings = RunFolder(str(folder)).settings()
    return settings is not None and not options_of(settings).bare


def of_categories(folder: Path) -> bool:
    """Whether the run in ``folder`` is one over categories."""
    settings = RunFolder(str(folder)).settings()
    return settings is not None and options_of(settings).categories


def about(options: Options) -> dict[str, Any]:
    """What a run is: versions, processor, seed, options."""
    versions = {
        "tidegate": tidegate.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    own = {"versions": versions, "cpu": host().identity, "seed": options.seed}
    return own | {"options": asdict(options)}
