"""The group of commands: a file of this folder is one, and holds a click command of its name."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import click

import tidegate
from tidegate import cli


class Commands(click.Group):
    """Finds commands by listing the folder, so that one costs nothing until it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        found = (module.name for module in pkgutil.iter_modules(cli.__path__))
        return sorted(name for name in found if not name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = getattr(import_module(f"tidegate.cli.{cmd_name}"), cmd_name)
        return command


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(tidegate.__version__, message="%(prog)s %(version)s")
def commands() -> None:
    """Predicts streams that never end, and learns while it predicts.

    `tidegate run` alone shows it on a stream that comes with the package.
    """
