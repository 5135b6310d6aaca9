"""Ways to call the command: within this process where that is enough, else as its own."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tidegate.cli._commands import commands
from tidegate.cli._exit import exit_code

COMMAND = [sys.executable, "-m", "tidegate"]


@dataclass
class Done:
    """What a command left behind."""

    code: int
    out: bytes
    err: str

    @property
    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


Call = Callable[..., Done]


@pytest.fixture
def call(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Call:
    """``call("run", "a.csv", stdin=b"...")`` within this process."""

    def called(*arguments: object, stdin: bytes = b"") -> Done:
        buffer = io.BufferedReader(io.BytesIO(stdin))  # type: ignore[type-var]
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=buffer))
        code = exit_code(commands, [str(argument) for argument in arguments])
        out, err = capsysbinary.readouterr()
        return Done(code, out, err.decode())

    return called


def started(*arguments: object, **options: Any) -> subprocess.Popen[bytes]:
    """The command as a process with pipes on every side."""
    pipe = subprocess.PIPE
    pipes = {"stdin": pipe, "stdout": pipe, "stderr": pipe} | options
    environment = os.environ | {"PYTHONWARNINGS": "error"}
    return subprocess.Popen([*COMMAND, *map(str, arguments)], env=environment, **pipes)


def ended(process: subprocess.Popen[bytes]) -> Done:
    """What is left of it, once its input is closed."""
    out, err = process.communicate(timeout=60)
    return Done(process.returncode, out or b"", (err or b"").decode())


def csv(values: object, name: str = "load") -> bytes:
    """A file of one column; an empty cell for NaN."""
    cells = ["" if value != value else repr(float(value)) for value in np.ravel(values)]
    return "\n".join([name, *cells, ""]).encode()


@pytest.fixture
def hourly(tmp_path: Path) -> Path:
    """400 hours with a day in them: columns ``time``, ``load``, ``wind``."""
    hours = np.arange(400)
    load = 100 + 30 * np.sin(hours * 2 * np.pi / 24) + np.random.default_rng(5).normal(size=400)
    times = np.datetime64("2021-03-01T00:00", "m") + hours * np.timedelta64(60, "m")
    lines = [f"{t},{x:.3f},{n % 7}" for n, (t, x) in enumerate(zip(times, load, strict=True))]
    path = tmp_path / "hourly.csv"
    path.write_text("\n".join(["time,load,wind", *lines, ""]))
    return path
