"""What a run says of a row, as its record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from tidegate._core.records import Bounds, Forecast, Point, Record
from tidegate.forecast.prediction import Prediction, Weights
from tidegate.forecast.track import Track
from tidegate.streams import Row

__all__ = ["record_of"]

DIGITS = 4  #: of an expert's weight
NOTHING = (None, None)


def record_of(
    step: int,
    row: Row,
    track: Track,
    said: Prediction,
    score: float | None,
    flags: tuple[str, ...],
    ahead: Sequence[Prediction],
) -> Record:
    """The record of a row.

    Args:
        step: its number.
        row: as it came.
        track: of its stream, after it.
        said: of it, before it came.
        score: how unusual it was; None for a model that gives none.
        flags: of it.
        ahead: what is said of the rows after it, the next one first.

    >>> import numpy as np
    >>> from tidegate.forecast import BareNetwork
    >>> track = Track(lambda: BareNetwork(1, "lstm", 4, seed=0))
    >>> row = Row(1, None, np.array([5.0]))
    >>> record = record_of(1, row, track, Prediction(4.0), None, (), [Prediction(5.5)])
    >>> record.error, record.next.prediction
    (1.0, 5.5)
    """
    actual, model = float(row.values[0]), track.model
    low, high = _first(said, model.levels)
    return Record(
        step=step,
        key=row.key,
        time=row.time,
        prediction=_or_none(said.value),
        low=low,
        high=high,
        actual=_or_none(actual),
        error=_or_none(actual - said.value),
        flags=flags,
        next=_next(step, track, ahead),
        intervals=_intervals(said, model.levels) if len(model.levels) > 1 else None,
        experts=_weights(said.experts, model.experts) if model.experts else None,
        half_lives=model.half_lives,
        score=score,
    )


def _next(step: int, track: Track, ahead: Sequence[Prediction]) -> Forecast:
    said, levels = ahead[0], track.model.levels
    low, high = _first(said, levels)
    time = track.next_time(said.seconds)
    return Forecast(
        time=time,
        prediction=_or_none(said.value),
        low=low,
        high=high,
        intervals=_intervals(said, levels) if len(levels) > 1 else None,
        path=_path(step, track, ahead, time) if len(ahead) > 1 else None,
    )


def _path(
    step: int, track: Track, ahead: Sequence[Prediction], first: str | None
) -> tuple[Point, ...]:
    clock, levels = track.clock, track.model.levels
    return tuple(
        [
            Point(
                step=step + k,
                time=first if k == 1 else None if s is None else clock.text_at(s),
                prediction=_or_none(said.value),
                intervals=_intervals(said, levels),
            )
            for k, said, s in ((k, said, said.seconds) for k, said in enumerate(ahead, 1))
        ]
    )


def _intervals(said: Prediction, levels: Sequence[float]) -> dict[str, Bounds]:
    """Of every level: where there is none yet it has no ends, as columns cannot come later."""
    return {f"{level:g}": said.intervals.get(level, NOTHING) for level in levels}


def _first(said: Prediction, levels: Sequence[float]) -> Bounds:
    return said.intervals.get(levels[0], NOTHING) if levels else NOTHING


def _weights(found: Mapping[str, float], names: Sequence[str]) -> dict[str, float | None]:
    known = found.read() if isinstance(found, Weights) else found
    return {name: round(known[name], DIGITS) if name in known else None for name in names}


def _or_none(value: float) -> float | None:
    return value if isfinite(value) else None
