"""Runs over data frames of any library, through narwhals."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

from tidegate._core.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    from tidegate.forecast.forecaster import Forecaster

__all__ = ["run"]

Column = dict[str, list[Any]]


def run(forecaster: Forecaster, frame: Any, target: str, time: str | None) -> Any:
    """What :meth:`Forecaster.run` says."""
    try:
        import narwhals as nw
    except ImportError as error:
        raise MissingExtraError(
            "Forecaster.run", "the package narwhals", "none installed",
            "Install it: pip install 'tidegate[frames]'",
        ) from error  # fmt: skip
    given = nw.from_native(frame, eager_only=True)
    for name in (target, *([time] if time else [])):
        if name not in given.columns:
            raise UsageError("frame", f"a column {name!r}", str(given.columns), "Name one of it.")
    inputs = [name for name in given.columns if name not in (target, time)]
    columns = {name: given[name].to_list() for name in given.columns}
    said: Column = {name: [] for name in ("prediction", "low", "high", "score", "alarm")}
    for n in range(len(given)):
        row = [_number(columns[name][n]) for name in inputs]
        moment = None if time is None else _moment(columns[time][n])
        _step(forecaster, said, _number(columns[target][n]), row, moment)
    return nw.from_dict(said, backend=given.implementation).to_native()


def _step(
    forecaster: Forecaster, said: Column, value: float, inputs: list[float], time: Any
) -> None:
    forecaster.reach(time)
    prediction = forecaster.predict(time)
    low, high = next(iter(prediction.intervals.values()), (nan, nan))
    outcome = forecaster.learn(value, inputs, time)
    said["prediction"].append(prediction.value)
    said["low"].append(low)
    said["high"].append(high)
    said["score"].append(nan if outcome.score is None else outcome.score)
    said["alarm"].append("alarm" in outcome.flags)


def _number(value: Any) -> float:
    return nan if value is None else float(value)


def _moment(value: Any) -> Any:
    """Times as they are; those of pandas are datetimes already."""
    return value.to_pydatetime() if hasattr(value, "to_pydatetime") else value
