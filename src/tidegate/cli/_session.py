"""A run from its options to its exit code."""

from __future__ import annotations

import signal
from dataclasses import dataclass, replace
from typing import Any

from tidegate._core.errors import TidegateError
from tidegate.cells import named
from tidegate.cli._exit import discard_stdout
from tidegate.cli._folder import RunFolder
from tidegate.cli._interrupts import Interrupts, Stopped
from tidegate.cli._options import Options
from tidegate.cli._outputs import Outputs, places, resolved_format
from tidegate.cli._progress import progress
from tidegate.cli._source import open_source
from tidegate.cli._summary import show, summarised
from tidegate.forecast import BareNetwork, Prequential
from tidegate.streams import BadRows, SkipBadRows, StopAtBadRow, Stream

BAD_ROWS: dict[str, type[BadRows]] = {"stop": StopAtBadRow, "skip": SkipBadRows}


def predict(options: Options) -> int:
    """Carries out a run; what it did is told at its end, however it ends.

    Returns:
        the exit code: 0 at the end of the stream or where nobody reads the records any more,
        128 + signal where one stopped it.

    Raises:
        TidegateError: what was asked cannot be; or a row or the disk stopped the run.
        Stopped: a signal came before the first row was awaited.
    """
    options = replace(options, format=resolved_format(options))
    folder = None if options.save is None else RunFolder(options.save)
    paths = places(options, folder)
    with Interrupts() as interrupts:
        session = _begun(options, folder, interrupts)
        return session.carry_out(options.format or "", paths)


def _begun(options: Options, folder: RunFolder | None, interrupts: Interrupts) -> Session:
    cell = named(options.cell, owner="--cell")
    bad_rows = BAD_ROWS[options.on_bad_row]()
    with interrupts.waiting():
        source = open_source(options, bad_rows)
    stream = source.stream
    network = BareNetwork(len(stream.columns), cell, options.units, options.seed)
    run = Prequential(network, source.name, bad_rows, source.warmup, source.time)
    if folder is not None:
        folder.begin(options)
    return Session(run, stream, bad_rows, folder, interrupts)


@dataclass
class Session:
    """A run under way.

    Attributes:
        run: predicts and learns.
        stream: whence the rows come.
        bad_rows: what became of rows that could not be read.
        folder: where it is saved, or None.
        interrupts: the signals that came.
    """

    run: Prequential
    stream: Stream
    bad_rows: BadRows
    folder: RunFolder | None
    interrupts: Interrupts

    def carry_out(self, format_name: str, paths: list[str]) -> int:
        """Predicts until the stream, its reader or a signal ends it."""
        try:
            with Outputs(format_name, paths) as outputs, progress(self.run, paths):
                self._follow(outputs)
        except BrokenPipeError:
            discard_stdout()
            self._save("closed pipe")
            return 0
        except TidegateError as error:
            self._conclude(str(error))
            raise
        return self._stopped_by()

    def _follow(self, outputs: Outputs) -> None:
        rows, waiting = iter(self.stream), self.interrupts.waiting
        try:
            while self.interrupts.signum is None:
                with waiting():
                    row = next(rows, None)
                if row is None:
                    return
                record = self.run.step(row)
                if record is not None:
                    outputs.write(record)
        except Stopped:
            return

    def _stopped_by(self) -> int:
        signum = self.interrupts.signum
        if signum is None:
            self._conclude("end of stream")
            return 0
        self._conclude(signal.Signals(signum).name)
        return 128 + signum

    def _conclude(self, ended: str) -> None:
        show(self._save(ended), "" if self.folder is None else str(self.folder.path))

    def _save(self, ended: str) -> dict[str, Any]:
        summary = summarised(self.run, self.bad_rows, self.stream.columns[0], ended)
        if self.folder is not None:
            self.folder.write_summary(summary)
        return summary
