"""``tidegate reproduce``: runs a published experiment again and says what holds."""

from __future__ import annotations

import click

POSITIVE = click.IntRange(min=1)
NATURAL = click.IntRange(min=0)

EXAMPLES = """\b
Examples:
  tidegate reproduce --list
  tidegate reproduce cerg --quick
  tidegate reproduce cerg-best --trials 100 --format json
"""


@click.command(epilog=EXAMPLES)
@click.argument("name", required=False)
@click.option("--list", "listing", is_flag=True, help="Name every experiment, and end.")
@click.option("--row", "rows", metavar="ROW", multiple=True, help="Only this; may be repeated.")
@click.option("--trials", type=POSITIVE, metavar="N", help="Trials of each row.")
@click.option("--seed", type=NATURAL, default=1000, show_default=True, help="Of the first trial.")
@click.option("--budget", type=POSITIVE, metavar="N", help="Of a trial; what it counts is listed.")
@click.option("--quick", is_flag=True, help="A first look, in about a minute; nothing is judged.")
@click.option("--processes", type=POSITIVE, metavar="N", help="Side by side; all cores if absent.")
@click.option("--save", metavar="DIR", help="Keeps finished trials; by default results/NAME.")
@click.option("--kept", is_flag=True, help="Runs nothing: shows what --save's folder holds so far.")
@click.option("--page", metavar="FILE", help="Writes the experiment's page, as Markdown.")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="Of what goes to standard output.",
)
@click.pass_context
def reproduce(
    ctx: click.Context,
    name: str | None,
    listing: bool,
    rows: tuple[str, ...],
    trials: int | None,
    seed: int,
    budget: int | None,
    quick: bool,
    processes: int | None,
    save: str | None,
    kept: bool,
    page: str | None,
    format_name: str,
) -> None:
    """Run a published experiment again, beside the published figures.

    NAME is one of those that --list names. Finished trials are kept: the same command, broken off
    and called again, goes on. Ends with exit code 5 where a claim that should hold does not.
    """
    # Imported here: help must not wait for what learns.
    from tidegate.cli._reproduction import Wish, listed, reproduced

    if listing:
        click.echo(listed())
    elif name is None:
        raise click.UsageError("Name an experiment; --list names them all.")
    else:
        wish = Wish(
            name, rows, trials, seed, budget, quick, processes, save, kept, page, format_name
        )
        ctx.exit(reproduced(wish))
