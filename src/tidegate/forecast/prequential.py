"""A run over rows: predict a row, meet it, learn from it; one record for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any

from tidegate._core.errors import DataError
from tidegate._core.records import Record
from tidegate.forecast.by_key import ByKey
from tidegate.forecast.common import CommonWeights
from tidegate.forecast.dating import dated
from tidegate.forecast.models import Model
from tidegate.forecast.parts import Kept
from tidegate.forecast.prediction import Outcome, Prediction
from tidegate.forecast.recording import record_of
from tidegate.forecast.scoring.alarm_log import AlarmLog, Raised
from tidegate.forecast.scoring.coverage import Coverage
from tidegate.forecast.scoring.leads import LeadScores
from tidegate.forecast.scoring.scores import Scores
from tidegate.forecast.tallied import Tallied
from tidegate.forecast.track import Track
from tidegate.streams import BadRows, Row

__all__ = ["OURS", "Prequential"]

OURS = "tidegate"
MOST_KEYS = 1_000


@dataclass
class Prequential(Tallied):
    """Predict, then learn, row after row, beside the simple forecasts on the same steps.

    Rows with keys belong to several streams, each with a model, a clock and simple forecasts of
    its own; scores are those of all together.

    Attributes:
        make: what makes the model of a stream.
        source: the name of the rows' source in messages.
        bad_rows: what becomes of rows whose time goes backwards or cannot be read.
        warmup: first rows of a stream that are not scored; by default :class:`Track` decides.
        time: the name of the column that dates a row.
        zone: in which times without one are meant.
        levels: coverages of the models' intervals.
        horizon: rows ahead that the models forecast.
        most: streams that are kept; of more, the one that was silent longest is forgotten.
        common: what the models of :attr:`make` learn together, where they do.

    >>> from tidegate.forecast import BareNetwork
    >>> import numpy as np
    >>> from tidegate.streams import StopAtBadRow
    >>> run = Prequential(lambda: BareNetwork(1, "lstm", 8, seed=0), "demo", StopAtBadRow())
    >>> records = [run.step(Row(n, None, np.array([n % 3.0]))) for n in range(1, 6)]
    >>> records[1].actual, records[1].prediction
    (2.0, 1.0)
    """

    make: Callable[[], Model]
    source: str
    bad_rows: BadRows
    warmup: int | None = None
    time: str = "time"
    zone: tzinfo | None = None
    levels: tuple[float, ...] = ()
    horizon: int = 1
    most: int = MOST_KEYS
    common: CommonWeights = field(default_factory=CommonWeights)

    def __post_init__(self) -> None:
        self.steps, self.warming = 0, True
        self.scores = Scores(warmup=0)
        self.alarms = AlarmLog()
        self.flagged = {}
        self.tracks = ByKey(self._track, self.most)
        self.coverage = Coverage(self.levels)
        self.leads = LeadScores(self.horizon)

    def model(self, key: str | None = None) -> Model:
        """What predicts the stream ``key``."""
        return self.tracks.of(key).model

    def step(self, row: Row) -> Record | None:
        """The record of the row that has come; None where it is passed over.

        Raises:
            DataError: its time cannot be read or goes backwards, and bad rows stop the run.
        """
        track = self.tracks.of(row.key)
        try:
            event = dated(track, row, self.source, self.time)
        except DataError as error:
            self.bad_rows(error)
            return None
        model, seconds, actual = track.model, track.clock.seconds, float(row.values[0])
        said = model.predict(seconds)
        simple = track.simple_forecasts()
        outcome = model.learn(row.values, seconds)
        track.observe(actual)
        self.steps += 1
        flags = self._flags(track, event, outcome)
        if "gap" in flags:
            track.paths.drop()
        self._score(track, actual, said, simple)
        self._raise(row, outcome)
        ahead = model.path()
        if self.horizon > 1:
            track.paths.say(ahead, track.last)
        return record_of(self.steps, row, track, said, outcome.score, flags, ahead)

    def summary(self) -> dict[str, Any]:
        """Errors of all methods on the same steps, skill, counts; what ``summary.json`` holds.

        A period is left out while less than half of the steps so far could be forecast by it.
        """
        track = self._furthest()
        most = max(track.steps, 2)
        simple = [name for name, one in track.simple.items() if 2 * one.period <= most]
        return {
            "steps": self.steps,
            "scored": self.scores.steps,
            "warmup": track.warmup,
            "mae": {name: self.scores.mean(name) for name in (OURS, *simple)},
            "skill": {name: self.scores.skill(OURS, over=name) for name in simple},
            "coverage": self.coverage.summary(),
            "ahead": self.leads.summary()[1:],
            "flags": dict(sorted(self.flagged.items())),
            "alarms": self.alarms.summary(),
            "keys": {"kept": len(self.tracks), "forgotten": self.tracks.gone},
        }

    def _track(self) -> Track:
        return Track(self.make, self.horizon, self.warmup, self.zone)

    def _parts(self) -> dict[str, Kept]:
        return {
            "scores": self.scores, "coverage": self.coverage, "leads": self.leads,
            "alarms": self.alarms, "tracks": self.tracks, "common": self.common,
        }  # fmt: skip

    def _furthest(self) -> Track:
        """The stream that has come furthest."""
        tracks = self.tracks.parts()
        return max(tracks, key=lambda track: track.steps, default=None) or self._track()

    def _score(
        self, track: Track, actual: float, said: Prediction, simple: dict[str, float]
    ) -> None:
        self.warming = track.warming
        self.scores.add(actual, {OURS: said.value, **simple}, self.warming)
        if not self.warming:
            self.coverage.add(actual, said.intervals)
            if self.horizon > 1:
                self.leads.add(actual, track.paths.waiting())

    def _flags(self, track: Track, event: str | None, outcome: Outcome) -> tuple[str, ...]:
        gap = ("gap",) * (event == "gap" and not track.model.experts)
        flags = ("warmup",) * track.warming + outcome.flags + gap
        return self._count(flags)

    def _raise(self, row: Row, outcome: Outcome) -> None:
        if outcome.shift is not None:
            shift = outcome.shift
            self.alarms.add(
                Raised(
                    self.steps, row.key, row.time, shift.steps - 1, shift.size, shift.surprise,
                    bool(shift.back),
                )
            )  # fmt: skip
