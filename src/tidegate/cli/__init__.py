"""The command ``tidegate``: one file here for each of its commands, loaded only when called."""

from __future__ import annotations

import sys
from typing import NoReturn

from tidegate.cli._commands import commands
from tidegate.cli._exit import exit_code

__all__ = ["main"]


def main() -> NoReturn:
    """What the console calls: carries out the command line and ends the process."""
    sys.exit(exit_code(commands, sys.argv[1:]))
