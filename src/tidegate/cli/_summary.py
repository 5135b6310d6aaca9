"""What a run was worth, in words for whoever sees it for the first time."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from tidegate.forecast import OURS, Prequential
from tidegate.streams import BadRows

NAMED = 3  #: skipped rows named on the screen; summary.json names more
ALIKE = 0.01  #: a share of the error below which two forecasts count as alike
FEW = 100  #: scored rows below which figures are mostly chance
MEANINGS = {
    OURS: "",
    "persistence": "the last value again",
    "day ago": "the value a day before",
    "week ago": "the value a week before",
}
FLAGS = {
    "missing": "with a missing value",
    "clipped": "too far off to learn from in full",
    "gap": "after a gap in time",
    "alarm": "while most of the memory could no longer change",
}
END = "end of stream"
SIGNALS = ("SIGINT", "SIGTERM")
STUCK = (
    "The network can no longer learn to remember: its cell cannot forget, or its gates no longer "
    "do. Try another one: --cell lstm."
)
LEGEND = "skill: the share of its error that tidegate saves; 0 is no better, below 0 is worse"

Summary = dict[str, Any]


def summarised(run: Prequential, bad_rows: BadRows, target: str, ended: str) -> Summary:
    """The content of ``summary.json``: figures of ``run``, rows passed over, why it ended."""
    skipped = {"count": bad_rows.count, "first": [str(error) for error in bad_rows.named]}
    own = {"source": run.source, "target": target, "ended": ended}
    return own | run.summary() | {"skipped": skipped}


def show(summary: Summary, folder: str) -> None:
    """Prints the summary to standard error, and where it was saved, if it was."""
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    console.print(f"\n{_title(summary)}")
    if summary["scored"]:
        console.print(_table(summary))
        console.print(f"{_scored(summary)}\n{LEGEND}\n")
    console.print(f"{verdict(summary)}\n{counts(summary)}")
    for error in summary["skipped"]["first"][:NAMED]:
        console.print(f"  {error.partition('. Correct the row')[0]}")
    if "alarm" in summary["flags"]:
        console.print(STUCK)
    if folder:
        console.print(f"Records and summary are in {folder}.")
        if summary["ended"] != END:
            console.print(f"Go on with it: tidegate run --resume {folder}")


def verdict(summary: Summary) -> str:
    """What the figures mean; nothing is called better that is not.

    >>> verdict({"scored": 900, "mae": {"tidegate": 0.9, "persistence": 1.0}})
    'Better than every simple forecast: 10.0 % less error than persistence.'
    >>> verdict({"scored": 900, "mae": {"tidegate": 0.996, "persistence": 1.0}})
    'No better than persistence.'
    """
    if not summary["scored"]:
        return _unscored(summary)
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
    against_best = f"{_judged(saved)} {best}"
    if best == "persistence":
        return f"{against_best.capitalize()}."
    over_last = 1 - ours / mae["persistence"]
    link = "but" if over_last > ALIKE else "and"
    return f"{_judged(over_last).capitalize()} persistence, {link} {against_best}."


def counts(summary: Summary) -> str:
    """Rows in all, what was flagged, what was passed over.

    >>> counts({"steps": 9, "flags": {"missing": 2}, "skipped": {"count": 1}})
    '9 rows predicted: 2 with a missing value. 1 row skipped, as it could not be read.'
    """
    flags, skipped = summary["flags"], summary["skipped"]["count"]
    parts = [f"{flags[flag]:,} {words}" for flag, words in FLAGS.items() if flag in flags]
    text = f"{_rows(summary['steps'])} predicted" + (f": {', '.join(parts)}." if parts else ".")
    if not skipped:
        return text
    they = "it" if skipped == 1 else "they"
    return f"{text} {_rows(skipped)} skipped, as {they} could not be read."


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _judged(saved: float) -> str:
    if saved > ALIKE:
        return "better than"
    return "worse than" if saved < -ALIKE else "no better than"


def _unscored(summary: Summary) -> str:
    if not summary["steps"]:
        return "No row came: there was nothing to predict."
    if summary["steps"] <= summary["warmup"]:
        warmup = f"the warm-up of {_rows(summary['warmup'])}"
        return f"Nothing is scored yet: {warmup} was not over. --warmup ROWS makes it shorter."
    return "Nothing is scored: after the warm-up no row had both a value and a forecast."


def _title(summary: Summary) -> str:
    what = f"{summary['target']} of {summary['source']}"
    if summary["steps"]:
        what += ", every row predicted before it came"
    return f"{what}; stopped by {summary['ended']}" if summary["ended"] in SIGNALS else what


def _scored(summary: Summary) -> str:
    warmup = f", after a warm-up of {summary['warmup']:,}" if summary["warmup"] else ""
    return f"scored: {_rows(summary['scored'])}, the same for all{warmup}"


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


def share(skill: float) -> str:
    """Three digits, and no minus before a zero.

    >>> share(-0.0001), share(0.6919)
    ('0.000', '0.692')
    """
    return f"{round(skill, 3) + 0.0:.3f}"


def _amount(value: float) -> str:
    """Four digits, as more mean little."""
    return f"{value:,.1f}" if 100 <= value < 1e9 else f"{value:.4g}"
