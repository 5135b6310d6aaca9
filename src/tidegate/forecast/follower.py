"""What follows a stream whose step and periods are known: a model, and what judges it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, nan

import numpy as np

from tidegate.forecast.horizon import Horizons, iterated
from tidegate.forecast.judging.alarms import ShiftDetector
from tidegate.forecast.judging.judge import Judge
from tidegate.forecast.model.core import Asked, Core
from tidegate.forecast.model.features import Place
from tidegate.forecast.parts import Floats, Part
from tidegate.forecast.prediction import Outcome, Prediction
from tidegate.forecast.timing.grid import Grid
from tidegate.forecast.timing.timeline import Timeline

__all__ = ["Follower", "Task"]

LOOSENED = 0.7  #: what linear experts keep of the past at a shift, until it turns out a blip


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
        self._asked: Asked | None = None

    def ask(self, seconds: float | None) -> Asked | None:
        """What the experts say of a row of that time; None before the stream has changed."""
        return self._ask(self._timeline.place(seconds))

    def predict(self, seconds: float | None) -> Prediction:
        """The row of that time; changes nothing."""
        asked = self.ask(seconds)
        if asked is None:
            return self._said(self.core.features.last, {}, seconds)
        usual = self.core.features.scale.value
        widths = self.judge.widths(self.core.doubts(asked), usual)
        value = self.core.value_of(asked.mixed)
        weights = dict(zip(self.core.names, self.core.stack.weights.tolist(), strict=True))
        ends = self._ends(value, widths)
        return Prediction(self._bounded(value), ends, weights, seconds)

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
        asked = self._ask(place)
        score = None if asked is None or not isfinite(value) else self._judge(asked, value)
        shift = self.detector.update(value - self._expected(place))
        if shift is not None:
            self.core.loosen(1 / LOOSENED if shift.back else LOOSENED)
        self.core.observe(place, value, asked)
        if self._task.inputs:
            self.core.features.see_columns(inputs)
        self._asked = None
        if timeline.grid is not None and seconds is not None:
            timeline.grid.advance(seconds)
        timeline.rows += 1
        self._learn_ahead(value)
        missing = not isfinite(value) or not np.isfinite(inputs).all()
        flags = ("missing",) * missing + ("alarm",) * (shift is not None)
        return Outcome(flags, score, shift)

    def miss(self, seconds: float) -> None:
        """Go through a step at which no row came."""
        self.core.observe(self._timeline.place(seconds), nan)
        if self._timeline.grid is not None:
            self._timeline.grid.advance(seconds)
        self._learn_ahead(nan)
        self._asked = None

    def forget_asked(self) -> None:
        """Ask anew: the timeline was changed."""
        self._asked = None

    def _ask(self, place: Place) -> Asked | None:
        if not self.core.ready:
            return None
        if self._asked is None or self._asked.place != place:
            self._asked = self.core.ask(place)
        return self._asked

    def _judge(self, asked: Asked, value: float) -> float | None:
        """Learn how large errors are; how unusual this one was."""
        change = (value - self.core.features.last) / self.core.features.scale.value
        return self.judge.learn(self.core.doubts(asked), change - asked.mixed)

    def _expected(self, place: Place) -> float:
        """What is usual at this place, without which a season would look like shifts."""
        slots = self.core.features.slots
        if not slots:
            return 0.0
        usual = slots[-1].average(place.slots[-1])
        return usual if isfinite(usual) else self.core.features.level

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
