"""The part of a stream that a study looks at: what was predicted, and what came."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tidegate._core.records import Record

__all__ = ["Stream", "stream_of"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Stream:
    """What was predicted and what came, (steps,) float64, NaN where it is not known.

    Attributes:
        steps: numbers of the steps, as the Trace counts them.
        prediction: made before ``actual`` was seen, in the units of the target.
        actual: in the units of the target.
        times: as the source has them, or none.
        low, high: ends of the interval, where the run gave one; else None.
        experts: what each expert weighed, by name.
        half_lives: of the networks by name, in steps.
        score: how unusual each row was, 0 to 1, where the run said so; else None.
        alarms: numbers of the steps with an alarm.

    >>> stream = Stream(np.arange(2), np.array([1.0, 2.0]), np.array([1.5, np.nan]))
    >>> stream.error
    array([0.5, nan])
    """

    steps: NDArray[np.int64]
    prediction: Floats
    actual: Floats
    times: tuple[str, ...] = ()
    low: Floats | None = None
    high: Floats | None = None
    experts: Mapping[str, Floats] = field(default_factory=dict)
    half_lives: Mapping[str, Floats] = field(default_factory=dict)
    score: Floats | None = None
    alarms: tuple[int, ...] = ()

    @property
    def error(self) -> Floats:
        """actual - prediction."""
        return self.actual - self.prediction

    @property
    def mae(self) -> float:
        """Mean absolute error; NaN where nothing was predicted that came."""
        return mean(np.abs(self.error))

    @property
    def persistence(self) -> float:
        """The same of saying the last value again, on the same steps."""
        known = np.isfinite(self.actual)
        newest = np.maximum.accumulate(np.where(known, np.arange(len(known)), -1))
        last = np.append(np.nan, np.where(newest >= 0, self.actual[newest], np.nan)[:-1])
        scored = np.isfinite(self.error)
        return mean(np.abs(self.actual - last)[scored])

    @property
    def held(self) -> float:
        """The share of values within their intervals; NaN where there are none."""
        if self.low is None or self.high is None:
            return float("nan")
        there = np.isfinite(self.low) & np.isfinite(self.actual)
        within = (self.low <= self.actual) & (self.actual <= self.high)
        return mean(within[there].astype(float))

    @property
    def weights(self) -> dict[str, float]:
        """What each expert weighed on average, the heaviest first."""
        return heaviest_first(self.experts)


def stream_of(records: Iterable[Record], start: int, steps: int) -> Stream | None:
    """The stream of the records that a Trace has steps for; None where there are none.

    A step of a run's trace has the number of its record.

    >>> from tidegate._core.records import Forecast
    >>> record = Record(step=1, time="12:00", prediction=5.0, actual=5.5, error=0.5,
    ...                 next=Forecast(time=None, prediction=None))
    >>> stream_of([record], start=0, steps=10).actual
    array([5.5])
    """
    found = [r for r in records if start <= r.step < start + steps]
    if not found:
        return None
    times = tuple(r.time or "" for r in found)
    given = any(r.low is not None for r in found)
    by_forecaster = any(r.experts is not None for r in found)
    return Stream(
        np.array([r.step for r in found], np.int64),
        numbers([r.prediction for r in found]),
        numbers([r.actual for r in found]),
        times if any(times) else (),
        numbers([r.low for r in found]) if given else None,
        numbers([r.high for r in found]) if given else None,
        by_name([r.experts for r in found]),
        by_name([r.half_lives for r in found]),
        numbers([r.score for r in found]) if any(r.score is not None for r in found) else None,
        # A bare network's alarm is of its memory, and lasts.
        tuple(r.step for r in found if "alarm" in r.flags) if by_forecaster else (),
    )


def by_name(rows: Sequence[Mapping[str, float | None] | None]) -> dict[str, Floats]:
    """What each row says under every name (rows,), NaN where it says nothing.

    >>> by_name([None, {"near": 0.5}])
    {'near': array([nan, 0.5])}
    """
    names = dict.fromkeys(name for row in rows for name in row or ())
    return {name: numbers([(row or {}).get(name) for row in rows]) for name in names}


def heaviest_first(experts: Mapping[str, Floats]) -> dict[str, float]:
    """What each expert weighed on average.

    >>> heaviest_first({"near": np.array([0.25]), "wide": np.array([0.75])})
    {'wide': 0.75, 'near': 0.25}
    """
    means = {name: mean(weights) for name, weights in experts.items()}
    return dict(sorted(means.items(), key=lambda item: -item[1]))


def numbers(values: Sequence[float | None]) -> Floats:
    """(values,) with NaN where there is none.

    >>> numbers([1.0, None])
    array([ 1., nan])
    """
    return np.array([np.nan if v is None else v for v in values], np.float64)


def mean(values: Floats) -> float:
    """Of those that are finite; NaN where none is.

    >>> mean(np.array([1.0, np.nan, 3.0]))
    2.0
    """
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else float("nan")
