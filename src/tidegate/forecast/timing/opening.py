"""The first rows of a stream, kept until its step or its periods are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, nan

import numpy as np
from numpy.typing import NDArray

from tidegate.forecast.parts import Floats, Part
from tidegate.forecast.timing.grid import usual_step
from tidegate.forecast.timing.periods import PeriodFinder

__all__ = ["Opening"]

OPENING = 10  #: rows with times from which the step is taken
HISTORY = 2_000  #: rows that a new model is taught when a period is found
FIRST_LOOK, LAST_LOOK, LOOK_AGAIN = 100, 20_000, 1.5  #: rows at which periods are looked for


class Opening(Part):
    """Remembers the last rows, and says when they tell a step, or without times a period.

    Args:
        inputs: further numbers of every row.

    >>> opening = Opening(inputs=0)
    >>> for row in range(12):
    ...     opening.remember(60.0 * row, float(row), ())
    >>> opening.step(rows=12), opening.rows(12)[0].tolist()
    (60.0, [0.0, 0.0])
    """

    learned = ("history", "looks", "finders")

    def __init__(self, inputs: int) -> None:
        self.history: Floats = np.full((HISTORY, 2 + inputs), nan)  # newest first: time, value ...
        self.looks = 0
        self.finders = [PeriodFinder()]

    @property
    def over(self) -> bool:
        """Whether times tell everything from here on, and nothing is remembered."""
        return not self.finders

    def remember(self, seconds: float | None, value: float, inputs: Sequence[float]) -> None:
        """The row that came."""
        self.history[1:] = self.history[:-1].copy()
        self.history[0] = (nan if seconds is None else seconds, value, *inputs)
        for finder in self.finders:
            finder.update(value)

    def rows(self, count: int) -> Floats:
        """Those remembered of the last ``count``, the oldest first (row, time and values)."""
        return self.history[: min(count, HISTORY)][::-1].copy()

    def step(self, rows: int) -> float | None:
        """The step, once enough of the ``rows`` that came have times."""
        if rows < OPENING:
            return None
        times = self.history[:rows, 0][::-1].tolist()
        return usual_step([t for t in times if isfinite(t)]) or None

    def periods(self, rows: int) -> tuple[int, ...]:
        """The periods that stand out, where it is time to look again after so many rows."""
        if rows > LAST_LOOK or rows < FIRST_LOOK * LOOK_AGAIN**self.looks:
            return ()
        self.looks += 1
        return self.finders[0].periods()

    def end(self) -> None:
        """Let all of it go."""
        self.finders, self.history = [], self.history[:0].copy()

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        self.history = np.empty(state["history"].shape)
        self.finders = [PeriodFinder()] if len(self.history) else []
        super().restore(state)
