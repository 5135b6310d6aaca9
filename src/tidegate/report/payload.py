"""What a page needs of a study: small numbers as JSON, arrays as base64 of little-endian floats."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tidegate._core.decimation import decimate
from tidegate._core.trace import Array
from tidegate.memory import EventAverage
from tidegate.report.category_stream import CategoryStream
from tidegate.report.equations import cell_of, roles
from tidegate.report.stream import Stream
from tidegate.report.study import Study

__all__ = ["payload"]

COLUMNS = 2_000  #: buckets of the overview
VALUES = 1_000_000  #: recorded values that a page holds in full: some 5 MB
LEAST_DETAIL = 200  #: steps held in full, however many units there are


def payload(study: Study) -> dict[str, Any]:
    """Everything the page's scripts read, by the names they use.

    >>> from tidegate._core.trace import Trace
    >>> kept = np.full((300, 1, 2), np.log(0.9))
    >>> found = payload(Study("demo", Trace({"c": kept}, {"c": np.zeros(kept.shape)})))
    >>> found["first"], found["steps"], found["detail"]["steps"], found["overview"]["every"]
    (0, 300, 300, 1)
    """
    lives = study.half_lives
    return {
        "first": study.start,
        "steps": study.trace.steps,
        "units": list(study.units),
        "median": _packed(lives.median, np.float64),
        "mean": _packed(lives.mean, np.float64),
        "patterns": [pattern.words() for pattern in study.patterns],
        "score": _packed(study.score),
        "events": [{"step": e.step, "score": e.score, "excess": e.excess} for e in study.events],
        "borders": list(study.borders),
        "average": None if study.average is None else _average(study.average),
        "stream": None if study.stream is None else _stream(study.stream),
        "overview": _overview(study),
        "detail": _detail(study),
        "roles": _roles(study),
    }


def _overview(study: Study) -> dict[str, Any]:
    """The least log-retention of every bucket, so that one step stays visible; and the mean."""
    every = -(-study.trace.steps // COLUMNS)
    kept = {study.memory: study.trace.log_retention[study.memory]}
    only = replace(
        study.trace, log_retention=kept, retention_sign={}, memory={}, hidden={}, gates={}, slots={}
    )
    buckets = decimate(only, every)
    return {
        "every": every,
        "buckets": len(buckets.first),
        "minimum": _packed(buckets.minimum[study.memory][:, 0]),
        "mean": _packed(buckets.mean[study.memory][:, 0]),
    }


def _detail(study: Study) -> dict[str, Any]:
    """The last steps with every value that was recorded."""
    trace = study.trace
    arrays = 2 + len(trace.memory) + len(trace.hidden) + len(trace.gates)
    steps = min(trace.steps, max(LEAST_DETAIL, VALUES // (arrays * max(len(study.units), 1))))
    part = trace.part(trace.steps - steps, trace.steps)
    sign = part.retention_sign.get(study.memory)
    return {
        "name": study.memory,
        "first": trace.steps - steps,
        "steps": steps,
        "units": len(study.units),
        "log_retention": _packed(part.log_retention[study.memory][:, 0], np.float64),
        "sign": None if sign is None else _packed(sign[:, 0]),
        "reset": part.reset[:, 0].astype(int).tolist(),
        "memory": _packed_all(part.memory),
        "hidden": _packed_all(part.hidden),
        "gates": _packed_all(part.gates),
        "signed": {name: bool(array.min() < 0) for name, array in trace.gates.items()},
    }


def _roles(study: Study) -> dict[str, str]:
    cell = cell_of(study.trace.meta.cell)
    return {} if cell is None else roles(cell, study.memory)


def _stream(stream: Stream | CategoryStream) -> dict[str, Any]:
    own = _categories(stream) if isinstance(stream, CategoryStream) else _numbers(stream)
    return own | {
        "steps": _packed(stream.steps, np.float64),
        "times": list(stream.times),
        "experts": {name: _packed(stream.experts[name]) for name in stream.weights},
        "half_lives": {name: _packed(steps) for name, steps in stream.half_lives.items()},
        "alarms": list(stream.alarms),
    }


def _categories(stream: CategoryStream) -> dict[str, Any]:
    return {
        "prediction": list(stream.prediction),
        "probability": _packed(stream.probability, np.float64),
        "actual": list(stream.actual),
        "bits": _packed(stream.bits, np.float64),
    }


def _numbers(stream: Stream) -> dict[str, Any]:
    return {
        "actual": _packed(stream.actual, np.float64),
        "prediction": _packed(stream.prediction, np.float64),
        "low": None if stream.low is None else _packed(stream.low, np.float64),
        "high": None if stream.high is None else _packed(stream.high, np.float64),
        "score": None if stream.score is None else _packed(stream.score),
    }


def _average(found: EventAverage) -> dict[str, Any]:
    return {
        "offsets": found.offsets.tolist(),
        "mean": found.mean.tolist(),
        "deviation": found.deviation.tolist(),
        "events": found.events,
    }


def _packed_all(arrays: Mapping[str, Array]) -> dict[str, Any]:
    return {name: _packed(array[:, 0]) for name, array in arrays.items()}


def _packed(array: Array, dtype: Any = np.float32) -> dict[str, str]:
    kind = np.dtype(dtype).newbyteorder("<")
    with np.errstate(over="ignore"):
        content = np.ascontiguousarray(array, kind).tobytes()
    return {"kind": kind.str[1:], "data": b64encode(content).decode()}
