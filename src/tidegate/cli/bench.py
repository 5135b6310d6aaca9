"""``tidegate bench``: this library beside other forecasts, on the user's own stream."""

from __future__ import annotations

from typing import Any

import click

NATURAL = click.IntRange(min=0)

EXAMPLES = """\b
Examples:
  tidegate bench
  tidegate bench traffic.csv --target volume --time hour
  tidegate bench traffic.csv --target volume --method tidegate --method river-arf --format json
"""


@click.command(epilog=EXAMPLES)
@click.argument("file", required=False)
@click.option("--target", metavar="COLUMN", help="Column to predict; needed with a FILE.")
@click.option("--time", metavar="COLUMN", help="Column that dates a row, as 2015-07-01 13:00.")
@click.option(
    "--method", "methods", metavar="NAME", multiple=True, help="Only this; may be repeated."
)
@click.option("--seed", type=NATURAL, default=0, show_default=True, help="Of what draws.")
@click.option(
    "--warmup", metavar="ROWS", help="First rows that are not scored; by default a tenth."
)
@click.option("--on-bad-row", metavar="stop|skip", help="What to do with an unreadable row.")
@click.option("--separator", metavar="CHARACTER", help="Between cells; by default the comma.")
@click.option("--decimal", metavar=".|,", help="Decimal mark.")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Of what goes to standard output.",
)
@click.pass_context
def bench(
    ctx: click.Context,
    /,
    file: str | None,
    methods: tuple[str, ...],
    seed: int,
    format_name: str,
    **flags: Any,
) -> None:
    """Compare forecasts of a stream: predict each row, then learn from it, the same rows for all.

    FILE is read as `tidegate run` reads it; without it the stream is the hourly traffic that comes
    with the package. Taking part are this library, the simple forecasts, recursive least squares,
    and what there is for river, scikit-learn and statsforecast where they are installed. The table
    goes to standard output, the smallest error first; what is absent, and how to get it, to
    standard error.
    """
    # Imported here: help must not wait for what predicts.
    from tidegate.cli._comparison import compared

    given = {key: value for key, value in flags.items() if value is not None}
    ctx.exit(compared(file, given, methods, seed, format_name))
