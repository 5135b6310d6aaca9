"""What every test may lean on: hypothesis' profile, the folder of large data, the size report."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tidegate._core import trace_files
from tidegate._core.trace import Trace

ROOT = Path(__file__).parents[1]
LONG = 300

# Derandomised in CI, so that a change is never blamed for an example nobody drew before.
settings.register_profile(
    "tidegate", deadline=None, max_examples=50, derandomize="CI" in os.environ
)
settings.load_profile("tidegate")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real files that no package ships; tests that need it skip without it."""
    if "TIDEGATE_DATA" not in os.environ:
        pytest.skip("needs files no package ships: set TIDEGATE_DATA to their folder")
    return Path(os.environ["TIDEGATE_DATA"])


@pytest.fixture
def opened_pieces(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """First steps of the pieces of a trace that are opened, in order."""
    starts: list[int] = []
    read = trace_files._read

    def counting(path: Path) -> Trace:
        starts.append(int(path.stem))
        return read(path)

    monkeypatch.setattr(trace_files, "_read", counting)
    return starts


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Names the files that may hold more than one concept; a report, not a failure."""
    lines = {
        path.relative_to(ROOT): len(path.read_text(encoding="utf-8").splitlines())
        for folder in ("src", "tests")
        for path in (ROOT / folder).rglob("*.py")
    }
    long = {path: count for path, count in lines.items() if count > LONG}
    if long:
        terminalreporter.section(f"files above {LONG} lines")
    for path, count in sorted(long.items(), key=lambda item: -item[1]):
        terminalreporter.line(f"{count:5} {path}")
