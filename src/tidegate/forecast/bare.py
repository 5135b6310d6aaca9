"""The bare network as a forecaster: one recurrent learner on scaled changes, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from math import copysign, isfinite, nan

import numpy as np
from numpy.typing import NDArray

from tidegate._core.errors import DivergedError
from tidegate.cells import Cell
from tidegate.forecast.parts import Arrays, Floats, Part
from tidegate.forecast.past import Past
from tidegate.forecast.prediction import Outcome, Prediction
from tidegate.forecast.spread import Level, Spread
from tidegate.forecast.watch import MemoryWatch
from tidegate.learn import Adam, Harmonic, Huber, Learner, Network
from tidegate.streams import Standardiser

__all__ = ["BareNetwork", "Season"]

WINDOW = 5_000  #: steps over which means and scales are learned, and may drift
CAP = 5.0  #: scales from the middle at which inputs are cut
REACH = 6.0  #: scales that a change counts for at most
FAR = 30.0  #: scales of a change from which the step is cut, and flagged
LEVEL_REACH = 8.0  #: deviations at which a level enters the statistics of levels
SEASONS = 2  #: periods that have inputs of their own
LEVEL_INPUTS, SEASON_INPUTS = 3, 3


class Season(Part):
    """What the values one period ago say about the coming step, as changes from now.

    >>> season = Season(period=4)
    >>> for value in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0):
    ...     season.observe(value)
    >>> season.changes(now=6.0)
    (-3.0, 1.0, 2.0)
    """

    learned = ("past",)

    def __init__(self, period: int) -> None:
        self._period = period
        self.past = Past(period + 1)

    def observe(self, value: float) -> None:
        """The value that has come."""
        self.past.push(value)

    def changes(self, now: float) -> tuple[float, float, float]:
        """Coming step a period ago less now; its change then; the change of two steps then."""
        due, before = self.past[self._period], self.past[self._period + 1]
        then = self.past[self._period - 1] if self._period > 1 else due
        return due - now, due - before, then - before


class BareNetwork(Part):
    """One network that predicts the change of the target, learning as it goes.

    Its inputs are the level, the last two changes, what the same time a day and a week ago
    suggests (where a clock makes these periods known), and further columns; all scaled online by
    what was seen before. A missing target is replaced by the network's own forecast.

    Args:
        columns: columns of the stream, the target first.
        cell: the cell of the layer.
        units: how many.
        seed: of the start weights.

    Attributes:
        learner: the network that learns.
        watch: of its memory.

    >>> network = BareNetwork(columns=1, cell="lstm", units=8, seed=0)
    >>> for value in (1.0, 2.0, 3.0):
    ...     flags = network.observe(np.array([value]))
    >>> bool(np.isfinite(network.forecast()))
    True
    """

    learned = ("recent", "seasons", "level", "spread", "asked", "now", "scale", "said", "watch")
    levels: tuple[float, ...] = ()
    experts: tuple[str, ...] = ()
    half_lives = None

    def __init__(self, columns: int, cell: Cell | str, units: int, seed: int) -> None:
        self.recent = Past(longest=3)
        self.seasons: list[Season] = []
        self.level = Level(WINDOW, LEVEL_REACH)
        self.spread = Spread(WINDOW, REACH)
        self.others = Standardiser(columns - 1, WINDOW, LEVEL_REACH) if columns > 1 else None
        inputs = self.inputs(columns)
        self.asked: Floats = np.zeros(inputs)
        self.now = self.said = nan
        self.scale = 0.0  # of what was asked; 0 before there is one
        self.learner = Learner(
            Network(inputs, 1, cell=cell, units=units),
            loss=Huber(0.5),
            optimiser=Adam(Harmonic(0.005, tau=1e4), eps=1e-3),
            seed=seed,
        )
        self.watch = MemoryWatch(self.learner)

    @staticmethod
    def inputs(columns: int) -> int:
        """Inputs of the network for a stream of so many columns."""
        return columns - 1 + LEVEL_INPUTS + SEASONS * SEASON_INPUTS

    def know(self, periods: Mapping[str, int]) -> None:
        """Give the periods, in steps, an input each; values seen before are not looked at again."""
        self.seasons = [Season(period) for period in list(periods.values())[:SEASONS]]

    def forecast(self) -> float:
        """The coming value of the target, in its units; NaN before any value was seen."""
        return self.said

    def predict(self, time: float | None = None) -> Prediction:
        """The coming value, whenever it comes."""
        return Prediction(self.said)

    def learn(self, values: Floats, time: float | None = None) -> Outcome:
        """The row that has come, as :meth:`observe` takes it."""
        return Outcome(self.observe(values))

    def path(self) -> list[Prediction]:
        """The coming value alone."""
        return [Prediction(self.said)]

    def observe(self, values: Floats) -> tuple[str, ...]:
        """The row that has come: learn from it, and forecast the next.

        Returns:
            flags of the record: ``missing``, ``clipped``, ``alarm``.

        Raises:
            DivergedError: the network's numbers are no longer finite.
        """
        row: list[float] = values.tolist()
        target = row[0]
        clipped = self._learn(target)
        value = target if isfinite(target) else self.said
        if isfinite(value):
            standard = self._take(value, target, values)
            self._ask(value, standard)
        missing = () if all(map(isfinite, row)) else ("missing",)
        return missing + clipped + (("alarm",) if self.watch.alarming else ())

    def state(self) -> Arrays:
        learner, others = self.learner, self.others
        counted = [learner.flags, learner.clipped, learner.missing, learner.capped]
        found = super().state() | {"learner.counted": np.array(counted)}
        found |= {f"learner.{name}": array for name, array in vars(learner.state).items()}
        if others is not None:
            found |= {f"others.{name}": array for name, array in others.state().items()}
        return found

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        super().restore(state)
        learner, others = self.learner, self.others
        mine = learner.state
        for name, array in vars(mine).items():
            array[...] = state[f"learner.{name}"]
        learner.state = mine
        counted = state["learner.counted"].tolist()
        learner.flags, learner.clipped, learner.missing, learner.capped = counted
        if others is not None:
            others.restore({name: state[f"others.{name}"] for name in others.state()})  # type: ignore[misc]

    def _learn(self, target: float) -> tuple[str, ...]:
        if not self.scale:
            return ()
        change = (target - self.now) / self.scale
        far = abs(change) > FAR
        self.learner.learn(self.asked, copysign(FAR, change) if far else change)
        self.watch.look(self.learner)
        return ("clipped",) if far else ()

    def _take(self, value: float, target: float, values: Floats) -> list[float]:
        """The columns by the scales before this row, which then learn from it."""
        standard = [self.level.standard(value)]
        if isfinite(target):
            self.level.update(target)
            change = target - self.recent[1]
            if change == change:
                self.spread.update(change)
        if self.others is not None:
            standard += self._take_others(self.others, values[1:])
        self.recent.push(value)
        for season in self.seasons:
            season.observe(value)
        return standard

    def _take_others(self, others: Standardiser, values: Floats) -> list[float]:
        standard, far = others.transform(values)
        if far.any():
            # One spike may not hide all that comes after it.
            reach = others.cap * np.minimum(others.deviation, 1e306)
            near = np.clip(values, others.mean - reach, others.mean + reach)
            values = np.where(far & (reach > 0), near, values)
        others.update(values)
        return standard.tolist()  # type: ignore[no-any-return]

    def _ask(self, now: float, standard: list[float]) -> None:
        self.now, self.scale = now, self.spread.scale
        if not self.scale:
            self.said = now
            return
        last, one_before = self.recent[2], self.recent[3]
        changes = [now - last, last - one_before]
        for season in self.seasons:
            changes += season.changes(now)
        inputs = [*standard, *[change / self.scale for change in changes]]
        # What is unknown stays NaN, which counts as 0.
        asked = [min(max(x, -CAP), CAP) for x in inputs]
        self.asked = np.array(asked + [0.0] * (len(self.asked) - len(asked)))
        change = float(self.learner.predict(self.asked)[0])
        if not isfinite(change):
            raise _diverged()
        self.said = now + self.scale * change


def _diverged() -> DivergedError:
    return DivergedError(
        "network", "predictions that are finite", "one that is not",
        "Take another cell: one without a bound on its memory, as relu_rnn, may grow for ever.",
    )  # fmt: skip
