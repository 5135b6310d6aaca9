"""A run over a stream: predict a row, meet it, learn from it; one record for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tidegate._core.errors import DataError
from tidegate._core.records import Forecast, Record
from tidegate.forecast.clock import Clock
from tidegate.forecast.parts import Arrays
from tidegate.forecast.scores import Scores
from tidegate.forecast.simple import Ago, Persistence, Simple
from tidegate.streams import BadRows, Row, bad_cell

__all__ = ["OURS", "Forecaster", "Prequential"]

OURS = "tidegate"
DEFAULT_WARMUP = 200  #: steps not scored where no period is known
WARMUP_PERIODS = 2  #: of the longest period, where one is known
LONGEST_WARMUP = 2_000


class Forecaster(Protocol):
    """Predicts the coming value of a target, and learns from every row that comes."""

    def know(self, periods: dict[str, int]) -> None: ...

    def forecast(self) -> float: ...

    def observe(self, values: NDArray[np.float64]) -> tuple[str, ...]: ...

    def state(self) -> Arrays: ...

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None: ...


@dataclass
class Prequential:
    """Predict, then learn, row after row, beside the simple forecasts on the same steps.

    Attributes:
        forecaster: what predicts.
        source: the stream's name in messages.
        bad_rows: what becomes of rows whose time goes backwards or cannot be read.
        warmup: steps not scored; by default two of the longest period the clock makes known,
            but not above 2,000, and 200 where none is known.
        time: the name of the column that dates a row.

    >>> from tidegate.forecast import BareNetwork
    >>> from tidegate.streams import StopAtBadRow
    >>> run = Prequential(BareNetwork(1, "lstm", 8, seed=0), "demo", StopAtBadRow())
    >>> records = [run.step(Row(n, None, np.array([n % 3.0]))) for n in range(1, 6)]
    >>> records[1].actual, records[1].prediction
    (2.0, 1.0)
    """

    forecaster: Forecaster
    source: str
    bad_rows: BadRows
    warmup: int | None = None
    time: str = "time"

    def __post_init__(self) -> None:
        self.steps = 0
        self.clock = Clock()
        self.scores = Scores(DEFAULT_WARMUP if self.warmup is None else self.warmup)
        self.flagged: dict[str, int] = {}
        self._simple: dict[str, Simple] = {"persistence": Persistence()}

    def step(self, row: Row) -> Record | None:
        """The record of the row that has come; None where it is passed over.

        Raises:
            DataError: its time cannot be read or goes backwards, and bad rows stop the run.
        """
        try:
            event = self._dated(row)
        except DataError as error:
            self.bad_rows(error)
            return None
        if event == "step":
            self._know(self.clock.periods())
        forecaster = self.forecaster
        actual, prediction = float(row.values[0]), forecaster.forecast()
        self._score(actual, prediction)
        learned = forecaster.observe(row.values)
        self.steps += 1
        return Record(
            step=self.steps,
            time=row.time,
            prediction=_or_none(prediction),
            actual=_or_none(actual),
            error=_or_none(actual - prediction),
            flags=self._flags(event, learned),
            next=Forecast(time=self.clock.next_time(), prediction=_or_none(forecaster.forecast())),
        )

    def state(self) -> Arrays:
        """All that was learned and counted, as flat arrays; the rows that are bad are not ours."""
        parts: dict[str, Any] = {
            "clock": self.clock, "scores": self.scores, "forecaster": self.forecaster
        } | {f"simple.{name}": simple for name, simple in self._simple.items()}  # fmt: skip
        found: Arrays = {"steps": np.array(self.steps)}
        found |= {f"flagged.{flag}": np.array(count) for flag, count in self.flagged.items()}
        for name, part in parts.items():
            found |= {f"{name}.{inner}": array for inner, array in part.state().items()}
        return found

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        """Go on from ``state``, exactly.

        Raises:
            UsageError: it is that of another run.
        """
        self.steps = int(state["steps"])
        self.clock.restore(_inner(state, "clock"))
        if self.clock.step is not None:
            self._know(self.clock.periods())
        self.flagged = {flag: int(count) for flag, count in _inner(state, "flagged").items()}
        self.scores.restore(_inner(state, "scores"))
        for name, simple in self._simple.items():
            simple.restore(_inner(state, f"simple.{name}"))
        self.forecaster.restore(_inner(state, "forecaster"))

    def summary(self) -> dict[str, Any]:
        """Errors of all methods on the same steps, skill, counts; what ``summary.json`` holds.

        A period is left out while less than half of the steps so far could be forecast by it.
        """
        simple = [n for n, one in self._simple.items() if 2 * one.period <= max(self.steps, 2)]
        return {
            "steps": self.steps,
            "scored": self.scores.steps,
            "warmup": self.scores.warmup,
            "mae": {name: self.scores.mean(name) for name in (OURS, *simple)},
            "skill": {name: self.scores.skill(OURS, over=name) for name in simple},
            "flags": dict(sorted(self.flagged.items())),
        }

    def _dated(self, row: Row) -> str | None:
        try:
            event = self.clock.observe(row.time)
        except DataError as error:
            raise self._bad_time(row, error.expected) from None
        if event == "late":
            raise self._bad_time(row, "a time after that of the row before")
        return event

    def _bad_time(self, row: Row, expected: str) -> DataError:
        return bad_cell(self.source, row.number, self.time, expected, str(row.time))

    def _know(self, periods: dict[str, int]) -> None:
        self.forecaster.know(periods)
        self._simple |= {name: Ago(period) for name, period in periods.items()}
        if self.warmup is None and periods:
            self.scores.warmup = min(WARMUP_PERIODS * max(periods.values()), LONGEST_WARMUP)

    def _score(self, actual: float, prediction: float) -> None:
        guesses = {name: simple.forecast() for name, simple in self._simple.items()}
        self.scores.add(actual, {OURS: prediction, **guesses})
        for simple in self._simple.values():
            simple.observe(actual)

    def _flags(self, event: str | None, learned: tuple[str, ...]) -> tuple[str, ...]:
        warming = ("warmup",) if self.steps <= self.scores.warmup else ()
        flags = warming + learned + (("gap",) if event == "gap" else ())
        for flag in flags:
            self.flagged[flag] = self.flagged.get(flag, 0) + 1
        return flags


def _or_none(value: float) -> float | None:
    return value if isfinite(value) else None


def _inner(state: Mapping[str, NDArray[np.generic]], name: str) -> Arrays:
    start = f"{name}."
    return {key.removeprefix(start): state[key] for key in state if key.startswith(start)}
