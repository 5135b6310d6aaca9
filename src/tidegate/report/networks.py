"""How long the networks of a forecaster remember, each in one line."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidegate._core.trace import Trace
from tidegate.memory import half_lives

__all__ = ["NetworkMemory", "network_memory"]


@dataclass(frozen=True)
class NetworkMemory:
    """The memory of one gated expert, as log-retentions in nats per step.

    Attributes:
        name: of the expert.
        weight: what it weighed in the forecast on average.
        between_events: the median unit's, between its forget events.
        effective: the median unit's, with them.
        longest: between events, of the unit that keeps best.

    >>> NetworkMemory("lean", 0.25, -0.1, -0.2, -0.01).name
    'lean'
    """

    name: str
    weight: float
    between_events: float
    effective: float
    longest: float


def network_memory(name: str, weight: float, trace: Trace) -> NetworkMemory:
    """What a recording says of an expert.

    >>> kept = np.log(np.broadcast_to([0.5, 0.9, 0.99], (50, 1, 3)))
    >>> found = network_memory("lean", 0.25, Trace({"c": kept}))
    >>> round(float(np.exp(found.between_events)), 6), round(float(np.exp(found.longest)), 6)
    (0.9, 0.99)
    """
    lives = half_lives(trace, next(iter(trace.log_retention)))
    between, effective = (np.quantile(x, 0.5, method="nearest") for x in (lives.median, lives.mean))
    return NetworkMemory(name, weight, float(between), float(effective), float(lives.median.max()))
