"""What a run can be asked: every option, declared once for flags, environment and file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tidegate._core.errors import UsageError
from tidegate._core.kinds import Choice, Number, Several, Switch, Text, Whole
from tidegate._core.settings import Option, Settings, resolve

TOLD_APART = 63  #: categories, by default
FILE = Path("tidegate.toml")  #: where options may lie, in the folder of the call

OPTIONS = (
    Option("target", Text(), None, "Column to predict; needed with a FILE."),
    Option("time", Text(), None, "Column that dates a row, as 2015-07-01 13:00."),
    Option("input", Several(Text()), (), "Further column to learn from; may be repeated."),
    Option("categories", Switch(), False, "Take the target's cells for categories, not numbers."),
    Option(
        "most-categories",
        Whole(least=1),
        TOLD_APART,
        "Categories told apart; the rest are one more.",
    ),
    Option("horizon", Whole(least=1), 1, "Rows ahead to forecast."),
    Option("level", Several(Number(0, 1)), (0.9,), "Coverage of an interval; may be repeated."),
    Option("alarm", Switch(), False, "Tell every alarm on standard error as it is raised."),
    Option("key", Text(), None, "Column that tells one stream of the file from another."),
    Option("most-keys", Whole(least=1), 1_000, "Streams that are kept; then the most silent goes."),
    Option("shared", Switch(), False, "Let the streams of --key learn one set of weights; light."),
    Option("light", Switch(), False, "Leave out all that takes much memory, as the networks."),
    Option("minimum", Number(), None, "No value can be below it; 0 for counts."),
    Option("zone", Text(), None, "Time zone whose wall clock --time shows, as Europe/Paris."),
    Option("cell", Text(), None, "Take one bare network of this cell, as lstm, instead."),
    Option("units", Whole(least=1), None, "Take one bare network of so many units instead."),
    Option("seed", Whole(least=0), 0, "Of the start weights."),
    Option("warmup", Whole(least=0), None, "First rows that are not scored."),
    Option(
        "on-bad-row", Choice(("stop", "skip")), "stop", "What to do with a row that is unreadable."
    ),
    Option("separator", Text(), None, "Character between cells; by default the comma."),
    Option("decimal", Choice((".", ",")), ".", "Decimal mark."),
    Option("follow", Switch(), False, "Wait for rows that are appended to FILE."),
    Option("save", Text(), None, "Folder for records, summary, settings and state."),
    Option("save-every", Number(least=0), 30.0, "Seconds from one saved state to the next."),
    Option("resume", Text(), None, "Go on with the run in this folder."),
    Option("trace", Switch(), False, "Save what the gates did at every step, too."),
    Option(
        "format",
        Choice(("jsonl", "csv", "parquet")),
        None,
        "Of the records; by default what the end of --out says, else jsonl.",
    ),
    Option("out", Text(), None, "File for the records, instead of standard output."),
)

#: what may be another one when a run is resumed: it changes nothing that was learned
FREE = ("save", "save_every", "resume", "on_bad_row", "out", "alarm")

#: what a bare network does not do
OF_FORECASTERS = (
    "horizon",
    "level",
    "alarm",
    "key",
    "most_keys",
    "shared",
    "light",
    "minimum",
    "zone",
)
#: what a forecaster of categories does not do
OF_NUMBERS = (
    "input", "horizon", "level", "alarm", "shared", "light", "minimum", "cell", "units", "decimal",
)  # fmt: skip
LONGEST_HORIZON = 1_000
MOST_CATEGORIES = 1_000
CELL, UNITS = "lstm", 32  #: of a bare network, where only the other one is given


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of ``tidegate run`` under the names its help gives them.

    Attributes:
        file: a path, ``-`` for standard input, None for the stream that comes with the package.
        input: columns to learn from beside the target.
        categories: whether the target's cells are categories, and not numbers.
        cell, units: of a bare network; the forecaster where both are None.
        warmup: rows not scored; None lets the stream's clock decide.
        format: of the records; None lets the end of ``out`` decide.
        out: where the records go beside the folder ``save``.
    """

    file: str | None
    target: str | None
    time: str | None
    input: tuple[str, ...]
    categories: bool
    most_categories: int
    horizon: int
    level: tuple[float, ...]
    alarm: bool
    key: str | None
    most_keys: int
    shared: bool
    light: bool
    minimum: float | None
    zone: str | None
    cell: str | None
    units: int | None
    seed: int
    warmup: int | None
    on_bad_row: str
    separator: str | None
    decimal: str
    follow: bool
    save: str | None
    save_every: float
    resume: str | None
    trace: bool
    format: str | None
    out: str | None

    @property
    def bare(self) -> bool:
        """Whether a bare network is asked for."""
        return self.cell is not None or self.units is not None


