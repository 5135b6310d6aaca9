"""What is known of a stream when its next value is asked for, as numbers on the scale of 1."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, nan

import numpy as np

from tidegate.forecast.compiled import Integers
from tidegate.forecast.model.calendar import CALENDAR, CalendarMemory
from tidegate.forecast.model.feature_learning import (
    SCALE_WINDOW,
    observe_value,
    pass_over,
    see_columns,
)
from tidegate.forecast.model.feature_state import (
    FARTHEST,
    LEVEL,
    NO_DAY,
    WEEK,
    features_in,
    features_size,
    starts_of,
)
from tidegate.forecast.model.feature_values import features_at
from tidegate.forecast.model.layout import Layout
from tidegate.forecast.model.scale import RunningScale
from tidegate.forecast.model.slots import SlotMemory
from tidegate.forecast.parts import Flat, Floats

__all__ = ["FARTHEST", "Features", "Place"]

NO_DAYS = (NO_DAY, NO_DAY)


class Place:
    """Where a step stands in time; not to be changed.

    Attributes:
        slots: its slot in every period's memory, counted on from any beginning.
        days: its day in the calendar (``calendar_keys``), or None where steps are longer.
        numbers: the slots, then the two keys of the day, -1 where there is none.

    >>> Place(slots=(17, 113)).numbers
    array([ 17, 113,  -1,  -1])
    """

    __slots__ = ("days", "numbers", "slots")

    def __init__(self, slots: tuple[int, ...] = (), days: tuple[int, int] | None = None) -> None:
        self.slots, self.days = slots, days
        self.numbers: Integers = np.array((*slots, *(days or NO_DAYS)), np.int64)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and (self.slots, self.days) == (other.slots, other.days)

    def __repr__(self) -> str:
        return f"Place({self.slots}, {self.days})"


class Features(Flat):
    """The past of a target as the features of its next value, relative to the last one.

    Everything is a difference from the last value over the usual change, so the features know
    neither units nor level, and 0 means "as it was". What is not known is 0.

    Args:
        periods: lengths in slots, the shortest first.
        inputs: further columns; they enter standardised, as seen one row before.

    >>> features = Features(periods=(2,), inputs=0)
    >>> for step, value in enumerate((1.0, 5.0, 1.0, 5.0)):
    ...     features.observe(Place((step,)), value)
    >>> x = features.at(Place((4,)))
    >>> last_time = x[features.layout.seasons[0].start]
    >>> float(features.last + features.scale.value * last_time)
    1.0
    """

    def __init__(self, periods: Sequence[int], inputs: int, memory: Floats | None = None) -> None:
        super().__init__(features_size(periods, inputs), memory)
        self.layout = Layout(len(periods), inputs)
        self._periods = tuple(periods)
        starts = starts_of(periods)
        self._state = state = features_in(self.memory, 0, starts, inputs)
        state.level[LEVEL] = nan
        state.recent[:] = nan
        state.averages[:] = nan
        self.scale = RunningScale(SCALE_WINDOW, state.scale)
        self.slots = [
            SlotMemory(period, state.table[start : start + period].reshape(-1))
            for period, start in zip(periods, starts.tolist(), strict=False)
        ]
        calendar = self.memory[-CALENDAR - 2 * WEEK - 4 * inputs :][:CALENDAR]
        self.calendar = CalendarMemory(calendar)

    @property
    def periods(self) -> tuple[int, ...]:
        """Lengths of the periods, in slots."""
        return self._periods

    @property
    def last(self) -> float:
        """The last value, or the forecast that stands in for a missing one; NaN at first."""
        return float(self._state.recent[0])

    @property
    def level(self) -> float:
        """A slow average of the target; NaN at first."""
        return float(self._state.level[LEVEL])

    @property
    def ready(self) -> bool:
        """Whether the stream has changed yet."""
        return self.scale.value > 0

    def at(self, place: Place) -> Floats:
        """Float64 (feature), laid out by ``layout``, for the coming step at ``place``."""
        x = np.empty(self.layout.size)
        features_at(self._state, place.numbers, x)
        return x

    def observe(self, place: Place, value: float) -> None:
        """The finite value that came at ``place``."""
        observe_value(self._state, place.numbers, float(value))

    def pass_over(self, place: Place, forecast: float) -> None:
        """A step whose value is missing: its forecast stands in among the last values."""
        if isfinite(forecast):
            pass_over(self._state, place.numbers, float(forecast))

    def see_columns(self, values: Floats) -> None:
        """Further columns (input) of the row that came; NaN keeps what was there."""
        see_columns(self._state, values)
