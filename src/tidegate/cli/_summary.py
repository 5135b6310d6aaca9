"""What a run was worth, in words for whoever sees it for the first time."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from tidegate.cli._models import Run
from tidegate.cli._options import Options
from tidegate.forecast import OURS
from tidegate.forecast.scoring.alarm_log import Raised
from tidegate.streams import BadRows

NAMED = 3  #: skipped rows and alarms named on the screen; summary.json names more
LEADS = (2, 3, 6, 12, 24, 48, 96, 168, 336, 720)  #: steps ahead shown, and the furthest
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
    "new": "with a category that had not come before",
}
FORECASTER, NETWORK, CATEGORIES = "forecaster", "network", "categories"
END = "end of stream"
SIGNALS = ("SIGINT", "SIGTERM")
STUCK = (
    "The network can no longer learn to remember: its cell cannot forget, or its gates no longer "
    "do. Try another one: --cell lstm."
)
STUCK_ROWS = "while most of the memory could no longer change"
LEGEND = "skill: the share of its error that tidegate saves; 0 is no better, below 0 is worse"

Summary = dict[str, Any]


def about_run(options: Options, target: str) -> Summary:
    """What a summary says of what was asked."""
    model = CATEGORIES if options.categories else NETWORK if options.bare else FORECASTER
    return {"target": target, "model": model, "key": options.key}


def summarised(run: Run, bad_rows: BadRows, own: Summary, ended: str) -> Summary:
    """The content of ``summary.json``: figures of ``run``, rows passed over, why it ended."""
    skipped = {"count": bad_rows.count, "first": [str(error) for error in bad_rows.named]}
    return {"source": run.source} | own | {"ended": ended} | run.summary() | {"skipped": skipped}


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
    told += [*alarms(summary), *([STUCK] if _stuck(summary) else [])]
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


def counts(summary: Summary) -> str:
    """Rows in all, what was flagged, what was passed over.

    >>> about = {"model": "forecaster", "flags": {"missing": 2}, "skipped": {"count": 1}}
    >>> counts({"steps": 9} | about)
    '9 rows predicted: 2 with a missing value. 1 row skipped, as it could not be read.'
    """
    flags, skipped = summary["flags"], summary["skipped"]["count"]
    parts = [f"{flags[flag]:,} {words}" for flag, words in FLAGS.items() if flag in flags]
    if _stuck(summary):
        parts.append(f"{flags['alarm']:,} {STUCK_ROWS}")
    text = f"{rows_in_words(summary['steps'])} predicted" + (
        f": {', '.join(parts)}." if parts else "."
    )
    if not skipped:
        return text
    they = "it" if skipped == 1 else "they"
    return f"{text} {rows_in_words(skipped)} skipped, as {they} could not be read."


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


def streams(summary: Summary) -> list[str]:
    """How many streams there were, where a key tells them apart.

    >>> streams({"key": "store", "keys": {"kept": 12, "forgotten": 0}})
    ["12 streams, told apart by 'store'."]
    """
    if summary["key"] is None:
        return []
    kept, gone = summary["keys"]["kept"], summary["keys"]["forgotten"]
    said = [f"{kept:,} stream{'s' if kept != 1 else ''}, told apart by {summary['key']!r}."]
    if gone:
        said.append(
            f"{gone:,} times the stream that was silent longest was forgotten to make room for "
            "another: --most-keys N keeps more, --light makes each small."
        )
    return said


def skipped_rows(summary: Summary) -> list[str]:
    """The first rows that could not be read.

    >>> skipped_rows({"skipped": {"first": ["a.csv, row 7: expected 3 cells, got 2."]}})
    ['  a.csv, row 7: expected 3 cells, got 2.']
    """
    return [f"  {_short(error)}" for error in summary["skipped"]["first"][:NAMED]]


def where_it_is(summary: Summary, folder: str) -> list[str]:
    """Where the run was saved, if it was, and how to go on with it.

    >>> where_it_is({"ended": "SIGINT"}, "demo")[1]
    'Go on with it: tidegate run --resume demo'
    """
    if not folder:
        return []
    more = [f"Go on with it: tidegate run --resume {folder}"] if summary["ended"] != END else []
    return [f"Records and summary are in {folder}.", *more]


def _short(error: str) -> str:
    return error.partition(". Correct the row")[0]


def _stuck(summary: Summary) -> bool:
    return summary["model"] == NETWORK and "alarm" in summary["flags"]


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"


def rows_in_words(count: int) -> str:
    """How many rows.

    >>> rows_in_words(1), rows_in_words(1_000)
    ('1 row', '1,000 rows')
    """
    return "1 row" if count == 1 else f"{count:,} rows"


def judged(saved: float) -> str:
    """What a share that is saved means; less than 1 % means nothing.

    >>> judged(0.2), judged(0.001), judged(-0.2)
    ('better than', 'no better than', 'worse than')
    """
    if saved > ALIKE:
        return "better than"
    return "worse than" if saved < -ALIKE else "no better than"


def unscored(summary: Summary) -> str:
    """Why there are no figures.

    >>> unscored({"steps": 0})
    'No row came: there was nothing to predict.'
    """
    if not summary["steps"]:
        return "No row came: there was nothing to predict."
    if summary["steps"] <= summary["warmup"]:
        warmup = f"the warm-up of {rows_in_words(summary['warmup'])}"
        return f"Nothing is scored yet: {warmup} was not over. --warmup ROWS makes it shorter."
    return "Nothing is scored: after the warm-up no row had both a value and a forecast."


def title(summary: Summary) -> str:
    """What was predicted.

    >>> title({"target": "sky", "source": "a.csv", "steps": 9, "ended": "end of stream"})
    'sky of a.csv, every row predicted before it came'
    """
    what = f"{summary['target']} of {summary['source']}"
    if summary["steps"]:
        what += ", every row predicted before it came"
    return f"{what}; stopped by {summary['ended']}" if summary["ended"] in SIGNALS else what


def scored(summary: Summary) -> str:
    """How many rows the figures are of.

    >>> scored({"scored": 900, "warmup": 200, "key": None})
    'scored: 900 rows, the same for all, after a warm-up of 200'
    """
    warmup = f", after a warm-up of {summary['warmup']:,}" if summary["warmup"] else ""
    warmup += " of each stream" if warmup and summary["key"] is not None else ""
    return f"scored: {rows_in_words(summary['scored'])}, the same for all{warmup}"


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


def share(skill: float) -> str:
    """Three digits, and no minus before a zero.

    >>> share(-0.0001), share(0.6919)
    ('0.000', '0.692')
    """
    return f"{round(skill, 3) + 0.0:.3f}"


def _amount(value: float) -> str:
    """Four digits, as more mean little."""
    return f"{value:,.1f}" if 100 <= value < 1e9 else f"{value:.4g}"
