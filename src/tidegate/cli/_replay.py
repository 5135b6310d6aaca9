"""A stream passed through the model of a saved run, its networks recorded on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from tidegate._core.category_records import CategoryRecord
from tidegate._core.errors import UsageError
from tidegate._core.records import Record
from tidegate.cli._folder import RunFolder, of_forecaster
from tidegate.cli._models import Run, run_of, tracer
from tidegate.cli._options import Options, options_of
from tidegate.cli._source import open_source
from tidegate.forecast import BareNetwork, CategoryForecaster, ForecasterModel, Model
from tidegate.learn import Learner
from tidegate.report import Study, forecast_study, last_steps, stream_of
from tidegate.streams import Row, StopAtBadRow

__all__ = ["replayed"]


def replayed(
    folder: Path, file: str, learn: bool, last: int, borders: Sequence[int], expert: str | None
) -> Study:
    """The study of the rows of ``file``, numbered from 1, from the saved memories on.

    Weights of networks stay as they are saved unless ``learn``; scales and linear experts go on
    learning, as they always do. The clock begins anew: FILE may be older than what was learned.

    Raises:
        UsageError: the folder holds no state, or the columns are others.
        DataError: a row cannot be read.
    """
    name = folder.resolve().name
    how = "learning" if learn else "weights frozen"
    with TemporaryDirectory() as place:
        trace = Path(place) / "trace"
        records = list(_passed(folder, file, learn, trace))
        if of_forecaster(folder):
            title = f"{file} through the forecaster of {name}, {how}"
            return forecast_study(records[-last:], trace, last, title, borders, expert)
        found = last_steps(trace, last)
    title = f"{file} through the network of {name}, {how}"
    said = [record for record in records if isinstance(record, Record)]
    return Study(title, found, stream_of(said, found.meta.start, found.steps), borders)


def _passed(folder: Path, file: str, learn: bool, trace: Path) -> Iterator[Record | CategoryRecord]:
    options = _options(folder, file)
    bad_rows = StopAtBadRow()
    source = open_source(options, bad_rows)
    run = run_of(options, source, bad_rows)
    _restore(run, folder)
    model = run.model()
    learners = _learners(model)
    frozen = [learner.state.weights for learner in learners]
    recorder = tracer(model, trace, 0, options.seed) if learners else None
    numbers = count(1)
    for row in _from_now_on(model, source.stream):
        if recorder is not None:
            recorder.look()
        record = run.step(row)
        if record is None:
            continue
        if not learn:
            _freeze(learners, frozen)
            if isinstance(model, ForecasterModel | CategoryForecaster):
                model.forget_said()
        number = next(numbers)
        if recorder is not None:
            recorder.keep(number)
        yield replace(record, step=number)
    if recorder is not None:
        recorder.close()


def _learners(model: Model | CategoryForecaster) -> list[Learner]:
    if isinstance(model, CategoryForecaster):
        return list(model.networks().values())
    if isinstance(model, BareNetwork):
        return [model.learner]
    if isinstance(model, ForecasterModel):
        return list(model.forecaster.networks().values())
    return []


def _freeze(learners: Sequence[Learner], weights: Sequence[object]) -> None:
    for learner, frozen in zip(learners, weights, strict=True):
        state = learner.state
        state.weights[...] = frozen
        learner.state = state


def _from_now_on(model: Model | CategoryForecaster, rows: Iterable[Row]) -> Iterator[Row]:
    """The rows, the first of them taken for the one after the last that was learned."""
    for n, row in enumerate(rows):
        if n == 0 and isinstance(model, ForecasterModel):
            model.forecaster.go_on_at(row.time)
        yield row


def _options(folder: Path, file: str) -> Options:
    saved = RunFolder(str(folder)).settings()
    if saved is None:
        raise _needed(folder, "no run.json")
    options = options_of(saved | {"file": file, "follow": False, "warmup": 0})
    if options.key is not None:
        hint = "Leave FILE out: the records of the run can be explained."
        raise UsageError(str(folder), "a run of one stream", f"--key {options.key}", hint)
    return options


def _restore(run: Run, folder: Path) -> None:
    state = RunFolder(str(folder)).state()
    if state is None:
        raise _needed(folder, "no state.safetensors")
    run.restore(state.arrays)
    run.tracks.of(None).begin_clock()


def _needed(folder: Path, got: str) -> UsageError:
    hint = f"Make one: tidegate run FILE --target COLUMN --save {folder}."
    return UsageError(str(folder), "the folder of a run that was saved", got, hint)
