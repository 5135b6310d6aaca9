"""Commands that never outlive those who start them.

A guard in a session of its own starts the command and waits for the end of its standard input. The
one who started it holds the other end of that pipe, so that however he ends, killed too, the guard
sees it and kills every process of the session. Chromium makes process groups of its own, but no
session. Needs the /proc of Linux.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

KNOWS = Path("/proc/self/stat").exists()


@contextmanager
def running(command: Sequence[str]) -> Iterator[int]:
    """The number of the session that ``command`` runs in, all of which ends with the context."""
    environment = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    guard = subprocess.Popen(
        [sys.executable, __file__, *command],
        env=environment,
        start_new_session=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert guard.stdin is not None
    try:
        yield guard.pid
    finally:
        guard.stdin.close()
        guard.wait(timeout=30)


def members(session: int) -> list[int]:
    """The living processes of a session."""
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            # The name, in brackets, may hold anything: fields are counted after it.
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if fields[0] not in "ZX" and int(fields[3]) == session:
            found.append(int(entry.name))
    return found


def end(session: int) -> None:
    """Kills all of a session but this process, and what they start meanwhile."""
    while others := [pid for pid in members(session) if pid != os.getpid()]:
        for pid in others:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
    sys.stdin.read()
    end(os.getpid())
