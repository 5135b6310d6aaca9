"""No browser outlives the tests: neither those that fail nor those that are killed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Browser
from .ending import KNOWS, members, running

pytestmark = pytest.mark.skipif(not KNOWS, reason="needs the /proc of Linux")

# A child in a process group of its own, as chromium is, and one that is not.
TREE = """
import subprocess, sys, time
from pathlib import Path
sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
subprocess.Popen(sleep, process_group=0)
subprocess.Popen(sleep)
Path(sys.argv[1]).touch()
time.sleep(600)
"""
ALL = 4  #: the guard, the tree and its children

OWNER = """
import sys, time
from pathlib import Path
from ending import running
with running([sys.executable, "-c", sys.argv[1], sys.argv[2]]) as session:
    Path(sys.argv[3]).write_text(f"{session}.")
    time.sleep(600)
"""


def wait_until(fulfilled: Callable[[], bool]) -> None:
    for _ in range(600):
        if fulfilled():
            return
        time.sleep(0.05)
    raise TimeoutError


def test_a_failure_ends_all_that_was_started(tmp_path: Path) -> None:
    started = tmp_path / "started"
    command = [sys.executable, "-c", TREE, str(started)]
    with pytest.raises(ZeroDivisionError), running(command) as session:
        wait_until(started.exists)
        assert len(members(session)) == ALL
        raise ZeroDivisionError
    assert members(session) == []


def test_a_kill_of_the_tests_ends_all_that_was_started(tmp_path: Path) -> None:
    started, number = tmp_path / "started", tmp_path / "number"
    command = [sys.executable, "-c", OWNER, TREE, str(started), str(number)]
    with subprocess.Popen(command, cwd=Path(__file__).parent) as owner:
        try:
            wait_until(lambda: started.exists() and number.exists() and bool(number.read_text()))
            session = int(number.read_text().rstrip("."))
            assert len(members(session)) == ALL
        finally:
            owner.kill()
    wait_until(lambda: members(session) == [])


def test_chromium_is_in_the_session_that_is_ended(browser: Browser) -> None:
    commands = [Path(f"/proc/{pid}/cmdline").read_text() for pid in members(browser.processes)]
    profile = next(word for word in "\0".join(commands).split("\0") if "--user-data-dir=" in word)
    # Of the whole machine, those with this profile are of this session.
    assert 1 <= len(_with(profile)) == sum(profile in command.split("\0") for command in commands)


def _with(word: str) -> list[Path]:
    found: list[Path] = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = entry.read_text(errors="replace")
        except OSError:
            continue
        if word in command.split("\0"):
            found.append(entry)
    return found
