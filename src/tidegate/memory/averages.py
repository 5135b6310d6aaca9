"""Event-triggered averages: what a signal does round the events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tidegate._core.errors import UsageError
from tidegate._core.trace import Array
from tidegate.memory.direct_path import Floats

__all__ = ["EventAverage", "event_average"]


@dataclass(frozen=True, eq=False)
class EventAverage:
    """A signal aligned to events.

    Attributes:
        offsets: steps from the event (window,), negative before it.
        mean: over the events (window, ...).
        deviation: standard deviation over the events (window, ...).
        events: how many were averaged; those too near to an end were not.

    >>> EventAverage(np.array([-1, 0]), np.array([0.2, 0.9]), np.array([0.1, 0.1]), 12).events
    12
    """

    offsets: Array
    mean: Floats
    deviation: Floats
    events: int


def event_average(signal: Array, events: Sequence[int], before: int, after: int) -> EventAverage:
    """The mean of ``signal`` (steps, ...) from ``before`` steps before to ``after`` after events.

    Args:
        events: indices of steps; an :class:`~tidegate.memory.Event` has ``step - meta.start``.

    Raises:
        UsageError: no event has a whole window within the signal.

    >>> found = event_average(np.array([0, 1, 5, 1, 0, 1, 7, 1.0]), [2, 6], before=1, after=1)
    >>> found.mean, found.events
    (array([1., 6., 1.]), 2)
    """
    at = np.asarray(events, np.int64)
    inside = at[(at >= before) & (at + after < len(signal))]
    if not len(inside) or min(before, after) < 0:
        raise UsageError(
            "event_average", "an event with a whole window within the signal",
            f"{len(at)} events, {before} steps before to {after} after",
            "Take a shorter window of at least 0 steps.",
        )  # fmt: skip
    offsets = np.arange(-before, after + 1)
    windows = np.asarray(signal, np.float64)[inside[:, None] + offsets]
    return EventAverage(offsets, windows.mean(axis=0), windows.std(axis=0), len(inside))
