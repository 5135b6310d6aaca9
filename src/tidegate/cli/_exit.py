"""How a command ends: its exit code, and an error as one message instead of a traceback.

0 done, 1 failed while running, 2 usage, 3 bad input data, 4 diverged; 128 + signal where one
stopped it.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

import click

from tidegate._core.errors import TidegateError
from tidegate.cli._interrupts import Stopped


def exit_code(command: click.Command, arguments: Sequence[str]) -> int:
    """Carries out ``command`` and says how the process should end; errors go to stderr."""
    try:
        return _carried_out(command, arguments)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except TidegateError as error:
        click.echo(f"Error: {error}", err=True)
        return error.exit_code
    except Stopped as stop:
        return stop.exit_code
    except (KeyboardInterrupt, click.Abort):
        return 128 + signal.SIGINT
    except BrokenPipeError:
        discard_stdout()
        return 0
    except OSError as error:
        what = f"{error.filename}: " if error.filename else ""
        click.echo(f"Error: {what}{error.strerror or error}", err=True)
        return 1


def discard_stdout() -> None:
    """What is still buffered goes nowhere, as nobody reads it: else Python complains at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _carried_out(command: click.Command, arguments: Sequence[str]) -> int:
    # Not command.main: it turns a closed pipe into 1, and Ctrl-C too.
    try:
        with command.make_context("tidegate", list(arguments)) as context:
            command.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    return 0
