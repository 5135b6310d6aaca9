"""What follows a stream whose step and periods are known: a model, and what judges it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, nan
from typing import NamedTuple

import numpy as np

from tidegate.forecast.horizon import Horizons, iterated
from tidegate.forecast.judging.alarms import NEWS, ShiftDetector, shift_in
from tidegate.forecast.judging.judge import Judge
from tidegate.forecast.model.core import Core
from tidegate.forecast.model.features import Place
from tidegate.forecast.parts import Floats, Part
from tidegate.forecast.prediction import Outcome, Prediction, Weights
from tidegate.forecast.row import (
    MISSING,
    NEWS_OF_ROW,
    RANK,
    READY,
    meet_row,
    say_row,
    told_size,
)
from tidegate.forecast.timing.grid import Grid
from tidegate.forecast.timing.timeline import Timeline

__all__ = ["Follower", "Task"]


@dataclass(frozen=True)
class Task:
    """What is to be forecast.

    Attributes:
        inputs: further numbers of every row.
        levels: coverages of the intervals.
        horizon: steps ahead that are learned.
        least: below which no value can be.
        units: of every gated expert.
        seed: of their start weights.

    >>> Task(inputs=0, levels=(0.9,)).horizon
    1
    """

    inputs: int
    levels: tuple[float, ...]
    horizon: int = 1
    least: float = -inf
    units: int = 32
    seed: int = 0


NO_INPUTS: Floats = np.zeros(0)


class _Answer(NamedTuple):
    """What was said of the row at a place: what experts saw and say, and what all do."""

    place: Place
    numbers: Floats
    told: list[float]


class Follower(Part):
    """Predicts the rows of one timeline and learns from them, on periods that stay the same.

    Args:
        task: what is to be forecast.
        timeline: of the rows; it is settled on the grid and the periods.
        grid: of the steps, where there are times.
        periods: in slots, the shortest first.

    >>> follower = Follower(Task(inputs=0, levels=(0.9,), units=0), Timeline(None), None, (2,))
    >>> for row in range(60):
    ...     outcome = follower.meet(float(row % 2), np.zeros(0), None)
    >>> round(follower.predict(None).value, 1) + 0.0
    0.0
    """

    learned = ("core", "judge", "detector", "horizons")

    def __init__(
        self, task: Task, timeline: Timeline, grid: Grid | None, periods: Sequence[int]
    ) -> None:
        self._task, self._timeline = task, timeline
        self.core = Core(periods, task.inputs, task.units, task.seed)
        timeline.settle(grid, periods, self.core.features.slots)
        self.judge = Judge(task.levels, self.core.around)
        self.detector = ShiftDetector()
        layout, steps = self.core.features.layout, task.horizon
        self.horizons = [Horizons(steps, layout, task.levels)] if steps > 1 else []
        self._judging = (self.judge.scale.memory, self.judge.conformal.memory)
        self._names, self._weights = self.core.names, self.core.stack.weights
        self._told, self._news = np.empty(told_size(len(task.levels))), np.empty(NEWS_OF_ROW)
        self._asked: _Answer | None = None

    def seen(self, seconds: float | None) -> list[Floats]:
        """What each gated expert sees of the row of that time; empty at first."""
        answer = self._ask(self._timeline.place(seconds))
        return self.core.shown(answer.numbers) if answer.told[0] > 0 else []

    def predict(self, seconds: float | None) -> Prediction:
        """The row of that time; changes nothing."""
        told = self._ask(self._timeline.place(seconds)).told
        if not told[0] > 0:
            return Prediction(told[1], seconds=seconds)
        intervals = {}
        for k, level in enumerate(self._task.levels):
            low, high = told[2 + 2 * k], told[3 + 2 * k]
            if high < inf:
                intervals[level] = (low, high)
        return Prediction(told[1], intervals, Weights(self._names, self._weights.copy()), seconds)

    def path(self, horizon: int) -> list[Prediction]:
        """The coming rows; with intervals as far as the horizon of the task."""
        coming = self._timeline.coming_places(horizon)
        if not self.core.ready:
            return [self._said(self.core.features.last, {}, seconds) for seconds, _ in coming]
        first = self.predict(coming[0][0])
        values = [nan] * horizon
        if horizon > self._task.horizon:
            values = iterated(self.core, [place for _, place in coming]).tolist()
        ends: list[dict[float, tuple[float, float]]] = [{} for _ in coming]
        for learned in self.horizons:
            for k, (value, widths) in enumerate(
                learned.path(self.core, self._coming(learned.steps))[:horizon]
            ):
                values[k], ends[k] = value, self._ends(value, widths)
        rest = zip(coming[1:], values[1:], ends[1:], strict=True)
        return [first, *(self._said(value, e, seconds) for (seconds, _), value, e in rest)]

    def meet(self, value: float, inputs: Floats, seconds: float | None) -> Outcome:
        """The row that came, NaN where a value is missing."""
        timeline = self._timeline
        place = timeline.place(seconds)
        if seconds is not None and not isfinite(value) and not timeline.open(place, seconds):
            timeline.rows += 1
            return Outcome(("missing",))
        told = self._learn(place, value, inputs, seconds)
        timeline.rows += 1
        self._learn_ahead(value)
        rank, shift = told[RANK], shift_in(told[:NEWS])
        flags: tuple[str, ...] = ("missing",) if told[MISSING] else ()
        if shift is not None:
            flags = (*flags, "alarm")
        return Outcome(flags, rank if isfinite(rank) else None, shift)

    def miss(self, seconds: float) -> None:
        """Go through a step at which no row came."""
        self._learn(self._timeline.place(seconds), nan, NO_INPUTS, seconds)
        self._learn_ahead(nan)

    def _learn(
        self, place: Place, value: float, inputs: Floats, seconds: float | None
    ) -> list[float]:
        """Learn from what came at ``place``; the news of it."""
        core, gated, grid = self.core, self.core.gated, self._timeline.grid
        meet_row(
            core.memory, core.shape, place.numbers, self._ask(place).numbers, value, inputs,
            gated.xs, gated.targets, *self._judging, self.detector.memory, self._news,
        )  # fmt: skip
        told: list[float] = self._news.tolist()
        if told[READY]:
            gated.learn()
        self.forget_asked()
        if grid is not None and seconds is not None:
            grid.advance(seconds)
        return told

    def forget_asked(self) -> None:
        """Ask anew: something was learned, or changed."""
        self._asked = None
        self.core.forget_looked()

    def _ask(self, place: Place) -> _Answer:
        answer = self._asked
        if answer is None or (answer.place is not place and answer.place != place):
            core = self.core
            numbers = core.look(place)
            say_row(
                core.memory, core.shape, place.numbers, numbers, core.gated.said,
                *self._judging, self._task.least, self._told,
            )  # fmt: skip
            answer = self._asked = _Answer(place, numbers, self._told.tolist())
        return answer

    def _learn_ahead(self, value: float) -> None:
        for learned in self.horizons:
            learned.learn(value, self.core, self._coming(learned.steps))

    def _coming(self, steps: int) -> list[Place]:
        return [place for _, place in self._timeline.coming_places(steps)]

    def _said(
        self, value: float, ends: dict[float, tuple[float, float]], seconds: float | None
    ) -> Prediction:
        return Prediction(self._bounded(value), ends, seconds=seconds)

    def _ends(self, value: float, widths: Sequence[float]) -> dict[float, tuple[float, float]]:
        """Intervals, once enough errors were seen."""
        return {
            level: (self._bounded(value - width), self._bounded(value + width))
            for level, width in zip(self.judge.levels, widths, strict=True)
            if isfinite(width)
        }

    def _bounded(self, value: float) -> float:
        return float(max(value, self._task.least))
