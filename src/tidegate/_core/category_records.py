"""Records of a run over categories: what may come, with probabilities, and what came, in bits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tidegate._core.records import Cell, json_of, number_or_none

__all__ = ["CategoryExpected", "CategoryRecord"]


@dataclass(slots=True, kw_only=True)
class CategoryExpected:
    """What is expected of the row that has not come yet.

    Attributes:
        time: when it is due, as the source writes times.
        prediction: the most probable category; None before any was seen.
        probability: of that one.
        probabilities: of the most probable categories, the first one first.
        other: of what has not come before, or is not told apart.

    >>> CategoryExpected(time=None, prediction="sun", probability=0.75).prediction
    'sun'
    """

    time: str | None
    prediction: str | None
    probability: float | None
    probabilities: Mapping[str, float | None] | None = None
    other: float | None = None


@dataclass(slots=True, kw_only=True)
class CategoryRecord:
    """One row of a stream of categories and the forecast of the next.

    Attributes:
        step: number of the row.
        key: the stream's name where there are several.
        time: as the source has it.
        prediction, probability: the most probable category and how probable it was, before
            ``actual`` was seen.
        actual: None where it is missing.
        bits: -log2 of the probability that was given to ``actual``.
        flags: of ``warmup missing gap new other``.
        next: the forecast of the coming row.
        experts: weights of the mixture, by their names.
        half_lives: in rows, of the middle unit of each network, by their names.

    >>> record = CategoryRecord(step=17, time=None, prediction="sun", probability=0.75,
    ...     actual="rain", bits=2.0,
    ...     next=CategoryExpected(time=None, prediction="rain", probability=0.5))
    >>> record.to_json_line()[:60]
    '{"step": 17, "key": null, "time": null, "prediction": "sun",'
    """

    step: int
    time: str | None
    prediction: str | None
    probability: float | None
    actual: str | None
    bits: float | None
    next: CategoryExpected
    key: str | None = None
    flags: tuple[str, ...] = ()
    experts: Mapping[str, float | None] | None = None
    half_lives: Mapping[str, float | None] | None = None

    def to_json_line(self) -> str:
        """One line of JSON without its end; optional fields only where they are present."""
        coming = self.next
        fields: dict[str, object] = {
            "step": self.step, "key": self.key, "time": self.time, "prediction": self.prediction,
            "probability": self.probability, "actual": self.actual, "bits": self.bits,
            "flags": self.flags,
            "next": {
                "time": coming.time, "prediction": coming.prediction,
                "probability": coming.probability,
                **_present("probabilities", coming.probabilities),
                **_present("other", coming.other),
            },
            **_present("experts", self.experts), **_present("half_lives", self.half_lives),
        }  # fmt: skip
        return json_of(fields)

    def to_columns(self) -> dict[str, Cell]:
        """The same, flattened with dots; flags are one text, and so are the probabilities.

        Which categories come is not known when the first row is written, so these have one
        column, which holds them as JSON.
        """
        coming = self.next
        shares = coming.probabilities
        columns: dict[str, Cell] = {
            "step": self.step,
            "key": self.key,
            "time": self.time,
            "prediction": self.prediction,
            "probability": number_or_none(self.probability),
            "actual": self.actual,
            "bits": number_or_none(self.bits),
            "flags": " ".join(self.flags),
            "next.time": coming.time,
            "next.prediction": coming.prediction,
            "next.probability": number_or_none(coming.probability),
            "next.probabilities": None if shares is None else json_of(shares),
            "next.other": number_or_none(coming.other),
        }
        for name, numbers in (("experts", self.experts), ("half_lives", self.half_lives)):
            if numbers is not None:
                columns |= {f"{name}.{key}": number_or_none(x) for key, x in numbers.items()}
        return columns


def _present(name: str, value: object) -> dict[str, object]:
    return {} if value is None else {name: value}
