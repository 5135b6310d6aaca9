"""Do events mark borders? Precision, recall and F1, beside the same borders shifted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidegate._core.errors import UsageError
from tidegate._core.trace import Array
from tidegate.memory.direct_path import Floats

__all__ = ["Alignment", "align"]

Steps = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Alignment:
    """How well events and borders meet, each border with one event at most.

    Attributes:
        precision: share of events that met a border.
        recall: share of borders that met an event.
        f1: their harmonic mean.
        shifted: F1 with the borders shifted round the stream (shifts,).
        p_value: how probable an F1 as large is where events know nothing of borders; uniform
            there, because ties with shifted ones are broken by lot.

    >>> Alignment(0.5, 1.0, 0.67, shifted=np.array([0.1, 0.2]), p_value=0.33).recall
    1.0
    """

    precision: float
    recall: float
    f1: float
    shifted: Floats
    p_value: float


def align(
    events: Sequence[int] | Array,
    borders: Sequence[int] | Array,
    steps: int,
    within: int = 2,
    shifts: int = 999,
    seed: int = 0,
) -> Alignment:
    """Events against given borders, beside the null of circularly shifted borders.

    A shift keeps the borders' number and spacing, and takes away only where they lie.

    Args:
        events, borders: indices of steps from 0 to below ``steps``, in any order.
        steps: length of the stream.
        within: an event meets a border if they are at most so many steps apart.
        shifts: how many random shifts make the null; 999 resolve p to 0.001.
        seed: of the shifts and of the lot.

    Raises:
        UsageError: there are no events or borders, one is outside the stream, or the stream is
            too short to shift beyond the window.

    >>> found = align([10, 50, 91, 130], [11, 50, 90], steps=200, within=1)
    >>> found.precision, found.recall, round(found.f1, 3), found.p_value < 0.01
    (0.75, 1.0, 0.857, True)
    """
    marks, given = _checked("events", events, steps), _checked("borders", borders, steps)
    if steps <= 2 * within + 2 or within < 0:
        raise UsageError(
            "align", "a stream longer than twice the window", f"{steps} steps, within {within}",
            "Take a smaller window.",
        )  # fmt: skip
    generator = np.random.default_rng(seed)
    met = _met(marks, given, within)
    f1 = _f1(met, marks, given)
    by = generator.integers(within + 1, steps - within, shifts)
    shifted = np.array(
        [_f1(_met(marks, np.sort((given + s) % steps), within), marks, given) for s in by]
    )
    ties = int((shifted == f1).sum())
    higher = int((shifted > f1).sum()) + int(generator.integers(0, ties + 1))
    p_value = (1 + higher) / (1 + shifts)
    return Alignment(met / len(marks), met / len(given), f1, shifted, p_value)


def _checked(name: str, given: Sequence[int] | Array, steps: int) -> Steps:
    found = np.unique(np.asarray(given, np.int64))
    if not len(found):
        raise UsageError(name, "at least one", "none", "Nothing can be aligned with nothing.")
    if found[0] < 0 or found[-1] >= steps:
        raise UsageError(
            name, f"indices from 0 to below {steps}", f"{found[0]} to {found[-1]}",
            "Subtract the Trace's meta.start from an event's step.",
        )  # fmt: skip
    return found


def _met(events: Steps, borders: Steps, within: int) -> int:
    """How many pairs can be made, each event and border in one at most.

    Both are sorted, so taking the earliest event each border can have is best.
    """
    met = at = 0
    marks = events.tolist()
    for border in borders.tolist():
        while at < len(marks) and marks[at] < border - within:
            at += 1
        if at < len(marks) and marks[at] <= border + within:
            met, at = met + 1, at + 1
    return met


def _f1(met: int, events: Steps, borders: Steps) -> float:
    return 2 * met / (len(events) + len(borders))
