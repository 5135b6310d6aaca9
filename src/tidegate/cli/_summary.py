"""What a run was worth, in words for whoever sees it for the first time."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table

from tidegate.cli._summary_words import (
    ALIKE,
    FEW,
    FORECASTER,
    NAMED,
    Summary,
    counts,
    judged,
    scored,
    share,
    skipped_rows,
    streams,
    stuck,
    title,
    unscored,
    where_it_is,
)
from tidegate.forecast import OURS
from tidegate.forecast.scoring.alarm_log import Raised

LEADS = (2, 3, 6, 12, 24, 48, 96, 168, 336, 720)  #: steps ahead shown, and the furthest
MEANINGS = {
    OURS: "",
    "persistence": "the last value again",
    "day ago": "the value a day before",
    "week ago": "the value a week before",
}
STUCK = (
    "The network can no longer learn to remember: its cell cannot forget, or its gates no longer "
    "do. Try another one: --cell lstm."
)
LEGEND = "skill: the share of its error that tidegate saves; 0 is no better, below 0 is worse"


def show(summary: Summary, folder: str) -> None:
    """Prints the summary to standard error, and where it was saved, if it was."""
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    console.print(f"\n{title(summary)}")
    if summary["scored"]:
        console.print(_table(summary))
        console.print(f"{scored(summary)}\n{LEGEND}\n")
    if summary["ahead"]:
        console.print(_ahead(summary))
    console.print(verdict(summary))
    told = [*intervals(summary), counts(summary), *skipped_rows(summary), *streams(summary)]
    told += [*alarms(summary), *([STUCK] if stuck(summary) else [])]
    for line in [*told, *where_it_is(summary, folder)]:
        console.print(line)


def verdict(summary: Summary) -> str:
    """What the figures mean; nothing is called better that is not.

    >>> verdict({"scored": 900, "mae": {"tidegate": 0.9, "persistence": 1.0}})
    'Better than every simple forecast: 10.0 % less error than persistence.'
    >>> verdict({"scored": 900, "mae": {"tidegate": 0.996, "persistence": 1.0}})
    'No better than persistence.'
    """
    if not summary["scored"]:
        return unscored(summary)
    mae: dict[str, float] = dict(summary["mae"])
    ours = mae.pop(OURS)
    best = min(mae, key=lambda name: mae[name])
    if summary["scored"] < FEW:
        return f"Too few rows are scored to tell which forecast is better: {summary['scored']}."
    if mae[best] == 0:
        return f"Nothing can be better than {best} here: it made no error."
    saved = 1 - ours / mae[best]
    if saved > ALIKE:
        less = f"{100 * saved:.1f} % less error than {best}"
        return f"Better than every simple forecast: {less}."
    against_best = f"{judged(saved)} {best}"
    if best == "persistence":
        return f"{against_best.capitalize()}."
    over_last = 1 - ours / mae["persistence"]
    link = "but" if over_last > ALIKE else "and"
    return f"{judged(over_last).capitalize()} persistence, {link} {against_best}."


def intervals(summary: Summary) -> list[str]:
    """How often the intervals held.

    >>> intervals({"coverage": {"0.9": {"steps": 1_000, "held": 0.897, "width": 12.3}}})
    ['90 % intervals held 89.7 % of 1,000 values; they are 12.3 wide on average.']
    """
    return [
        f"{_percent(float(level))} intervals held {100 * found['held']:.1f} % of "
        f"{found['steps']:,} values; they are {_amount(found['width'])} wide on average."
        for level, found in summary["coverage"].items()
    ]


def alarms(summary: Summary) -> list[str]:
    """How many alarms there were, and the last of them.

    >>> raised = {"step": 7, "key": None, "time": None, "began": 6, "size": 3.0, "surprise": 5.2}
    >>> about = {"model": "forecaster", "scored": 9}
    >>> alarms(about | {"alarms": {"count": 1, "newest": [raised]}})[1]
    '  row 7: level shifted by +3, 6 rows before; 5.2 standard deviations'
    """
    if summary["model"] != FORECASTER or not (summary["scored"] or summary["alarms"]["count"]):
        return []
    count, newest = summary["alarms"]["count"], summary["alarms"]["newest"][-NAMED:]
    if not count:
        return ["No alarm: the level of the stream did not shift beyond what is usual for it."]
    last = f", the last {NAMED} of them" if count > NAMED else ""
    said = f"{count:,} alarm{'s' if count > 1 else ''}{last}:"
    return [said, *(f"  {Raised(**raised).words()}" for raised in newest)]


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"


def _table(summary: Summary) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("forecast")
    table.add_column("mean absolute error", justify="right")
    table.add_column("skill over it", justify="right")
    for name, error in summary["mae"].items():
        meaning = f" ({MEANINGS[name]})" if MEANINGS.get(name) else ""
        skill = summary["skill"].get(name)
        table.add_row(f"{name}{meaning}", _amount(error), "" if skill is None else share(skill))
    return table


def _ahead(summary: Summary) -> Table:
    """Errors further ahead, at some of the leads and the furthest."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("rows ahead", justify="right")
    for heading in ("mean absolute error", "persistence", "skill", "held by the interval"):
        table.add_column(heading, justify="right")
    furthest = summary["ahead"][-1]["ahead"]
    for found in summary["ahead"]:
        if found["ahead"] in LEADS or found["ahead"] == furthest:
            ours, last, held = found["mae"], found["persistence"], found["held"]
            table.add_row(
                str(found["ahead"]), _amount(ours), _amount(last),
                share(1 - ours / last) if last else "", "" if held is None else _percent(held),
            )  # fmt: skip
    return table


def _amount(value: float) -> str:
    """Four digits, as more mean little."""
    return f"{value:,.1f}" if 100 <= value < 1e9 else f"{value:.4g}"