def options_of(options: dict[str, Any]) -> Options:
    """What a folder holds, where JSON has made lists of tuples.

    An option that did not exist when it was written was not asked for.
    """
    known = {option.key: option.default for option in OPTIONS} | options
    lists = {key: tuple(known[key]) for key in ("input", "level")}
    return Options(**(known | lists))


def settings_in_force(flags: dict[str, Any]) -> Settings:
    """The values in force, given those of the command line by key.

    Raises:
        UsageError: a value, key or variable cannot be.
    """
    return resolve(OPTIONS, flags, os.environ, FILE)


def folder_to_resume(settings: Settings) -> str | None:
    """The folder of the run to go on with.

    Raises:
        UsageError: it is to be saved in another one.
    """
    resume, save = settings["resume"], settings["save"]
    if resume and save and os.path.realpath(resume) != os.path.realpath(save):
        hint = "Leave --save out: a run goes on in its folder."
        raise UsageError("--resume", f"--save {resume}", f"--save {save}", hint)
    return str(resume) if resume else None


def options_resumed(
    folder: str, file: str | None, settings: Settings, saved: dict[str, Any]
) -> Options:
    """What a run is asked that goes on: as it was ``saved``, where nothing else is asked.

    Raises:
        UsageError: something is asked that would make it another run.
    """
    saved = asdict(options_of(saved))
    asked = {key: settings[key] for key in settings if settings.source(key) != "default"}
    if file is not None:
        asked["file"] = file
    for key, value in asked.items():
        if key not in FREE and value != saved[key]:
            name = "FILE" if key == "file" else f"--{key.replace('_', '-')}"
            got = f"{value!r} ({'FILE' if key == 'file' else settings.source(key)})"
            hint = "Leave it out, or start another run in another folder."
            expected = f"no {name}" if saved[key] is None else f"{name} {saved[key]!r}"
            raise UsageError(f"--resume {folder}", expected, got, hint)
    return Options(**(saved | asked | {"save": folder, "resume": folder}))


def require_one_model(settings: Settings) -> None:
    """Refuses options of one model beside those of another.

    Raises:
        UsageError: both are given.
    """
    if settings["categories"]:
        _refuse(settings, OF_NUMBERS, "a target of numbers", "--categories")
    network = next((key for key in ("cell", "units") if settings[key] is not None), None)
    if network is None:
        return
    got = f"{settings.source(network)}, which takes a bare network"
    _refuse(settings, OF_FORECASTERS, "the forecaster", got)


def _refuse(settings: Settings, keys: Sequence[str], expected: str, got: str) -> None:
    for key in keys:
        if settings.source(key) != "default":
            name, hint = key.replace("_", "-"), "Leave one of the two out."
            raise UsageError(f"--{name}", expected, got, hint)


def require_consistent(options: Options) -> None:
    """Refuses options that contradict each other.

    Raises:
        UsageError: they do.
    """
    if options.trace and not options.save:
        raise UsageError("--trace", "a folder for it", "none", "Name one: --save DIR.")
    if options.trace and options.key:
        raise UsageError("--trace", "one stream", f"--key {options.key}", "Trace one alone.")
    if options.shared and options.key is None:
        hint = "Name what tells them apart: --key COLUMN."
        raise UsageError("--shared", "streams by key", "no --key", hint)
    if options.horizon > LONGEST_HORIZON:
        expected, got = f"at most {LONGEST_HORIZON:,} rows", f"{options.horizon:,}"
        raise UsageError("--horizon", expected, got, "Forecast a stream of longer steps.")
    if options.most_categories != TOLD_APART and not options.categories:
        hint = "Add it, or leave --most-categories out."
        raise UsageError("--most-categories", "--categories", "none", hint)
    if options.most_categories > MOST_CATEGORIES:
        expected, got = f"at most {MOST_CATEGORIES:,}", f"{options.most_categories:,}"
        hint = "Join those that seldom come: memory grows as the square."
        raise UsageError("--most-categories", expected, got, hint)
    for name in ("separator", "follow"):
        if getattr(options, name) and options.file is None:
            raise UsageError("tidegate run", f"a FILE with --{name}", "none", "Name a file.")
    if options.follow and options.file == "-":
        hint = "Leave --follow out: standard input is read as it comes."
        raise UsageError("--follow", "a file", "standard input", hint)
