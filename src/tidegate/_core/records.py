"""Records: what a run says about each row, as a line of JSON and as the columns of a table.

Reports, plots and the live page read records and traces and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from math import isfinite
from typing import Any, Protocol

SCHEMA = 1

Bounds = tuple[float | None, float | None]
Cell = str | int | float | None

RECORD_OPTIONS = ("intervals", "experts", "score")
FORECAST_OPTIONS = ("intervals", "path")


class RowRecord(Protocol):
    """What a run says of one row, whatever it predicts; what recorders write.

    >>> said: RowRecord = Record(step=1, time=None, prediction=None, actual=None, error=None,
    ...                          next=Forecast(time=None, prediction=None))
    >>> said.step
    1
    """

    step: int
    flags: tuple[str, ...]

    def to_json_line(self) -> str: ...

    def to_columns(self) -> dict[str, Cell]: ...


@dataclass(slots=True, kw_only=True)
class Point:
    """One step of a forecast of several steps.

    >>> Point(step=18, time=None, prediction=5.5).prediction
    5.5
    """

    step: int
    time: str | None
    prediction: float | None
    intervals: Mapping[str, Bounds] | None = None


@dataclass(slots=True, kw_only=True)
class Forecast:
    """What is expected of the row that has not come yet, in the units of the target.

    >>> Forecast(time=None, prediction=5.5).low is None
    True
    """

    time: str | None
    prediction: float | None
    low: float | None = None
    high: float | None = None
    intervals: Mapping[str, Bounds] | None = None
    path: tuple[Point, ...] | None = None


@dataclass(slots=True, kw_only=True)
class Record:
    """One row of a stream and the forecast of the next, in the units of the target.

    Attributes:
        step: number of the row.
        key: the stream's name where there are several.
        time: as the source has it.
        prediction: made before ``actual`` was seen.
        low, high: the ends of its interval.
        actual: None where it is missing, as every number that is not finite is when written.
        error: ``actual - prediction``.
        flags: of ``warmup missing clipped skipped late gap reset alarm``.
        next: the forecast of the coming row.
        intervals: ``{"0.9": (low, high)}`` for several levels.
        experts: weights of the mixture, by their names.
        half_lives: in rows, of the middle unit of each network, by their names.
        score: how unusual the row is; NaN where that is not known, None where nobody asks.

    >>> record = Record(step=17, time="12:00", prediction=5.1, actual=5.5, error=0.4,
    ...                 next=Forecast(time=None, prediction=5.6))
    >>> record.to_json_line()[:62]
    '{"step": 17, "key": null, "time": "12:00", "prediction": 5.1, '
    """

    step: int
    time: str | None
    prediction: float | None
    actual: float | None
    error: float | None
    next: Forecast
    key: str | None = None
    low: float | None = None
    high: float | None = None
    flags: tuple[str, ...] = ()
    intervals: Mapping[str, Bounds] | None = None
    experts: Mapping[str, float | None] | None = None
    half_lives: Mapping[str, float | None] | None = None
    score: float | None = None

    def to_json_line(self) -> str:
        """One line of JSON without its end; optional fields only where they are present."""
        flags = ", ".join([encode_basestring_ascii(flag) for flag in self.flags])
        # json.dumps would write NaN, and takes longer with the dicts it needs.
        return (
            f'{{"step": {self.step:d}, "key": {_text(self.key)}, "time": {_text(self.time)}, '
            f'"prediction": {_number(self.prediction)}, '
            f'"low": {_number(self.low)}, "high": {_number(self.high)}, '
            f'"actual": {_number(self.actual)}, "error": {_number(self.error)}, '
            f'"flags": [{flags}], "next": {_forecast(self.next)}'
            f"{_present(self, RECORD_OPTIONS)}{_half_lives(self)}}}"
        )

    def to_columns(self) -> dict[str, Cell]:
        """The same, flattened with dots: ``next.prediction``, ``intervals.0.9.low``.

        Flags are one text with spaces between them.
        """
        coming = self.next
        columns: dict[str, Cell] = {
            "step": self.step,
            "key": self.key,
            "time": self.time,
            "prediction": number_or_none(self.prediction),
            "low": number_or_none(self.low),
            "high": number_or_none(self.high),
            "actual": number_or_none(self.actual),
            "error": number_or_none(self.error),
            "flags": " ".join(self.flags),
            "next.time": coming.time,
            "next.prediction": number_or_none(coming.prediction),
            "next.low": number_or_none(coming.low),
            "next.high": number_or_none(coming.high),
        }
        if self.intervals is not None:
            columns |= _flat_intervals("intervals", self.intervals)
        columns |= _flat_numbers("experts", self.experts)
        if self.score is not None:
            columns["score"] = number_or_none(self.score)
        columns |= _flat_numbers("half_lives", self.half_lives)
        if coming.intervals is not None:
            columns |= _flat_intervals("next.intervals", coming.intervals)
        for place, point in enumerate(coming.path or ()):
            columns |= _flat_point(f"next.path.{place}", point)
        return columns


def with_schema(line: str) -> str:
    """The first line of a file also says which schema its lines follow.

    >>> with_schema('{"step": 1}')
    '{"schema": 1, "step": 1}'
    """
    return f'{{"schema": {SCHEMA}, {line[1:]}'


def _number(value: float | None) -> str:
    """Text that reads back to the same float64; JSON has no NaN."""
    return repr(float(value)) if value is not None and isfinite(value) else "null"


def _text(value: str | None) -> str:
    return "null" if value is None else encode_basestring_ascii(value)


def _forecast(coming: Forecast) -> str:
    return (
        f'{{"time": {_text(coming.time)}, "prediction": {_number(coming.prediction)}, '
        f'"low": {_number(coming.low)}, "high": {_number(coming.high)}'
        f"{_present(coming, FORECAST_OPTIONS)}}}"
    )


def _present(owner: Record | Forecast | Point, names: tuple[str, ...]) -> str:
    text = ""
    for name in names:
        value = getattr(owner, name)
        if value is not None:
            text += f', "{name}": {json_of(value)}'
    return text


def _half_lives(record: Record) -> str:
    lives = record.half_lives
    return "" if lives is None else f', "half_lives": {_text_of(tuple(lives.items()))}'


@lru_cache(maxsize=16)
def _text_of(pairs: tuple[tuple[str, float | None], ...]) -> str:
    """A mapping that is the same for many rows; to write its numbers anew would take longer."""
    return json_of(dict(pairs))


def json_of(value: Any) -> str:
    """Mappings, sequences, points, texts and numbers, as deep as they go.

    >>> json_of({"sun": 0.75, "flags": ("new",), "rain": float("nan"), "step": 3})
    '{"sun": 0.75, "flags": ["new"], "rain": null, "step": 3}'
    """
    if type(value) is float:
        return repr(value) if isfinite(value) else "null"
    if type(value) is str:
        return encode_basestring_ascii(value)
    if type(value) is int:
        return repr(value)
    if isinstance(value, dict | Mapping):
        pairs = [
            # Most are numbers, and a call for each would take longer than its text.
            f"{encode_basestring_ascii(name)}: {item!r}"
            if type(item) is float and isfinite(item)
            else f"{encode_basestring_ascii(name)}: {json_of(item)}"
            for name, item in value.items()
        ]
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, tuple | list):
        return f"[{', '.join([json_of(item) for item in value])}]"
    if isinstance(value, Point):
        options = _present(value, ("intervals",))
        return (
            f'{{"step": {value.step:d}, "time": {_text(value.time)}, '
            f'"prediction": {_number(value.prediction)}{options}}}'
        )
    return _number(value)


def number_or_none(value: float | None) -> float | None:
    """What no table can hold as a number is no number there.

    >>> number_or_none(float("nan")) is None
    True
    """
    return float(value) if value is not None and isfinite(value) else None


def _flat_numbers(name: str, numbers: Mapping[str, float | None] | None) -> dict[str, Cell]:
    return {f"{name}.{key}": number_or_none(value) for key, value in (numbers or {}).items()}


def _flat_intervals(name: str, intervals: Mapping[str, Bounds]) -> dict[str, Cell]:
    columns: dict[str, Cell] = {}
    for level, (low, high) in intervals.items():
        columns[f"{name}.{level}.low"] = number_or_none(low)
        columns[f"{name}.{level}.high"] = number_or_none(high)
    return columns


def _flat_point(name: str, point: Point) -> dict[str, Cell]:
    columns: dict[str, Cell] = {
        f"{name}.step": point.step,
        f"{name}.time": point.time,
        f"{name}.prediction": number_or_none(point.prediction),
    }
    if point.intervals is not None:
        columns |= _flat_intervals(f"{name}.intervals", point.intervals)
    return columns
