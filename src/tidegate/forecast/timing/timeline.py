"""Where rows stand: on a grid of steps by the clock, or by their numbers where there is none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from math import inf, isfinite, nan

import numpy as np
from numpy.typing import NDArray

from tidegate.forecast.model.features import Place
from tidegate.forecast.model.slots import SlotMemory
from tidegate.forecast.parts import Arrays, Part
from tidegate.forecast.timing.grid import Grid

__all__ = ["Timeline"]

LONGEST_GAP = 400  #: missing steps that are gone through, of a gap of any length


class Timeline(Part):
    """Counts rows, and knows which steps are due, missing, or never have a row.

    Args:
        zone: of the stream.

    Attributes:
        grid: of its steps, once they are known and if there are times.
        periods: lengths in slots, the shortest first.
        slots: of the model's periods, which have seen when there are rows.
        rows: that came.

    >>> timeline = Timeline(None)
    >>> timeline.settle(Grid(3600.0), (24,), ())
    >>> timeline.grid.advance(0.0)
    >>> timeline.coming(), list(timeline.missing(4 * 3600.0))
    (3600.0, [3600.0, 7200.0, 10800.0])
    """

    learned = ("rows", "first_seconds", "newest")

    def __init__(self, zone: tzinfo | None) -> None:
        self._zone = zone
        self.grid: Grid | None = None
        self.periods: tuple[int, ...] = ()
        self.slots: Sequence[SlotMemory] = ()
        self._always = False  # whether rows were seen at all places, so that it stays so
        self.rows = 0
        self.first_seconds = self.newest = nan

    @property
    def now(self) -> float:
        """The time of the newest row, before everything without one."""
        return self.newest if isfinite(self.newest) else -inf

    def settle(
        self, grid: Grid | None, periods: Sequence[int], slots: Sequence[SlotMemory]
    ) -> None:
        """Go on, on this grid and these periods."""
        self.grid, self.periods, self.slots = grid, tuple(periods), slots
        self._always = False

    def place(self, seconds: float | None) -> Place:
        """Where a row of that time stands, or the coming one without times."""
        if self.grid is not None and seconds is not None:
            return self.grid.place(seconds)
        return Place((self.rows,) * len(self.periods))

    def coming(self) -> float | None:
        """When the next row is due; None without times."""
        return None if self.grid is None else self._next_open(self.grid, self.grid.ahead(1))

    def coming_places(self, count: int) -> list[tuple[float | None, Place]]:
        """Times and places of the coming rows."""
        if self.grid is None:
            periods = len(self.periods)
            return [(None, Place((self.rows + k,) * periods)) for k in range(count)]
        if self.slots and not self._always:
            self._always = self.slots[-1].full()
        coming: list[tuple[float | None, Place]] = []
        after = self.grid.ahead(1)
        for _ in range(count):
            seconds = self._next_open(self.grid, after)
            coming.append((seconds, self.grid.place(seconds)))
            after = seconds + self.grid.step
        return coming

    def open(self, place: Place, seconds: float) -> bool:
        """Whether the stream has rows at such a place; before a whole period any may."""
        if self._always or not self.slots or self.grid is None:
            return True
        whole = self.slots[-1].period * self.grid.step
        return seconds - self.first_seconds <= whole or self.slots[-1].seen(place.slots[-1])

    def missing(self, seconds: float) -> Iterable[float]:
        """The steps at which a row was due since the last one, before a row of that time."""
        grid = self.grid
        missing = 0 if grid is None else grid.missing_before(seconds)
        return () if grid is None or not missing else self._missing(grid, missing, seconds)

    def _missing(self, grid: Grid, missing: int, seconds: float) -> Iterator[float]:
        last = grid.now
        for k in range(max(1, missing - LONGEST_GAP + 1), missing + 1):
            due = last + k * grid.step
            if self.open(grid.place(due), due):
                yield due
        grid.advance(seconds - grid.step)

    def take(self, seconds: float | None) -> None:
        """The time of the row that came."""
        if seconds is not None and not isfinite(self.first_seconds):
            self.first_seconds = seconds
        self.newest = nan if seconds is None else seconds

    def go_on_at(self, seconds: float) -> None:
        """Take a row of that time for the one right after the last, as of another stream."""
        if self.grid is not None:
            self.grid.advance(seconds - self.grid.step)
            self.newest = self.grid.now

    def state(self) -> Arrays:
        step = np.array(nan if self.grid is None else self.grid.step)
        now = np.array(nan if self.grid is None else self.grid.now)
        return super().state() | {"step": step, "now": now}

    def grid_of(self, state: Mapping[str, NDArray[np.generic]]) -> Grid | None:
        """The grid of a state, as it stood."""
        step = float(state["step"])
        if not isfinite(step):
            return None
        grid = Grid(step, self._zone)
        grid.advance(float(state["now"]))
        return grid

    def _next_open(self, grid: Grid, after: float) -> float:
        """The first step from ``after`` on at which the stream ever has rows."""
        if self._always:
            return after
        for k in range(max(grid.periods, default=1)):
            if self.open(grid.place(after + k * grid.step), after):
                return after + k * grid.step
        return after
