"""``tidegate run``: predicts each row of a stream before it comes, and learns from it after."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from tidegate._core.kinds import Choice, Several, Switch, Whole
from tidegate._core.settings import Option
from tidegate.cli._options import OPTIONS, settings_in_force

EXAMPLES = """\b
Examples:
  tidegate run
  tidegate run traffic.csv --target volume --time hour --out predictions.csv
  tidegate run traffic.csv --target volume --time hour --horizon 24 --level 0.5 --level 0.9
  tidegate run stores.csv --target sales --time day --key store --minimum 0
  tidegate run states.csv --target state --categories
  tail -f sensor.csv | tidegate run - --target pressure --alarm --save sensor
  tidegate run --resume sensor
"""

METAVARS = {
    "save": "DIR", "resume": "DIR", "out": "FILE", "warmup": "ROWS", "save-every": "SECONDS",
    "cell": "NAME", "separator": "CHARACTER", "horizon": "ROWS", "level": "SHARE",
    "minimum": "VALUE", "zone": "NAME",
}  # fmt: skip


def _flags(command: Callable[..., None]) -> Callable[..., None]:
    """The options as flags: None where they are not given; who reads them checks them."""
    for option in reversed(OPTIONS):
        command = _flag(option)(command)
    return command


def _flag(option: Option) -> Callable[[Callable[..., None]], Callable[..., None]]:
    help = option.help
    if option.default not in (None, (), False):
        help += f"  [default: {_shown(option.default)}]"
    if isinstance(option.kind, Switch):
        return click.option(f"--{option.name}/--no-{option.name}", default=None, help=help)
    several = isinstance(option.kind, Several)
    return click.option(option.flag, metavar=_metavar(option), multiple=several, help=help)


def _shown(default: Any) -> str:
    return " ".join(map(str, default)) if isinstance(default, tuple) else str(default)


def _metavar(option: Option) -> str:
    if isinstance(option.kind, Choice):
        return "|".join(option.kind.names)
    usual = "NUMBER" if isinstance(option.kind, Whole) else "COLUMN"
    return METAVARS.get(option.name, usual)


@click.command(epilog=EXAMPLES)
@click.argument("file", required=False)
@_flags
@click.pass_context
def run(ctx: click.Context, /, file: str | None, **flags: Any) -> None:
    """Predict each row of a stream before it comes, and learn from it.

    FILE is a .csv, .tsv or .parquet file, or - for standard input. Without it the stream is the
    hourly traffic that comes with the package. One record a row goes to standard output: the
    prediction, its interval, what came. How far off the predictions were, beside the simplest
    forecasts, and which alarms were raised goes to standard error.

    With --categories the target is one of a few things, and not a number: a record says how
    probable each is, and how surprising what came was.

    Options may also stand in tidegate.toml or in the environment, as TIDEGATE_UNITS=16;
    `tidegate config` shows which are in force.
    """
    # Imported here: help must not wait for what predicts.
    from tidegate.cli._session import predict

    given = {key: value for key, value in flags.items() if value not in (None, ())}
    ctx.exit(predict(file, settings_in_force(given)))
