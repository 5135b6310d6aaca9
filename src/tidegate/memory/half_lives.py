"""How long each unit remembers: between its forget events, and with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidegate._core.errors import UsageError
from tidegate._core.trace import Trace
from tidegate.gates import half_life_from_log_retention, half_life_words
from tidegate.memory.direct_path import Floats, direct_path

__all__ = ["HalfLives", "half_lives"]


@dataclass(frozen=True, eq=False)
class HalfLives:
    """Two log-retentions of every unit (units,), in nats per step, and what follows from them.

    Attributes:
        median: of all steps; gives the half-life *between events*.
        mean: of all steps: the true average decay; gives the *effective* half-life.

    >>> HalfLives(median=np.array([-0.01, 0.0]), mean=np.array([-0.1, 0.0])).words()
    [('69.31 steps', '6.931 steps'), ('forever', 'forever')]
    """

    median: Floats
    mean: Floats

    @property
    def between_events(self) -> Floats:
        """In steps (units,); inf where kept forever, NaN where there is none."""
        return half_life_from_log_retention(self.median)

    @property
    def effective(self) -> Floats:
        """In steps (units,); inf where kept forever, NaN where there is none."""
        return half_life_from_log_retention(self.mean)

    def words(self) -> list[tuple[str, str]]:
        """Both half-lives of every unit, in words where they are no number."""
        return [
            (half_life_words(a), half_life_words(b))
            for a, b in zip(self.median, self.mean, strict=True)
        ]


def half_lives(trace: Trace, memory: str | None = None) -> HalfLives:
    """Half-lives of every unit over all steps and rows of a Trace; resets are left out.

    The arithmetic mean of f means nothing and is not offered: 399 steps at 0.999 and one at 0.001
    have half-lives of 693 steps between events and of 38 effectively; the mean of f says 198.

    Raises:
        UsageError: no such memory, or no step that is no reset.

    >>> f = np.full((400, 1, 1), 0.999)
    >>> f[200] = 0.001
    >>> found = half_lives(Trace(log_retention={"c": np.log(f)}))
    >>> found.between_events.round(1), found.effective.round(1)
    (array([692.8]), array([37.9]))
    """
    path = direct_path(trace, memory)
    kept = trace.log_retention[path.name][~trace.reset]
    if not len(kept):
        raise UsageError("half_lives", "steps that are no resets", "none", "Record more steps.")
    return HalfLives(np.median(kept, axis=0), np.mean(kept, axis=0))
