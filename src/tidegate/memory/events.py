"""The list of a layer's forget events: where a score rises out of what it was so far.

    excess_t = (E_t - mean) / s,  mean and standard deviation s of E_1 ... E_t

There is an event where the excess rises to a threshold. Step t is one of those averaged, as in the
score itself: excess_t <= sqrt(t - 1), whatever was before. So the first closing of a constant gate
is an event, and no early score is so large that later ones are small beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidegate._core.errors import UsageError
from tidegate._core.trace import Array, Trace
from tidegate.memory.direct_path import Floats
from tidegate.memory.forgetting import forget_score
from tidegate.memory.running import RunningMoments

__all__ = ["Event", "EventDetector", "events_of", "forget_events"]

THRESHOLD = 1.0
WARMUP = 100


@dataclass(frozen=True)
class Event:
    """One forget event of a layer.

    Attributes:
        step: number of the step, counted from where the stream began.
        row: of the Trace.
        score: of the step.
        excess: in running standard deviations above the running mean.

    >>> Event(step=120, row=0, score=4.2, excess=3.1).step
    120
    """

    step: int
    row: int
    score: float
    excess: float


class EventDetector:
    """Where a score rises to its running mean + ``threshold`` standard deviations.

    Args:
        threshold: in standard deviations of the scores so far; t steps reach sqrt(t - 1) at most.
        warmup: steps that only teach the statistics.

    Raises:
        UsageError: ``warmup`` is below 2.

    >>> detector = EventDetector(threshold=2.0, warmup=4)
    >>> [bool(detector.update(score)[0]) for score in (0.0, 1.0, 0.0, 1.0, 0.0, 9.0, 9.0, 0.0)]
    [False, False, False, False, False, True, False, False]
    """

    def __init__(self, threshold: float = THRESHOLD, warmup: int = WARMUP) -> None:
        if warmup < 2:
            raise UsageError("warmup", "at least 2 steps", str(warmup), "Try 100.")
        self._threshold, self._warmup = threshold, warmup
        self._moments = RunningMoments()
        self._above: NDArray[np.bool_] | bool = False

    def update(self, score: Array | float) -> tuple[NDArray[np.bool_], Floats]:
        """Whether there is an event, and the excess, of scores (...) at one step."""
        value = np.asarray(score, np.float64)
        self._moments.add(value)
        taught = self._moments.count > self._warmup
        excess = self._moments.standardised(value) if taught else np.zeros(value.shape)
        above = taught & np.asarray(excess >= self._threshold)
        rises = above & ~np.asarray(self._above)
        self._above = above
        return rises, excess


def forget_events(
    trace: Trace,
    memory: str | None = None,
    threshold: float = THRESHOLD,
    warmup: int = WARMUP,
) -> list[Event]:
    """The layer's forget events by E_t, in order of steps.

    Raises:
        UsageError: no such memory, or ``warmup`` below 2.

    >>> f = np.where(np.arange(100) % 10 == 9, 0.1, 0.9).reshape(100, 1, 1)
    >>> [e.step for e in forget_events(Trace(log_retention={"c": np.log(f)}), warmup=70)]
    [79, 89, 99]
    """
    return events_of(forget_score(trace, memory), trace.meta.start, threshold, warmup)


def events_of(
    scores: Array, first: int = 0, threshold: float = THRESHOLD, warmup: int = WARMUP
) -> list[Event]:
    """The events of any score (steps, rows); the first step has number ``first``.

    Raises:
        UsageError: ``warmup`` below 2.

    >>> scores = np.where(np.arange(300) % 100 == 99, 1.0, 0.01 * (np.arange(300) % 2))
    >>> [event.step for event in events_of(scores[:, None], threshold=3.0)]
    [199, 299]
    """
    detector = EventDetector(threshold, warmup)
    found: list[Event] = []
    for t, score in enumerate(scores):
        rises, excess = detector.update(score)
        for row in np.flatnonzero(rises).tolist():
            found.append(Event(first + t, row, float(score[row]), float(excess[row])))
    return found
