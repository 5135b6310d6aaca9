"""A run's folder: settings, records and summary, each file there whole or not at all."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import tidegate
from tidegate._core.errors import UsageError
from tidegate._core.records import SCHEMA
from tidegate.cli._options import Options
from tidegate.kernels.cpu import host

STATE = "state.safetensors"


class RunFolder:
    """The folder of ``--save``; nothing is written to it before the run begins.

    Raises:
        UsageError: it holds the state of a run.
    """

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        if (self.path / STATE).exists():
            hint = f"Go on with that run: --resume {path}. Or save to another folder."
            raise UsageError("--save", "a folder without a run to go on with", repr(path), hint)

    def records(self, format_name: str) -> str:
        """Where the records lie."""
        return str(self.path / f"records.{format_name}")

    def begin(self, options: Options) -> None:
        """Makes the folder and ``run.json``: all that is needed to repeat the run.

        Raises:
            UsageError: the folder cannot be made.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            got, hint = f"{str(self.path)!r} ({error.strerror})", "Check path and permissions."
            raise UsageError("--save", "a folder", got, hint) from error
        versions = {
            "tidegate": tidegate.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
        }
        settings = {
            "schema": SCHEMA,
            "versions": versions,
            "cpu": host().identity,
            "seed": options.seed,
            "options": asdict(options),
        }
        self._write("run.json", settings)

    def write_summary(self, summary: dict[str, Any]) -> None:
        """``summary.json``: how far off the predictions were."""
        self._write("summary.json", {"schema": SCHEMA, **summary})

    def _write(self, name: str, content: dict[str, Any]) -> None:
        """Beside, synced, renamed: a reader sees the old file or the new one."""
        beside = self.path / f".{name}.part"
        with open(beside, "w", encoding="utf-8") as file:
            file.write(json.dumps(content, indent=2, allow_nan=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self.path / name)
