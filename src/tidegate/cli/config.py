"""``tidegate config``: which options are in force here, and where they come from."""

from __future__ import annotations

import json
from typing import Any

import click

from tidegate.cli._options import OPTIONS, settings_in_force


@click.command()
def config() -> None:
    """Show the options in force for `tidegate run`, and where each comes from.

    Flags come first, then variables of the environment as TIDEGATE_UNITS, then the table [run] of
    tidegate.toml in this folder, then defaults. What is printed can stand in that file.
    """
    settings = settings_in_force({})
    written = [_written(option.key, settings[option.key]) for option in OPTIONS]
    width = max(map(len, written))
    click.echo("[run]")
    for option, text in zip(OPTIONS, written, strict=True):
        click.echo(f"{text:{width}}  # {settings.source(option.key)}")


def _written(key: str, value: Any) -> str:
    """A line of TOML; JSON writes its texts, numbers, lists and switches alike."""
    return f"# {key}" if value is None else f"{key} = {json.dumps(value, ensure_ascii=False)}"
