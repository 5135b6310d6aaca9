"""A run from its options to its exit code."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic
from typing import Any

import click

import tidegate
from tidegate._core.errors import CheckpointError, DataError, TidegateError
from tidegate._core.records import RowRecord
from tidegate._core.settings import Settings
from tidegate.cli._category_summary import show_categories
from tidegate.cli._exit import discard_stdout
from tidegate.cli._folder import STATE, RunFolder, about
from tidegate.cli._interrupts import Interrupts, Stopped
from tidegate.cli._models import Run, run_of, tracer
from tidegate.cli._options import (
    Options,
    folder_to_resume,
    options_resumed,
    require_consistent,
    require_one_model,
)
from tidegate.cli._outputs import Outputs, places, resolved_format
from tidegate.cli._place import Place, go_to
from tidegate.cli._progress import Say, progress
from tidegate.cli._source import open_source
from tidegate.cli._summary import show
from tidegate.cli._summary_words import END, Summary, about_run, summarised
from tidegate.forecast import CategoryRun, Prequential
from tidegate.forecast.row import code_is_kept
from tidegate.forecast.tracing import Tracer
from tidegate.learn.checkpoint import Checkpoint
from tidegate.streams import BadRows, Row, SkipBadRows, StopAtBadRow, Stream

BAD_ROWS: dict[str, type[BadRows]] = {"stop": StopAtBadRow, "skip": SkipBadRows}
CLOSED = "closed pipe"
FIRST_USE = "Making machine code for this computer, once: half a minute or so."
STDIN = "-"


def predict(file: str | None, settings: Settings) -> int:
    """Carries out a run; what it did is told at its end, however it ends.

    Returns:
        the exit code: 0 at the end of the stream or where nobody reads the records any more,
        128 + signal where one stopped it.

    Raises:
        TidegateError: what was asked cannot be; or a row or the disk stopped the run.
        Stopped: a signal came before the first row was awaited.
    """
    options, saved = _asked(file, settings)
    require_consistent(options)
    options = replace(options, format=resolved_format(options))
    folder = None if options.save is None else RunFolder(options.save)
    try:
        with Interrupts() as interrupts:
            return _begun(options, folder, saved, interrupts).carry_out()
    finally:
        if folder is not None:
            folder.release()


def _asked(file: str | None, settings: Settings) -> tuple[Options, Checkpoint | None]:
    """The options, and the state to go on from where there is one."""
    require_one_model(settings)
    resume, saved = folder_to_resume(settings), None
    if resume is None:
        return Options(file=file, **settings), None
    folder = RunFolder(resume)
    saved = folder.state()
    known = folder.settings() if saved is None else saved.header["options"]
    if known is None:
        return replace(Options(file=file, **settings), save=resume), None
    return options_resumed(resume, file, settings, known), saved


def _begun(
    options: Options, folder: RunFolder | None, saved: Checkpoint | None, interrupts: Interrupts
) -> Session:
    if folder is not None and saved is None:
        folder.refuse_state()
    paths = places(options, folder)
    bad_rows = BAD_ROWS[options.on_bad_row]()
    source = interrupts.await_(partial(open_source, options, bad_rows))
    run = run_of(options, source, bad_rows)
    session = Session(options, run, source.stream, bad_rows, folder, interrupts, paths)
    if folder is not None and saved is not None:
        folder.lock()
        session.go_on(saved)
    elif folder is not None:
        folder.begin(options)
    return session


@dataclass
class Session:
    """A run under way.

    Attributes:
        options: what was asked.
        run: predicts and learns.
        stream: whence the rows come.
        bad_rows: what became of rows that could not be read.
        folder: where it is saved, or None.
        interrupts: the signals that came.
        paths: where the records go.
        place: the last row that was met.
    """

    options: Options
    run: Run
    stream: Stream
    bad_rows: BadRows
    folder: RunFolder | None
    interrupts: Interrupts
    paths: list[str]
    place: Place = field(default_factory=Place)

    def __post_init__(self) -> None:
        self._rows: Iterator[Row] = iter(self.stream)
        self._skipped = 0  # of the bad rows, those before the place
        self._tracer: Tracer | None = None

    def go_on(self, saved: Checkpoint) -> None:
        """Takes up a run where it was saved.

        Raises:
            CheckpointError: the state is that of something else.
            DataError: the stream is another one.
            Stopped: a signal came.
        """
        header = saved.header
        if header["cpu"] != about(self.options)["cpu"]:
            got = f"it was saved on {header['cpu']}"
            click.echo(f"Another kind of processor: {got}; last bits may differ.", err=True)
        try:
            self.run.restore(saved.arrays)
        except (KeyError, ValueError) as error:
            hint = "Resume with the version that wrote it, or start anew."
            owner = f"{self.options.resume}/{STATE}"
            raise CheckpointError(owner, "the state of this run", str(error), hint) from error
        self.place = Place.of(header["place"])
        if self.options.file != STDIN:
            go = partial(go_to, self.place, self._rows, self.stream.source)
            self.interrupts.await_(go)
        self._restore_skipped(header["skipped"])

    def carry_out(self) -> int:
        """Predicts until the stream, its reader or a signal ends it."""
        try:
            ended, failure = self._carry_out()
        except BrokenPipeError:
            discard_stdout()
            ended, failure = CLOSED, None
        except (TidegateError, OSError) as error:
            # What was learned and what was written may differ now: the state before stays.
            self._tell_failed(str(error))
            raise
        self._tell(ended)
        if failure is not None:
            raise failure
        return 0 if self.interrupts.signum is None else 128 + self.interrupts.signum

    def _carry_out(self) -> tuple[str, DataError | None]:
        """Why it ended, and the error of the row or file that ended it."""
        step = self.run.steps
        with Outputs(self.options.format or "", self.paths, self.folder, step) as outputs:
            self._begin_trace(step)
            with progress(self.run, self.paths) as say:
                self._tell_first_use(say)
                how = self._follow(outputs, say)
            self._save(outputs)
        return how

    def _begin_trace(self, step: int) -> None:
        if not self.options.trace or self.folder is None:
            return
        self._tracer = tracer(self.run.model(), self.folder.trace, step, self.options.seed)

    def _follow(self, outputs: Outputs, say: Say) -> tuple[str, DataError | None]:
        try:
            self._meet_rows(outputs, say)
        except Stopped:
            pass
        except BrokenPipeError:
            discard_stdout()
            return CLOSED, None
        except DataError as error:
            return str(error), error
        signum = self.interrupts.signum
        return (END if signum is None else signal.Signals(signum).name), None

    def _meet_rows(self, outputs: Outputs, say: Say) -> None:
        """Row after row, until there is none or a signal came."""
        interrupts, come = self.interrupts, partial(next, self._rows, None)
        due = monotonic() + self.options.save_every
        while interrupts.signum is None:
            row = interrupts.await_(come)
            if row is None:
                return
            record = self._step(row)
            self.place.pass_by(row)
            self._skipped = self.bad_rows.count
            if record is not None:
                outputs.write(record)
                if self.options.alarm and "alarm" in record.flags:
                    self._tell_alarm(say)
            if self.folder is not None and monotonic() >= due:
                self._save(outputs)
                due = monotonic() + self.options.save_every

    def _tell_first_use(self, say: Say) -> None:
        forecaster = not self.options.bare and not self.options.categories
        if forecaster and not code_is_kept():
            say(FIRST_USE)

    def _tell_alarm(self, say: Say) -> None:
        if isinstance(self.run, Prequential):
            say(f"Alarm, {self.run.alarms.newest[-1].words()}.")

    def _step(self, row: Row) -> RowRecord | None:
        if self._tracer is None:
            return self.run.step(row)
        self._tracer.look()
        record = self.run.step(row)
        if record is not None:
            self._tracer.keep(record.step)
        return record

    def _save(self, outputs: Outputs) -> None:
        """The records first: a state must not be ahead of them."""
        if self.folder is None:
            return
        outputs.sync()
        if self._tracer is not None:
            self._tracer.close()
        # The rows of a pipe are gone, of a file those after the place come again.
        count = self.bad_rows.count if self.options.file == STDIN else self._skipped
        named = [[e.owner, e.expected, e.got, e.help] for e in self.bad_rows.named[:count]]
        header = about(self.options) | {
            "tidegate": tidegate.__version__,
            "place": self.place.header(),
            "skipped": {"count": count, "named": named},
        }
        self.folder.write_state(Checkpoint(self.run.state(), header))

    def _restore_skipped(self, header: Mapping[str, Any]) -> None:
        self.bad_rows.count = self._skipped = header["count"]
        self.bad_rows.named = [DataError(*parts) for parts in header["named"]]

    def _tell(self, ended: str) -> None:
        summary = self._summary(ended)
        if self.folder is not None:
            self.folder.write_summary(summary)
        if ended != CLOSED:
            self._show(summary)

    def _tell_failed(self, ended: str) -> None:
        summary = self._summary(ended)
        if self.folder is not None:
            with suppress(OSError):  # the error that is raised comes first
                self.folder.write_summary(summary)
        self._show(summary)

    def _summary(self, ended: str) -> Summary:
        own = about_run(self.options, self.options.target or self.stream.columns[0])
        return summarised(self.run, self.bad_rows, own, ended)

    def _show(self, summary: Summary) -> None:
        told = show_categories if isinstance(self.run, CategoryRun) else show
        told(summary, "" if self.folder is None else str(self.folder.path))
