"""A stream passed through the network of a saved run, recorded on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from tidegate._core.errors import UsageError
from tidegate._core.records import Record
from tidegate.cli._folder import RunFolder
from tidegate.cli._models import prequential
from tidegate.cli._options import Options, options_of
from tidegate.cli._source import open_source
from tidegate.forecast import BareNetwork, Clock, Prequential
from tidegate.forecast.tracing import NetworkTracer
from tidegate.report import Study, last_steps, stream_of
from tidegate.streams import StopAtBadRow

__all__ = ["replayed"]


def replayed(folder: Path, file: str, learn: bool, last: int, borders: Sequence[int]) -> Study:
    """The study of the rows of ``file``, numbered from 1, from the saved memories on.

    Weights stay as they are saved unless ``learn``; the scales of the inputs go on being learned,
    as they always do. The clock begins anew: FILE may be older than what was learned.

    Raises:
        UsageError: the folder holds no state, or the columns are others.
        DataError: a row cannot be read.
    """
    with TemporaryDirectory() as place:
        trace = Path(place) / "trace"
        records = list(_passed(folder, file, learn, trace))
        found = last_steps(trace, last)
    title = f"{file} through the network of {folder.resolve().name}"
    title += ", learning" if learn else ", weights frozen"
    return Study(title, found, stream_of(records, found.meta.start, found.steps), borders)


def _passed(folder: Path, file: str, learn: bool, trace: Path) -> Iterator[Record]:
    options = _options(folder, file)
    bad_rows = StopAtBadRow()
    source = open_source(options, bad_rows)
    run = prequential(options, source, bad_rows)
    _restore(run, folder)
    network = run.model()
    assert isinstance(network, BareNetwork)
    frozen = network.learner.state.weights
    tracer = NetworkTracer(network, trace, 0, options.seed)
    numbers = count(1)
    for row in source.stream:
        passing = tracer.look()
        record = run.step(row)
        if record is None:
            continue
        if not learn:
            _freeze(network, frozen)
        number = next(numbers)
        tracer.keep(passing, number)
        yield replace(record, step=number)
    tracer.close()


def _freeze(network: BareNetwork, weights: object) -> None:
    state = network.learner.state
    state.weights[...] = weights
    network.learner.state = state


def _options(folder: Path, file: str) -> Options:
    saved = RunFolder(str(folder)).settings()
    if saved is None:
        raise _needed(folder, "no run.json")
    return options_of(saved | {"file": file, "follow": False, "warmup": 0})


def _restore(run: Prequential, folder: Path) -> None:
    state = RunFolder(str(folder)).state()
    if state is None:
        raise _needed(folder, "no state.safetensors")
    run.restore(state.arrays)
    run.tracks.of(None).clock = Clock()


def _needed(folder: Path, got: str) -> UsageError:
    hint = f"Make one: tidegate run FILE --target COLUMN --save {folder}."
    return UsageError(str(folder), "the folder of a run that was saved", got, hint)
