"""Commands as processes of their own that start in milliseconds: forked from one that is warm.

Run as a script it reads the arguments of a command from each line, as JSON, and carries them out
in a child; it answers with the child's number at once, and with how it ended when it did.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from types import TracebackType
from typing import Self


class Forks:
    """The warm process; one command at a time."""

    def __enter__(self) -> Self:
        pipe = subprocess.PIPE
        self._server = subprocess.Popen(
            [sys.executable, __file__], stdin=pipe, stdout=pipe, text=True, bufsize=1
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.communicate(timeout=60)

    def start(self, *arguments: object) -> int:
        """The number of the process that carries out ``tidegate`` with these arguments."""
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps([str(one) for one in arguments]) + "\n")
        return self._answer()

    def wait(self) -> int:
        """Its exit code, negative where a signal ended it."""
        return self._answer()

    def _answer(self) -> int:
        assert self._server.stdout is not None
        return int(self._server.stdout.readline())


def main() -> None:
    from tidegate.cli import _session
    from tidegate.cli._commands import commands
    from tidegate.cli._exit import exit_code

    assert _session.predict, "imported here once, and not by every child"
    for line in sys.stdin:
        child = os.fork()
        if not child:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os._exit(exit_code(commands, json.loads(line)))
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
