"""What predicts the streams of a run, from its options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tidegate._core.errors import UsageError
from tidegate.cells import named
from tidegate.cli._options import CELL, UNITS, Options
from tidegate.cli._room import require_room
from tidegate.cli._source import Source
from tidegate.forecast import (
    BareNetwork,
    CategoryForecaster,
    CategoryRun,
    Forecaster,
    ForecasterModel,
    Model,
    Prequential,
)
from tidegate.forecast.common import CommonWeights
from tidegate.forecast.models import SharedModel
from tidegate.forecast.timing.instants import zone_of
from tidegate.forecast.tracing import CategoryTracer, ExpertsTracer, NetworkTracer, Tracer
from tidegate.streams import BadRows

__all__ = ["Run", "run_of", "tracer"]

Run = Prequential | CategoryRun

NETWORK_UNITS = 32  #: of every network of a forecaster


def run_of(options: Options, source: Source, bad_rows: BadRows) -> Run:
    """The run over the rows of ``source``, which has learned nothing yet.

    Raises:
        UsageError: there is no such cell, level or time zone, or no room for so many units.
    """
    if options.categories:
        return _categories(options, source, bad_rows)
    columns, common = len(source.stream.columns), CommonWeights()
    return Prequential(
        _network(options, columns) if options.bare else _forecaster(options, columns, common),
        source.name,
        bad_rows,
        source.warmup,
        source.time,
        zone_of(options.zone),
        () if options.bare else options.level,
        options.horizon,
        options.most_keys,
        common,
    )


def _categories(options: Options, source: Source, bad_rows: BadRows) -> CategoryRun:
    return CategoryRun(
        source.name,
        bad_rows,
        limit=options.most_categories + 1,
        units=NETWORK_UNITS,
        seed=options.seed,
        warmup=source.warmup,
        time=source.time,
        zone=zone_of(options.zone),
        most=options.most_keys,
    )


def tracer(model: Model | CategoryForecaster, folder: Path, step: int, seed: int) -> Tracer:
    """What records the networks of ``model`` from ``step`` on.

    Raises:
        UsageError: it has none.
    """
    if isinstance(model, BareNetwork):
        return NetworkTracer(model, folder, step, seed)
    if isinstance(model, CategoryForecaster):
        return CategoryTracer(model, folder, step, seed)
    if isinstance(model, ForecasterModel) and model.forecaster.settings["units"]:
        return ExpertsTracer(model, folder, step, seed)
    raise UsageError("--trace", "networks to record", "--light", "Leave one of the two out.")


def _network(options: Options, columns: int) -> Callable[[], Model]:
    cell, units = named(options.cell or CELL, owner="--cell"), options.units or UNITS
    require_room(columns, cell, units)
    return lambda: BareNetwork(columns, cell, units, options.seed)


def _forecaster(options: Options, columns: int, common: CommonWeights) -> Callable[[], Model]:
    def made() -> Model:
        forecaster = Forecaster(
            inputs=columns - 1,
            levels=options.level,
            horizon=options.horizon,
            minimum=options.minimum,
            zone=options.zone,
            units=0 if options.light or options.shared else NETWORK_UNITS,
            seed=options.seed,
        )
        if options.shared:
            return SharedModel(forecaster, common, options.horizon)
        return ForecasterModel(forecaster, options.horizon)

    made()  # what cannot be is refused before the first row
    return made
