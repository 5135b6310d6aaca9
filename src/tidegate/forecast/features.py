"""What is known of a stream when its next value is asked for, as numbers on the scale of 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, isfinite, nan, pi, sin

import numpy as np

from tidegate.forecast.calendar import CalendarMemory
from tidegate.forecast.carry import SlotCarry
from tidegate.forecast.layout import AVERAGES, COLUMNS, FAST, LAGS, SLOW, TABLE, Layout
from tidegate.forecast.parts import Floats, Part
from tidegate.forecast.scale import RunningScale
from tidegate.forecast.slots import SlotMemory

__all__ = ["FARTHEST", "Features", "Place"]

FARTHEST = 50.0  #: usual changes that a feature, or a change of the target, counts for
SCALE_WINDOW = 500
LEVEL_WINDOW = 2_000
WEEK = 7  #: days whose calendar surprises are kept
LARGEST_RATIO = 3.0
UNUSUAL = 30.0  #: usual changes up to which a day's surprise counts


@dataclass(frozen=True)
class Place:
    """Where a step stands in time.

    Attributes:
        slots: its slot in every period's memory, counted on from any beginning.
        days: its day in the calendar (``calendar_keys``), or None where steps are longer.

    >>> Place(slots=(17, 113)).days is None
    True
    """

    slots: tuple[int, ...] = ()
    days: tuple[int, int] | None = None


class Features(Part):
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

    learned = (
        "recent", "averages", "level", "count", "scale", "slots", "carries", "calendar",
        "past_days", "columns", "column_before", "mean", "spread",
    )  # fmt: skip

    def __init__(self, periods: Sequence[int], inputs: int) -> None:
        self.layout = Layout(len(periods), inputs)
        self._periods = tuple(periods)
        self.recent: Floats = np.full(LAGS, nan)
        self.averages: Floats = np.full(len(AVERAGES), nan)
        self._rates = np.array(AVERAGES)
        self.level, self.count = nan, 0
        self.scale = RunningScale(SCALE_WINDOW)
        self.slots = [SlotMemory(period) for period in periods]
        self.carries = [SlotCarry(period) for period in periods]
        self.calendar = CalendarMemory()
        self.past_days: Floats = np.zeros((WEEK, 2))
        self.columns: Floats = np.zeros(inputs)
        self.column_before: Floats = np.zeros(inputs)
        self.mean: Floats = np.zeros(inputs)
        self.spread: Floats = np.zeros(inputs)

    @property
    def periods(self) -> tuple[int, ...]:
        """Lengths of the periods, in slots."""
        return self._periods

    @property
    def last(self) -> float:
        """The last value, or the forecast that stands in for a missing one; NaN at first."""
        return float(self.recent[0])

    @property
    def ready(self) -> bool:
        """Whether the stream has changed yet."""
        return self.scale.value > 0

    def at(self, place: Place) -> Floats:
        """Float64 (feature), laid out by ``layout``, for the coming step at ``place``."""
        layout, last = self.layout, self.recent[0]
        x = np.zeros(layout.size)
        x[0] = 1.0
        if not self.ready:
            return x
        over = 1.0 / self.scale.value
        x[1] = (self.level - last) * over
        x[layout.lags] = (self.recent[1:] - last) * over
        x[layout.averages] = (self.averages - last) * over
        for k, season in enumerate(layout.seasons):
            self._season(x[season], self.slots[k].read(place.slots[k]), over)
            x[layout.carried.start + k] = self._carried(k, place, over)
        if self._periods:
            self._turn(x, place)
        if place.days is not None:
            now = self.calendar.read(place.days)
            days = np.concatenate((now, self.past_days[0], self.past_days[-1]))
            x[layout.days] = days * over
        x[layout.columns] = np.concatenate((self.columns, self.columns - self.column_before))
        x[np.isnan(x)] = 0.0
        return np.minimum(np.maximum(x, -FARTHEST, out=x), FARTHEST, out=x)

    def _season(self, x: Floats, found: Floats, over: float) -> None:
        last = self.recent[0]
        x[:TABLE] = (found.ravel() - last) * over
        for k, column in enumerate((SLOW, FAST)):
            now, before = found[0, column], found[1, column]
            ratio = now / before if before else nan
            if 0 < ratio < LARGEST_RATIO:
                x[TABLE + k] = last * (ratio - 1) * over

    def _carried(self, k: int, place: Place, over: float) -> float:
        """The slow average of the slot, and the share of the last deviation that stays."""
        slot = place.slots[k]
        usual, before = self.slots[k].average(slot), self._deviation(k, slot, over)
        return float((usual - self.recent[0]) * over + self.carries[k].share(slot) * before)

    def _deviation(self, k: int, slot: int, over: float) -> float:
        """Of the last value from the slow average of the slot before."""
        before = (self.recent[0] - self.slots[k].average(slot - 1)) * over
        return _within(before) if isfinite(before) else 0.0

    def _turn(self, x: Floats, place: Place) -> None:
        layout = self.layout
        for k, (slot, period) in enumerate(zip(place.slots, self._periods, strict=True)):
            angle = 2 * pi * (slot % period) / period
            x[layout.phases.start + 2 * k :][:2] = sin(angle), cos(angle)
        sine, cosine = x[layout.phases.start], x[layout.phases.start + 1]
        longest = layout.seasons[-1].start
        for k, feature in enumerate((longest + SLOW, longest + COLUMNS + SLOW, 2)):
            x[layout.turns.start + 2 * k :][:2] = x[feature] * sine, x[feature] * cosine

    def observe(self, place: Place, value: float) -> None:
        """The finite value that came at ``place``."""
        last = self.recent[0]
        if isfinite(last):
            self._learn_season(place, value)
            self.scale.update(value - last)
        for memory, slot in zip(self.slots, place.slots, strict=True):
            memory.update(slot, value)
        rate = 1 / min(self.count + 1, LEVEL_WINDOW)
        self.level = value if self.count == 0 else self.level + rate * (value - self.level)
        self.count += 1
        self._push(place, value)

    def pass_over(self, place: Place, forecast: float) -> None:
        """A step whose value is missing: its forecast stands in among the last values."""
        if isfinite(forecast):
            self._push(place, forecast)

    def see_columns(self, values: Floats) -> None:
        """Further columns (input) of the row that came; NaN keeps what was there."""
        known = np.isfinite(values)
        rate = 1 / min(self.count + 1, LEVEL_WINDOW)
        apart = np.where(known, values - self.mean, 0.0)
        limit = np.where(self.spread > 0, 8 * self.spread, np.inf)
        apart = np.minimum(np.maximum(apart, -limit), limit)
        self.mean = self.mean + rate * apart
        self.spread = self.spread + np.where(known, rate * (np.abs(apart) - self.spread), 0.0)
        self.column_before = self.columns
        scaled = apart / np.where(self.spread > 0, self.spread, 1.0)
        self.columns = np.where(known, scaled, self.columns)

    def _learn_season(self, place: Place, value: float) -> None:
        if not self.ready:
            return
        over = 1 / self.scale.value
        for k, slot in enumerate(place.slots):
            now = (value - self.slots[k].average(slot)) * over
            if isfinite(now):
                self.carries[k].update(slot, self._deviation(k, slot, over), _within(now))
        if place.days is not None and self.slots:
            unusual = (value - self.slots[-1].average(place.slots[-1])) * over
            if isfinite(unusual):
                unusual = min(max(unusual, -UNUSUAL), UNUSUAL)
                self.calendar.update(place.days, unusual * self.scale.value)

    def _push(self, place: Place, value: float) -> None:
        if place.days is not None:
            expected = self.calendar.read(place.days)
            self.past_days[1:] = self.past_days[:-1].copy()
            self.past_days[0] = expected
        self.recent[1:] = self.recent[:-1].copy()
        self.recent[0] = value
        if isfinite(self.averages[0]):
            self.averages = self.averages + self._rates * (value - self.averages)
        else:
            self.averages = np.full(len(AVERAGES), value)


def _within(x: float) -> float:
    return min(max(float(x), -FARTHEST), FARTHEST)
