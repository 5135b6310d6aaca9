"""What a run over categories was worth, in words for whoever sees it for the first time."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table

from tidegate.cli._summary_words import (
    ALIKE,
    FEW,
    Summary,
    counts,
    judged,
    rows_in_words,
    scored,
    share,
    skipped_rows,
    streams,
    title,
    unscored,
    where_it_is,
)
from tidegate.forecast import OURS
from tidegate.forecast.category_run import UNIFORM

MEANINGS = {
    OURS: "",
    "after last": "counts after the last one",
    "frequencies": "counts of all rows",
    UNIFORM: "all seen are alike",
}
LEGEND = """\
bits: -log2 of the probability that was given to what came; 0 is certainty
saved: the share of its bits that tidegate saves; 0 is no better, below 0 is worse
right: rows whose most probable category came"""


def show_categories(summary: Summary, folder: str) -> None:
    """Prints the summary to standard error, and where it was saved, if it was."""
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    console.print(f"\n{title(summary)}")
    if summary["scored"]:
        console.print(_table(summary))
        console.print(f"{scored(summary)}\n{LEGEND}\n")
    told = [counts(summary), *skipped_rows(summary), *known(summary), *streams(summary)]
    for line in [verdict(summary), *told, *where_it_is(summary, folder)]:
        console.print(line)


def verdict(summary: Summary) -> str:
    """What the figures mean; nothing is called better that is not.

    >>> verdict({"scored": 900, "bits": {"tidegate": 0.9, "after last": 1.0, "uniform": 2.0}})
    'Better than every simple forecast: 10.0 % fewer bits than after last.'
    >>> verdict({"scored": 900, "bits": {"tidegate": 1.0, "after last": 1.0, "uniform": 2.0}})
    'No better than after last.'
    """
    if not summary["scored"]:
        return unscored(summary)
    bits: dict[str, float] = dict(summary["bits"])
    ours = bits.pop(OURS)
    best = min(bits, key=lambda name: bits[name])
    if summary["scored"] < FEW:
        return f"Too few rows are scored to tell which forecast is better: {summary['scored']}."
    if bits[best] == 0:
        return f"Nothing can be better than {best} here: nothing else could come."
    saved = 1 - ours / bits[best]
    if saved > ALIKE:
        return f"Better than every simple forecast: {100 * saved:.1f} % fewer bits than {best}."
    return f"{judged(saved).capitalize()} {best}."


def known(summary: Summary) -> list[str]:
    """How many categories there are, and whether all of them have a place.

    >>> known({"key": None, "categories": {"known": 4, "most": 63}, "flags": {}})
    ['4 categories came.']
    """
    found, others = summary["categories"], summary["flags"].get("other", 0)
    noun = "category" if found["known"] == 1 else "categories"
    where = " in one stream at most" if summary["key"] is not None else ""
    said = [f"{found['known']:,} {noun} came{where}."] if found["known"] else []
    if others:
        said = [
            f"{found['most']:,} categories are told apart; {rows_in_words(others)} had another "
            "one: --most-categories NUMBER tells more apart."
        ]
    return said


def _table(summary: Summary) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("forecast")
    for heading in ("bits a row", "saved", "right"):
        table.add_column(heading, justify="right")
    for name, bits in summary["bits"].items():
        meaning = f" ({MEANINGS[name]})" if MEANINGS[name] else ""
        saved, missed = summary["saved"].get(name), summary["missed"].get(name)
        table.add_row(
            f"{name}{meaning}", f"{bits:.4g}", "" if saved is None else share(saved),
            "" if missed is None else f"{100 * (1 - missed):.1f} %",
        )  # fmt: skip
    return table
