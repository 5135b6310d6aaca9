"""The part of a stream of categories that a study looks at: how surprising each was, in bits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tidegate._core.category_records import CategoryRecord
from tidegate.report.stream import Floats, by_name, heaviest_first, mean, numbers

__all__ = ["CategoryStream", "category_stream_of"]


@dataclass(frozen=True, eq=False)
class CategoryStream:
    """What was predicted and what came; (steps,) float64, NaN where it is not known.

    Attributes:
        steps: numbers of the steps, as the Trace counts them.
        prediction: the most probable category of each row, empty where none was known.
        probability: that it was given.
        actual: what came, empty where it is missing.
        bits: -log2 of the probability of what came.
        times: as the source has them, or none.
        experts: what each expert weighed, by name.
        half_lives: of the networks by name, in steps.
        alarms: none.

    >>> stream = CategoryStream(np.arange(2), ("sun", "sun"), np.array([0.5, 0.75]),
    ...                         ("sun", "rain"), np.array([1.0, 2.0]))
    >>> stream.loss, stream.right, stream.entropy
    (1.5, 0.5, 1.0)
    """

    steps: NDArray[np.int64]
    prediction: tuple[str, ...]
    probability: Floats
    actual: tuple[str, ...]
    bits: Floats
    times: tuple[str, ...] = ()
    experts: Mapping[str, Floats] = field(default_factory=dict)
    half_lives: Mapping[str, Floats] = field(default_factory=dict)
    alarms: tuple[int, ...] = ()

    @property
    def loss(self) -> float:
        """Mean bits; NaN where nothing came."""
        return mean(self.bits)

    @property
    def entropy(self) -> float:
        """Bits a row by the frequencies of these very rows, known beforehand."""
        counts = np.array(list(Counter(name for name in self.actual if name).values()), float)
        return float(-(counts / counts.sum()) @ np.log2(counts / counts.sum())) + 0.0

    @property
    def right(self) -> float:
        """The share of what came that had been the most probable; NaN where nothing came."""
        pairs = [(said, came) for said, came in zip(self.prediction, self.actual, strict=True)]
        return mean(np.array([float(said == came) for said, came in pairs if came]))

    @property
    def weights(self) -> dict[str, float]:
        """What each expert weighed on average, the heaviest first."""
        return heaviest_first(self.experts)


def category_stream_of(
    records: Iterable[CategoryRecord], start: int, steps: int
) -> CategoryStream | None:
    """The stream of the records that a Trace has steps for; None where there are none.

    >>> from tidegate._core.category_records import CategoryExpected
    >>> record = CategoryRecord(step=1, time=None, prediction="sun", probability=0.5, actual="sun",
    ...     bits=1.0, next=CategoryExpected(time=None, prediction="sun", probability=0.6))
    >>> category_stream_of([record], start=0, steps=10).actual
    ('sun',)
    """
    found = [r for r in records if start <= r.step < start + steps]
    if not found:
        return None
    times = tuple(r.time or "" for r in found)
    return CategoryStream(
        np.array([r.step for r in found], np.int64),
        tuple(r.prediction or "" for r in found),
        numbers([r.probability for r in found]),
        tuple(r.actual or "" for r in found),
        numbers([r.bits for r in found]),
        times if any(times) else (),
        by_name([r.experts for r in found]),
        by_name([r.half_lives for r in found]),
    )
