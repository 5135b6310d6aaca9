"""What the summaries of all runs say alike, whatever they predict."""

from __future__ import annotations

from typing import Any

from tidegate.cli._models import Run
from tidegate.cli._options import Options
from tidegate.streams import BadRows

NAMED = 3  #: skipped rows and alarms named on the screen; summary.json names more
ALIKE = 0.01  #: a share of the error below which two forecasts count as alike
FEW = 100  #: scored rows below which figures are mostly chance
FLAGS = {
    "missing": "with a missing value",
    "clipped": "too far off to learn from in full",
    "gap": "after a gap in time",
    "new": "with a category that had not come before",
}
FORECASTER, NETWORK, CATEGORIES = "forecaster", "network", "categories"
END = "end of stream"
SIGNALS = ("SIGINT", "SIGTERM")
STUCK_ROWS = "while most of the memory could no longer change"

Summary = dict[str, Any]


def about_run(options: Options, target: str) -> Summary:
    """What a summary says of what was asked."""
    model = CATEGORIES if options.categories else NETWORK if options.bare else FORECASTER
    return {"target": target, "model": model, "key": options.key}


def summarised(run: Run, bad_rows: BadRows, own: Summary, ended: str) -> Summary:
    """The content of ``summary.json``: figures of ``run``, rows passed over, why it ended."""
    skipped = {"count": bad_rows.count, "first": [str(error) for error in bad_rows.named]}
    return {"source": run.source} | own | {"ended": ended} | run.summary() | {"skipped": skipped}


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


def judged(saved: float) -> str:
    """What a share that is saved means; less than 1 % means nothing.

    >>> judged(0.2), judged(0.001), judged(-0.2)
    ('better than', 'no better than', 'worse than')
    """
    if saved > ALIKE:
        return "better than"
    return "worse than" if saved < -ALIKE else "no better than"


def counts(summary: Summary) -> str:
    """Rows in all, what was flagged, what was passed over.

    >>> about = {"model": "forecaster", "flags": {"missing": 2}, "skipped": {"count": 1}}
    >>> counts({"steps": 9} | about)
    '9 rows predicted: 2 with a missing value. 1 row skipped, as it could not be read.'
    """
    flags, skipped = summary["flags"], summary["skipped"]["count"]
    parts = [f"{flags[flag]:,} {words}" for flag, words in FLAGS.items() if flag in flags]
    if stuck(summary):
        parts.append(f"{flags['alarm']:,} {STUCK_ROWS}")
    text = f"{rows_in_words(summary['steps'])} predicted" + (
        f": {', '.join(parts)}." if parts else "."
    )
    if not skipped:
        return text
    they = "it" if skipped == 1 else "they"
    return f"{text} {rows_in_words(skipped)} skipped, as {they} could not be read."


def skipped_rows(summary: Summary) -> list[str]:
    """The first rows that could not be read.

    >>> skipped_rows({"skipped": {"first": ["a.csv, row 7: expected 3 cells, got 2."]}})
    ['  a.csv, row 7: expected 3 cells, got 2.']
    """
    return [f"  {_short(error)}" for error in summary["skipped"]["first"][:NAMED]]


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
        light = ", --light makes each small" if summary["model"] == FORECASTER else ""
        said.append(
            f"{gone:,} times the stream that was silent longest was forgotten to make room for "
            f"another: --most-keys N keeps more{light}."
        )
    return said


def where_it_is(summary: Summary, folder: str) -> list[str]:
    """Where the run was saved, if it was, and how to go on with it.

    >>> where_it_is({"ended": "SIGINT"}, "demo")[1]
    'Go on with it: tidegate run --resume demo'
    """
    if not folder:
        return []
    more = [f"Go on with it: tidegate run --resume {folder}"] if summary["ended"] != END else []
    return [f"Records and summary are in {folder}.", *more]


def stuck(summary: Summary) -> bool:
    """Whether most of a bare network's memory could no longer change.

    >>> stuck({"model": "network", "flags": {"alarm": 3}})
    True
    """
    return summary["model"] == NETWORK and "alarm" in summary["flags"]


def rows_in_words(count: int) -> str:
    """How many rows.

    >>> rows_in_words(1), rows_in_words(1_000)
    ('1 row', '1,000 rows')
    """
    return "1 row" if count == 1 else f"{count:,} rows"


def share(skill: float) -> str:
    """Three digits, and no minus before a zero.

    >>> share(-0.0001), share(0.6919)
    ('0.000', '0.692')
    """
    return f"{round(skill, 3) + 0.0:.3f}"


def _short(error: str) -> str:
    return error.partition(". Correct the row")[0]
