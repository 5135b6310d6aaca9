"""Where the features of a step stand, and which of them an expert sees."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tidegate.forecast.model.slots import REACH

__all__ = ["AVERAGES", "BEFORE_AT", "LAGS", "LEVEL_AT", "Layout"]

Indices = NDArray[np.intp]

LAGS = 12
LEVEL_AT, BEFORE_AT = 1, 2  #: features: the level, and the value before the last
AVERAGES = (0.3, 0.1, 0.03, 0.01)  #: rates of the running averages of the target
COLUMNS = 4  #: of a slot memory's reading
TABLE = COLUMNS * len(REACH)
RATIOS = 2
SEASON = TABLE + RATIOS
TURNS = 6  #: products of the main features with the phase of the shortest period
DAYS = 6  #: of the calendar: today, yesterday, a week ago, by date and by weekday
LAST, SLOW, FAST = 0, 2, 3


class Layout:
    """Indices into the features of a step, all but the first relative to the last value.

    Args:
        periods: how many there are.
        inputs: further columns of the stream.

    >>> layout = Layout(periods=1, inputs=0)
    >>> layout.size, len(layout.full), len(layout.lean)
    (54, 38, 2)
    """

    def __init__(self, periods: int, inputs: int) -> None:
        self.periods, self.inputs = periods, inputs
        self.lags = slice(2, 1 + LAGS)
        self.averages = slice(self.lags.stop, self.lags.stop + len(AVERAGES))
        self.seasons = [slice(*self._season(k)) for k in range(periods)]
        start = self.averages.stop + SEASON * periods
        self.phases = slice(start, start + 2 * periods)
        self.turns = slice(self.phases.stop, self.phases.stop + (TURNS if periods else 0))
        self.carried = slice(self.turns.stop, self.turns.stop + periods)
        self.days = slice(self.carried.stop, self.carried.stop + DAYS)
        self.columns = slice(self.days.stop, self.days.stop + 2 * inputs)
        self.size = self.columns.stop

    def _season(self, k: int) -> tuple[int, int]:
        start = self.averages.stop + SEASON * k
        return start, start + SEASON

    @cached_property
    def small(self) -> Indices:
        """Three lags, and the last value and slow average of the coming slot and the one before."""
        return _indices([0, 1, 2, 3, *self._slots], self.carried, self.days, self.columns)

    @cached_property
    def origin(self) -> Indices:
        """What a path sets out from: the small features of its first step without the calendar."""
        return _indices([0, 1, 2, 3, *self._slots], self.carried, self.columns)

    @cached_property
    def ahead(self) -> Indices:
        """What of the small features depends on how far ahead a step lies: slots and calendar."""
        return _indices(self._slots, self.carried, self.days)

    @cached_property
    def _slots(self) -> list[int]:
        chosen = []
        for season in self.seasons:
            fast = [FAST, COLUMNS + FAST] if season is self.seasons[-1] else []
            chosen += [season.start + j for j in (LAST, COLUMNS, SLOW, COLUMNS + SLOW, *fast)]
        return chosen

    @cached_property
    def full(self) -> Indices:
        """What a linear expert can make use of."""
        chosen = [0, 1, 2, 3, 4, 5, 6, 8]
        near = (LAST, 1, SLOW, FAST, COLUMNS, COLUMNS + SLOW, COLUMNS + FAST)
        far = tuple(COLUMNS * k + SLOW for k in range(2, len(REACH)))
        for season in self.seasons:
            chosen += [season.start + j for j in (*near, *far, TABLE)]
        late = (self.phases, self.turns, self.carried, self.days, self.columns)
        return _indices(chosen, self.averages, *late)

    @cached_property
    def sectioned(self) -> Indices:
        """What is left of it for an expert that learns for one section of a period alone."""
        return np.setdiff1d(self.full, _indices([], self.phases, self.turns))

    @cached_property
    def recent(self) -> Indices:
        """The last values alone."""
        return np.arange(self.averages.stop)

    @cached_property
    def gated(self) -> Indices:
        """What a gated expert sees beside its memory: few lags, seasons, calendar."""
        chosen = [1, 2, 3, 4]
        near = (LAST, COLUMNS, SLOW, COLUMNS + SLOW, COLUMNS * 3 + SLOW, FAST, COLUMNS + FAST)
        for season in self.seasons:
            chosen += [season.start + j for j in near]
        return _indices(chosen, self.averages, self.phases, self.carried, self.days, self.columns)

    @cached_property
    def lags_only(self) -> Indices:
        """Level and five changes."""
        return np.arange(1, 7)

    @cached_property
    def smooth(self) -> Indices:
        """Level, five changes and the running averages."""
        return _indices([1, 2, 3, 4, 5, 6], self.averages)

    @cached_property
    def lean(self) -> Indices:
        """Level and last change: the gates have to find the season."""
        return np.array([1, 2])


def _indices(chosen: list[int], *slices: slice) -> Indices:
    return np.array(chosen + [i for s in slices for i in range(s.start, s.stop)], dtype=np.intp)
