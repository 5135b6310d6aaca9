"""The group of commands: found by listing, loaded when called, one line for an error."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

import tidegate
from cli.conftest import Call
from tidegate import DataError, DivergedError, MissingExtraError, TidegateError, UsageError
from tidegate.cli._exit import exit_code
from tidegate.cli._interrupts import Stopped

HEAVY = {"numpy", "llvmlite", "pyarrow", "rich", "torch"}


def imported_by_help(*arguments: str) -> set[str]:
    program = f"""
import sys
from tidegate.cli import main
sys.argv = ["tidegate", *{arguments!r}]
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0
    assert "Usage: tidegate" in done.stdout
    return {name.split(".")[0] for name in done.stderr.split()}


@pytest.mark.parametrize("arguments", [("--help",), ("run", "--help"), ("run", "-h")])
def test_help_waits_for_nothing_heavy(arguments: tuple[str, ...]) -> None:
    modules = imported_by_help(*arguments)
    assert "click" in modules
    assert not modules & HEAVY


def test_version(call: Call) -> None:
    assert call("--version").out.decode() == f"tidegate {tidegate.__version__}\n"


def test_files_are_commands(call: Call) -> None:
    assert b"\n  run " in call("--help").out


@pytest.mark.parametrize("name", ["rum", "_session"])
def test_an_unknown_command_is_usage(call: Call, name: str) -> None:
    done = call(name)
    assert (done.code, done.out) == (2, b"")
    assert f"No such command '{name}'" in done.err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (TidegateError("a", "b", "c", "D."), 1),
        (UsageError("a", "b", "c", "D."), 2),
        (MissingExtraError("a", "b", "c", "D."), 2),
        (DataError("a", "b", "c", "D."), 3),
        (DivergedError("a", "b", "c", "D."), 4),
    ],
)
def test_an_error_is_one_line_and_its_own_code(
    error: Exception, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(failing(error), []) == code
    assert capsys.readouterr() == ("", "Error: a: expected b, got c. D.\n")


@pytest.mark.parametrize(
    ("error", "code"),
    [(KeyboardInterrupt(), 130), (click.Abort(), 130), (Stopped(15), 143), (Stopped(2), 130)],
)
def test_signals_have_their_codes(error: BaseException, code: int) -> None:
    assert exit_code(failing(error), []) == code


def test_an_error_of_the_system_names_its_file(capsys: pytest.CaptureFixture[str]) -> None:
    error = OSError(5, "Input/output error", "a.csv")
    assert exit_code(failing(error), []) == 1
    assert capsys.readouterr().err == "Error: a.csv: Input/output error\n"


def test_a_bug_keeps_its_traceback() -> None:
    with pytest.raises(ZeroDivisionError):
        exit_code(failing(ZeroDivisionError()), [])


def failing(error: BaseException) -> click.Command:
    @click.command()
    def fail() -> None:
        raise error

    return fail
