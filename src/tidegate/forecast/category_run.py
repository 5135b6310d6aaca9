"""A run over rows of categories: predict a row, meet it, learn from it; one record for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo
from math import log2
from typing import Any

from tidegate._core.category_records import CategoryExpected, CategoryRecord
from tidegate._core.errors import DataError
from tidegate.forecast.by_key import ByKey
from tidegate.forecast.categories import CategoryForecaster, CategoryPrediction
from tidegate.forecast.category_track import CategoryTrack
from tidegate.forecast.dating import dated
from tidegate.forecast.parts import Kept
from tidegate.forecast.prequential import MOST_KEYS, OURS
from tidegate.forecast.scoring.scores import Scores
from tidegate.forecast.tallied import Tallied
from tidegate.forecast.track import DEFAULT_WARMUP
from tidegate.streams import BadRows, Row

__all__ = ["SIMPLE", "UNIFORM", "CategoryRun"]

SIMPLE = ("after last", "frequencies")  #: experts that are simple forecasts by themselves
UNIFORM = "uniform"
SHOWN = 8  #: categories whose probabilities a record tells
DIGITS, WEIGHT_DIGITS = 6, 4


@dataclass
class CategoryRun(Tallied):
    """Predict, then learn, row after row, beside simple forecasts on the same rows.

    Beside it stand two of its own experts, how often each category came and how often after the
    last one; and saying all alike that were seen, the present one among them. Losses are in bits.

    Attributes:
        source: the name of the rows' source in messages.
        bad_rows: what becomes of rows whose time goes backwards or cannot be read.
        limit, units, seed: of the forecaster of every stream.
        warmup: first rows of a stream that are not scored.
        time: the name of the column that dates a row.
        zone: in which times without one are meant.
        most: streams that are kept; of more, the one that was silent longest is forgotten.

    >>> import numpy as np
    >>> from tidegate.streams import StopAtBadRow
    >>> run = CategoryRun("demo", StopAtBadRow(), limit=8, units=4)
    >>> rows = [Row(n, None, np.zeros(0), category="ab"[n % 2]) for n in range(1, 90)]
    >>> records = [run.step(row) for row in rows]
    >>> records[-1].actual, records[-1].prediction, records[-1].bits < 0.1
    ('b', 'b', True)
    """

    source: str
    bad_rows: BadRows
    limit: int = 64
    units: int = 32
    seed: int = 0
    warmup: int | None = None
    time: str = "time"
    zone: tzinfo | None = None
    most: int = MOST_KEYS

    def __post_init__(self) -> None:
        self.steps, self.warming = 0, True
        self._warmup = DEFAULT_WARMUP if self.warmup is None else self.warmup
        self.scores, self.misses = Scores(warmup=0), Scores(warmup=0)
        self.flagged = {}
        self.tracks = ByKey(self._track, self.most)

    def model(self, key: str | None = None) -> CategoryForecaster:
        """What predicts the stream ``key``."""
        return self.tracks.of(key).forecaster

    def step(self, row: Row) -> CategoryRecord | None:
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
        forecaster, actual = track.forecaster, row.category
        said, weights = forecaster.predict(), forecaster.weights
        simple = {name: forecaster.predict_by(name) for name in SIMPLE}
        bits = track.learn(actual)
        self.steps += 1
        self.warming = track.steps <= self._warmup
        flags = self._flags(event, actual, said, track)
        if actual is not None:
            self._score(actual, said, simple)
        likely = said.likely
        return CategoryRecord(
            step=self.steps,
            key=row.key,
            time=row.time,
            prediction=likely,
            probability=_probability(said, likely),
            actual=actual,
            bits=bits,
            flags=flags,
            next=_expected(track),
            experts={name: round(weight, WEIGHT_DIGITS) for name, weight in weights.items()},
            half_lives=track.half_lives,
        )

    def summary(self) -> dict[str, Any]:
        """Bits of all methods on the same rows, what they save, counts; for ``summary.json``."""
        names = (*SIMPLE, UNIFORM)
        known = [len(track.forecaster.categories) for track in self.tracks.parts()]
        return {
            "steps": self.steps,
            "scored": self.scores.steps,
            "warmup": self._warmup,
            "bits": {name: self.scores.mean(name) for name in (OURS, *names)},
            "saved": {name: self.scores.skill(OURS, over=name) for name in names},
            "missed": {name: self.misses.mean(name) for name in (OURS, *SIMPLE)},
            "categories": {"known": max(known, default=0), "most": self.limit - 1},
            "flags": dict(sorted(self.flagged.items())),
            "keys": {"kept": len(self.tracks), "forgotten": self.tracks.gone},
        }

    def _track(self) -> CategoryTrack:
        return CategoryTrack(self.limit, self.units, self.seed, self.zone)

    def _parts(self) -> dict[str, Kept]:
        return {"scores": self.scores, "misses": self.misses, "tracks": self.tracks}

    def _score(
        self, actual: str, said: CategoryPrediction, simple: Mapping[str, CategoryPrediction]
    ) -> None:
        each = {OURS: said, **simple}
        seen = len(said.probabilities) + (actual not in said.probabilities)
        bits = {name: one.bits(actual) for name, one in each.items()}
        self.scores.add_errors(bits | {UNIFORM: log2(seen)}, self.warming)
        missed = {name: float(one.likely != actual) for name, one in each.items()}
        self.misses.add_errors(missed, self.warming)

    def _flags(
        self, event: str | None, actual: str | None, said: CategoryPrediction, track: CategoryTrack
    ) -> tuple[str, ...]:
        flags = ("warmup",) * self.warming + ("missing",) * (actual is None)
        flags += ("gap",) * (event == "gap")
        if actual is not None and actual not in said.probabilities:
            flags += ("new",) if actual in track.forecaster.categories else ("other",)
        return self._count(flags)


def _expected(track: CategoryTrack) -> CategoryExpected:
    said = track.forecaster.predict()
    shares = sorted(said.probabilities.items(), key=lambda item: -item[1])[:SHOWN]
    likely = said.likely
    return CategoryExpected(
        time=track.clock.next_time(),
        prediction=likely,
        probability=_probability(said, likely),
        probabilities={name: round(share, DIGITS) for name, share in shares},
        other=round(said.other, DIGITS),
    )


def _probability(said: CategoryPrediction, category: str | None) -> float | None:
    return None if category is None else round(said.probabilities[category], DIGITS)
