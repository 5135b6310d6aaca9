"""``tidegate explain``: what a run predicted, and what the memory of its networks holds."""

from __future__ import annotations

from typing import Any

import click

FORMATS = ("html", "json", "csv", "png", "text")

EXAMPLES = """\b
Examples:
  tidegate run traffic.csv --target volume --save traffic --trace
  tidegate explain traffic
  tidegate explain traffic --borders holidays.csv --format text
  tidegate explain traffic new.csv --out new.html
"""


@click.command(epilog=EXAMPLES)
@click.argument("run")
@click.argument("file", required=False)
@click.option(
    "--learn", is_flag=True, help="Learn from FILE on the way, instead of frozen weights."
)
@click.option("--borders", metavar="FILE", help="Steps at which something begins, one a line.")
@click.option("--expert", metavar="NAME", help="Network to look at; by default what weighed most.")
@click.option("--key", metavar="NAME", help="Stream to look at, where the run has several.")
@click.option("--units", metavar="LIST", help="Units to show, as 0,3,8-15; by default all.")
@click.option(
    "--last", type=click.IntRange(min=1), default=20_000, show_default=True, metavar="STEPS",
    help="How many of the last steps are looked at.",
)  # fmt: skip
@click.option(
    "--format", "format_name", type=click.Choice(FORMATS),
    help="By default what the end of --out says, else html.",
)  # fmt: skip
@click.option("--out", metavar="FILE", help="Where it goes; by default explain.html in the folder.")
def explain(run: str, **options: Any) -> None:
    """Show what a run predicted, on what it rests, and what its networks remember.

    RUN is the folder of `tidegate run --save RUN`, or the checkpoint in it; with `--trace` in the
    run, the memory of its networks is shown too. With a FILE of the same columns, the rows of FILE
    are passed through the saved model instead, the weights of its networks as they are. The page
    needs no network. Text, JSON and CSV go to standard output.
    """
    # Imported here: help must not wait for what reads and draws.
    from tidegate.cli._explanation import explained

    explained(run, **options)
