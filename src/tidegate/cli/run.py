"""``tidegate run``: predicts each row of a stream before it comes, and learns from it after."""

from __future__ import annotations

import click

from tidegate.cli._options import Options

POSITIVE = click.IntRange(min=1)
NATURAL = click.IntRange(min=0)

EXAMPLES = """\b
Examples:
  tidegate run
  tidegate run traffic.csv --target volume --time hour --out predictions.csv
  tail -f sensor.csv | tidegate run - --target pressure --save sensor
"""


@click.command(epilog=EXAMPLES)
@click.argument("file", required=False)
@click.option("--target", metavar="COLUMN", help="Column to predict; needed with a FILE.")
@click.option("--time", metavar="COLUMN", help="Column that dates a row, as 2015-07-01 13:00.")
@click.option(
    "--input", "inputs", metavar="COLUMN", multiple=True, help="Further one; may be repeated."
)
@click.option("--cell", default="lstm", show_default=True, help="Cell of the network.")
@click.option("--units", type=POSITIVE, default=32, show_default=True, help="Units of its layer.")
@click.option("--seed", type=NATURAL, default=0, show_default=True, help="Of the start weights.")
@click.option("--warmup", type=NATURAL, metavar="ROWS", help="First rows that are not scored.")
@click.option(
    "--on-bad-row",
    type=click.Choice(["stop", "skip"]),
    default="stop",
    show_default=True,
    help="What to do with a row that cannot be read.",
)
@click.option("--save", metavar="DIR", help="Folder for records, summary and settings.")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["jsonl", "csv", "parquet"]),
    help="Of the records; by default what the end of --out says, else jsonl.",
)
@click.option("--out", metavar="FILE", help="File for the records, instead of standard output.")
@click.pass_context
def run(
    ctx: click.Context,
    file: str | None,
    target: str | None,
    time: str | None,
    inputs: tuple[str, ...],
    cell: str,
    units: int,
    seed: int,
    warmup: int | None,
    on_bad_row: str,
    save: str | None,
    format_name: str | None,
    out: str | None,
) -> None:
    """Predict each row of a stream before it comes, and learn from it.

    FILE is a .csv, .tsv or .parquet file, or - for standard input. Without it the stream is the
    hourly traffic that comes with the package. One record a row goes to standard output; how far
    off the predictions were, beside the simplest forecasts, to standard error.
    """
    # Imported here: help must not wait for what predicts.
    from tidegate.cli._session import predict

    options = Options(
        file=file,
        target=target,
        time=time,
        inputs=inputs,
        cell=cell,
        units=units,
        seed=seed,
        warmup=warmup,
        on_bad_row=on_bad_row,
        save=save,
        format=format_name,
        out=out,
    )
    ctx.exit(predict(options))
