"""The forecaster: the next values of a stream, with intervals and alarms, while it learns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate._core.errors import UsageError
from tidegate.forecast.follower import Follower, Task
from tidegate.forecast.model.core import Core
from tidegate.forecast.parts import Arrays, Floats, Part, state_of
from tidegate.forecast.prediction import Outcome, Prediction
from tidegate.forecast.timing.grid import Grid
from tidegate.forecast.timing.instants import Time, seconds_of, zone_of
from tidegate.forecast.timing.opening import Opening
from tidegate.forecast.timing.timeline import Timeline
from tidegate.learn import Learner
from tidegate.learn.checkpoint import Checkpoint, load, save, settings_in

__all__ = ["Forecaster"]

NO_INPUTS: Floats = np.zeros(0)


class Forecaster(Part):
    """Predicts a stream of numbers, one step or many ahead, and learns from every row.

    Give it values and, if there are, times; it finds the step, the periods of day and week, or
    without times those that the values show. A missing value is NaN: it is predicted through.
    Rows that are absent count as missing steps, except at times of day and week at which the
    stream never has any. Predictions never see the row they are for.

    Args:
        inputs: further numbers of every row.
        levels: coverages of the intervals.
        minimum: below which no value can be (0 for counts), or None.
        horizon: steps ahead that are learned and given intervals by :meth:`forecast`.
        zone: the IANA name of the zone whose wall clock the stream follows, or None.
        units: of every gated expert; 0 leaves out these and what else takes much memory, so that a
            twentieth of it is left.
        seed: of their start weights.

    Raises:
        UsageError: a level, size or zone cannot be.

    >>> forecaster = Forecaster(units=8)
    >>> for hour in range(24 * 21):
    ...     outcome = forecaster.learn(10.0 * (hour % 24 == 7), time=3600.0 * hour)
    >>> [round(p.value) for p in forecaster.forecast(8)]
    [0, 0, 0, 0, 0, 0, 0, 10]
    """

    learned = ("timeline", "opening", "follower")

    def __init__(
        self,
        *,
        inputs: int = 0,
        levels: Sequence[float] = (0.9,),
        horizon: int = 1,
        minimum: float | None = None,
        zone: str | None = None,
        units: int = 32,
        seed: int = 0,
    ) -> None:
        _require_sizes(inputs=inputs, units=units, horizon=horizon - 1)
        self.settings: dict[str, Any] = {
            "inputs": inputs, "levels": list(levels), "horizon": horizon, "minimum": minimum,
            "zone": zone, "units": units, "seed": seed,
        }  # fmt: skip
        self._zone, self._inputs = zone_of(zone), inputs
        least = -inf if minimum is None else minimum
        self._task = Task(inputs, tuple(levels), horizon, least, units, seed)
        self.timeline = Timeline(self._zone)
        self.opening = Opening(inputs)
        self.follower = Follower(self._task, self.timeline, None, ())

    @property
    def core(self) -> Core:
        """The model."""
        return self.follower.core

    @property
    def rows(self) -> int:
        """That came."""
        return self.timeline.rows

    @property
    def periods(self) -> tuple[int, ...]:
        """Slots of the periods in use, the shortest first."""
        return self.core.features.periods

    @property
    def step(self) -> float | None:
        """Seconds from row to row; None without times."""
        grid = self.timeline.grid
        return None if grid is None else grid.step

    def predict(self, time: Time | None = None) -> Prediction:
        """The coming value, or that of ``time``; changes nothing."""
        return self.follower.predict(self._coming(time))

    def learn(
        self, value: float, inputs: Sequence[float] = (), time: Time | None = None
    ) -> Outcome:
        """The row that has come.

        Args:
            value: of the target; NaN where it is missing.
            inputs: further numbers, as many as were announced.
            time: of the row; a step after the last one by default, where there are times.

        Raises:
            UsageError: there are more or fewer inputs.
            DataError: the time is none.
        """
        if len(inputs) != self._inputs:
            raise UsageError(
                "inputs", f"{self._inputs} numbers", str(len(inputs)), "Announce them at first."
            )
        value = float(value) if isfinite(value) else nan
        seconds = None if time is None else seconds_of(time, self._zone)
        if seconds is not None and seconds <= self.timeline.now:
            return Outcome(("late",))
        gap = seconds is not None and self._go_through(seconds)
        if seconds is None and self.timeline.grid is not None:
            seconds = self.timeline.grid.ahead(1)
        columns = np.asarray(inputs, np.float64) if self._inputs else NO_INPUTS
        outcome = self.follower.meet(value, columns, seconds)
        self._remember(value, inputs, seconds)
        return outcome._replace(flags=(*outcome.flags, "gap")) if gap else outcome

    def networks(self) -> dict[str, Learner]:
        """Those of the gated experts, by the experts' names."""
        core = self.core
        return dict(zip(core.names[-1 - len(core.gated) : -1], core.gated.learners, strict=True))

    def seen(self, time: Time | None = None) -> list[Floats]:
        """What each gated expert sees of the coming row, or that of ``time``; empty at first."""
        return self.follower.seen(self._coming(time))

    def reach(self, time: Time | None) -> bool:
        """Go through the steps that are missing before a row of ``time``; whether there are any.

        Steps at which the stream never has a row are none that are missing.
        """
        return time is not None and self._go_through(seconds_of(time, self._zone))

    def go_on_with(self, weights: Floats) -> None:
        """Take what linear experts and mixtures learned elsewhere (``core.weights``), copied."""
        self.core.weights[:] = weights
        self.follower.forget_asked()

    def go_on_at(self, time: Time | None) -> None:
        """Take a row of ``time`` for the one right after the last, as of another stream."""
        if time is not None:
            self.timeline.go_on_at(seconds_of(time, self._zone))
            self.follower.forget_asked()

    def forget_said(self) -> None:
        """Predict the coming row anew: its networks were changed from outside."""
        self.follower.forget_asked()

    def forecast(self, horizon: int) -> list[Prediction]:
        """The path of the coming ``horizon`` steps; changes nothing.

        With intervals as far as the horizon that was announced; further on without.
        """
        return self.follower.path(horizon)

    def run(self, frame: Any, target: str, time: str | None = None) -> Any:
        """Predict, then learn, every row of a data frame.

        Args:
            frame: pandas, polars, Arrow, or whatever narwhals knows; columns beside target and
                time are inputs, as many as were announced.
            target: the column to predict.
            time: the column that dates rows.

        Returns:
            a frame of the same kind: ``prediction``, ``low`` and ``high`` of the first level,
            ``score`` and ``alarm``, one row for each of ``frame``.

        Raises:
            MissingExtraError: narwhals is not installed.
        """
        from tidegate.forecast.frames import run

        return run(self, frame, target, time)

    def save(self, path: str | Path) -> None:
        """All it knows, in one file.

        Raises:
            CheckpointError: the file cannot be written.
        """
        save(Path(path), Checkpoint(self.state(), {"forecaster": self.settings}))

    @classmethod
    def load(cls, path: str | Path) -> Forecaster:
        """The forecaster of a file, as it was saved, to the bit.

        Raises:
            CheckpointError: there is no such file, it is damaged, or of something else.
        """
        found = load(Path(path))
        forecaster = cls(**settings_in(found, Path(path), "forecaster"))
        forecaster.restore(found.arrays)
        return forecaster

    def state(self) -> Arrays:
        return super().state() | {"periods": np.array(self.periods, np.int64)}

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        grid = self.timeline.grid_of(state_of(state, "timeline"))
        periods = [int(p) for p in state["periods"]]
        self.follower = Follower(self._task, self.timeline, grid, periods)
        super().restore(state)

    def _go_through(self, seconds: float) -> bool:
        gap = False
        for due in self.timeline.missing(seconds):
            self.follower.miss(due)
            gap = True
        return gap

    def _coming(self, time: Time | None) -> float | None:
        return self.timeline.coming() if time is None else seconds_of(time, self._zone)

    def _remember(self, value: float, inputs: Sequence[float], seconds: float | None) -> None:
        self.timeline.take(seconds)
        if self.opening.over:
            return
        self.opening.remember(seconds, value, inputs)
        if seconds is None:
            periods = self.opening.periods(self.rows)
            if periods and periods != self.periods:
                self._teach(None, periods)
            return
        step = self.opening.step(self.rows)
        if step is not None:
            grid = Grid(step, self._zone)
            self._teach(grid, grid.periods)
            self.opening.end()  # from here on times tell everything

    def _teach(self, grid: Grid | None, periods: Sequence[int]) -> None:
        """A new model, taught what is remembered of the rows so far."""
        rows = self.rows
        held = self.opening.rows(rows)
        self.timeline.rows = rows - len(held)
        self.follower = Follower(self._task, self.timeline, grid, periods)
        for seconds, value, *inputs in held.tolist():
            known = seconds if isfinite(seconds) else None
            self.reach(known)
            self.follower.meet(value, np.array(inputs), known)
        self.timeline.rows = rows


def _require_sizes(**sizes: int) -> None:
    for name, size in sizes.items():
        if size < 0:
            raise UsageError(f"Forecaster {name}", "a size", repr(size), "Leave it out.")
