"""Records read back from JSON lines; what is no record is refused, never half read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from math import isfinite, nan
from typing import Any, NoReturn

from tidegate._core.category_records import CategoryExpected, CategoryRecord
from tidegate._core.errors import DataError
from tidegate._core.records import SCHEMA, Bounds, Forecast, Point, Record

Readers = Mapping[str, Callable[[Any], Any]]

# What json and the readers below raise for lines that are no records.
UNREADABLE = (ValueError, TypeError, AttributeError, ArithmeticError, RecursionError)


def read_records(path: str) -> Iterator[Record]:
    """The records of a file of JSON lines, one at a time.

    Raises:
        DataError: a line is no record, or the first names no schema this version reads.

    >>> import tempfile
    >>> from tidegate._core.records import with_schema
    >>> line = Record(step=1, time=None, prediction=None, actual=5.0, error=None,
    ...               next=Forecast(time=None, prediction=5.0)).to_json_line()
    >>> with tempfile.NamedTemporaryFile("w") as file:
    ...     print(with_schema(line), file=file, flush=True)
    ...     [record.actual for record in read_records(file.name)]
    [5.0]
    """
    return _read(path, Record, RECORD_FIELDS)


def read_category_records(path: str) -> Iterator[CategoryRecord]:
    """The same of a run over categories.

    Raises:
        DataError: as above.

    >>> import tempfile
    >>> from tidegate._core.records import with_schema
    >>> line = CategoryRecord(step=1, time=None, prediction=None, probability=None, actual="sun",
    ...     bits=0.0, next=CategoryExpected(time=None, prediction="sun", probability=0.75))
    >>> with tempfile.NamedTemporaryFile("w") as file:
    ...     print(with_schema(line.to_json_line()), file=file, flush=True)
    ...     [record.actual for record in read_category_records(file.name)]
    ['sun']
    """
    return _read(path, CategoryRecord, CATEGORY_FIELDS)


def _read(path: str, kind: type, readers: Readers) -> Iterator[Any]:
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield _parsed(line, None if number == 1 else SCHEMA, kind, readers)
            except UNREADABLE as error:
                got = f"{line[:80]!r} ({error})"
                hint = "The file is damaged, or another version wrote it."
                raise DataError(f"{path}, line {number}", "a record", got, hint) from error


def _parsed(line: bytes, schema: int | None, kind: type, readers: Readers) -> Any:
    fields = json.loads(line.decode(), parse_constant=_refuse)
    found = fields.pop("schema", schema)
    if found != SCHEMA:
        raise ValueError(f"schema {found}, not {SCHEMA}")
    return _built(kind, readers, fields)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _built(kind: type, readers: Readers, fields: Any) -> Any:
    if not isinstance(fields, dict):
        raise TypeError(f"{kind.__name__} is no object")
    unknown = fields.keys() - readers.keys()
    if unknown:
        raise ValueError(f"unknown fields {sorted(unknown)}")
    return kind(**{name: readers[name](value) for name, value in fields.items()})


def _read_step(value: Any) -> int:
    if type(value) is not int:
        raise TypeError(f"{value!r} is no step")
    return value


def _read_text(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _read_number(value: Any) -> float | None:
    if value is None:
        return None
    if type(value) not in (int, float) or not isfinite(value):
        raise TypeError(f"{value!r} is no number")
    return float(value)


def _read_score(value: Any) -> float:
    """A score that is there but not known."""
    return nan if value is None else float(_read_number(value) or 0.0)


def _read_flags(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(flag, str) for flag in value):
        raise TypeError(f"{value!r} are no flags")
    return tuple(value)


def _read_weights(value: Any) -> dict[str, float | None]:
    return {name: _read_number(weight) for name, weight in value.items()}


def _read_intervals(value: Any) -> dict[str, Bounds]:
    return {level: (_read_number(low), _read_number(high)) for level, (low, high) in value.items()}


def _read_path(value: Any) -> tuple[Point, ...]:
    return tuple([_built(Point, POINT_FIELDS, point) for point in value])


def _read_forecast(value: Any) -> Any:
    return _built(Forecast, FORECAST_FIELDS, value)


def _read_expected(value: Any) -> Any:
    return _built(CategoryExpected, EXPECTED_FIELDS, value)


POINT_FIELDS: Readers = {
    "step": _read_step,
    "time": _read_text,
    "prediction": _read_number,
    "intervals": _read_intervals,
}
FORECAST_FIELDS: Readers = {
    "time": _read_text,
    "prediction": _read_number,
    "low": _read_number,
    "high": _read_number,
    "intervals": _read_intervals,
    "path": _read_path,
}
RECORD_FIELDS: Readers = {
    "step": _read_step,
    "key": _read_text,
    "time": _read_text,
    "prediction": _read_number,
    "low": _read_number,
    "high": _read_number,
    "actual": _read_number,
    "error": _read_number,
    "flags": _read_flags,
    "next": _read_forecast,
    "intervals": _read_intervals,
    "experts": _read_weights,
    "half_lives": _read_weights,
    "score": _read_score,
}
EXPECTED_FIELDS: Readers = {
    "time": _read_text,
    "prediction": _read_text,
    "probability": _read_number,
    "probabilities": _read_weights,
    "other": _read_number,
}
CATEGORY_FIELDS: Readers = {
    "step": _read_step,
    "key": _read_text,
    "time": _read_text,
    "prediction": _read_text,
    "probability": _read_number,
    "actual": _read_text,
    "bits": _read_number,
    "flags": _read_flags,
    "next": _read_expected,
    "experts": _read_weights,
    "half_lives": _read_weights,
}
