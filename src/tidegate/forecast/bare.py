"""The bare network as a forecaster: one recurrent learner on scaled changes, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, nan

import numpy as np
from numpy.typing import NDArray

from tidegate.cells import Cell
from tidegate.forecast.past import Past
from tidegate.learn import Adam, Harmonic, Huber, Learner, Network
from tidegate.streams import Standardiser

__all__ = ["BareNetwork", "Season"]

Floats = NDArray[np.float64]

WINDOW = 5_000  #: steps over which means and scales are learned, and may drift
CAP = 5.0  #: scales from the middle at which inputs are cut
LARGEST = 1e306  #: deviation that FAR can multiply
FAR = 30.0  #: at which a value is cut before scales learn from it
SEASONS = 2  #: periods that have inputs of their own
LEVEL_INPUTS, SEASON_INPUTS = 3, 3


class Season:
    """What the values one period ago say about the coming step, as changes from now.

    >>> season = Season(period=4)
    >>> for value in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0):
    ...     season.observe(value)
    >>> season.changes(now=6.0)
    (-3.0, 1.0, 2.0)
    """

    def __init__(self, period: int) -> None:
        self._period = period
        self._past = Past(period + 1)

    def observe(self, value: float) -> None:
        self._past.push(value)

    def changes(self, now: float) -> tuple[float, float, float]:
        """Coming step a period ago less now; its change then; the change of two steps then."""
        due, before = self._past[self._period], self._past[self._period + 1]
        then = self._past[self._period - 1] if self._period > 1 else due
        return due - now, due - before, then - before


@dataclass(frozen=True)
class _Asked:
    """What the network was asked, and in which units its answer is."""

    inputs: Floats
    level: float
    scale: float


class BareNetwork:
    """One network that predicts the change of the target, learning as it goes.

    Its inputs are the level, the last two changes, what the same time a day and a week ago
    suggests (where a clock makes these periods known), and further columns; all scaled online by
    what was seen before. A missing target is replaced by the network's own forecast.

    Args:
        columns: columns of the stream, the target first.
        cell: the cell of the layer.
        units: how many.
        seed: of the start weights.

    >>> network = BareNetwork(columns=1, cell="lstm", units=8, seed=0)
    >>> for value in (1.0, 2.0, 3.0):
    ...     flags = network.observe(np.array([value]))
    >>> bool(np.isfinite(network.forecast()))
    True
    """

    def __init__(self, columns: int, cell: Cell | str, units: int, seed: int) -> None:
        # The columns and, last, the change of the target: one object, as NumPy's calls cost most.
        self._scales = Standardiser(columns + 1, WINDOW, FAR)
        self._recent = Past(longest=3)
        self._seasons: list[Season] = []
        self._asked: _Asked | None = None
        self._forecast = nan
        self._inputs = columns - 1 + LEVEL_INPUTS + SEASONS * SEASON_INPUTS
        self.learner = Learner(
            Network(self._inputs, 1, cell=cell, units=units),
            loss=Huber(0.5),
            optimiser=Adam(Harmonic(0.005, tau=1e4), eps=1e-3),
            seed=seed,
        )

    def know(self, periods: Mapping[str, int]) -> None:
        """Give the periods, in steps, an input each; values seen before are not looked at again."""
        self._seasons = [Season(period) for period in list(periods.values())[:SEASONS]]

    def forecast(self) -> float:
        """The coming value of the target, in its units; NaN before any value was seen."""
        return self._forecast

    def observe(self, values: Floats) -> tuple[str, ...]:
        """The row that has come: learn from it, and forecast the next.

        Returns:
            flags of the record: ``missing``, ``clipped``.
        """
        target = float(values[0])
        clipped = self._learn(target)
        value = target if isfinite(target) else self._forecast
        if isfinite(value):
            self._ask(value, self._take(value, values))
        missing = () if all(map(isfinite, values.tolist())) else ("missing",)
        return missing + clipped

    def _learn(self, target: float) -> tuple[str, ...]:
        if self._asked is None:
            return ()
        asked, before = self._asked, self.learner.clipped
        self.learner.learn(asked.inputs, (target - asked.level) / asked.scale)
        return () if self.learner.clipped == before else ("clipped",)

    def _take(self, value: float, values: Floats) -> Floats:
        """The columns (column) by the scales before this row, which then learn from it."""
        row = np.empty(len(values) + 1)
        row[:-1], row[-1] = values, float(values[0]) - self._recent[1]
        self._recent.push(value)
        for season in self._seasons:
            season.observe(value)
        row[0] = value
        standard, far = self._scales.transform(row)
        row[0] = values[0]
        if far.any():
            self._bring_near(row, far)
        self._scales.update(row)
        return standard[:-1]

    def _bring_near(self, row: Floats, far: NDArray[np.bool_]) -> None:
        """One spike may not hide all that comes after it; a lasting jump is caught up with soon."""
        middle = self._scales.mean
        reach = FAR * np.minimum(self._scales.deviation, LARGEST)
        far = far & (reach > 0)
        row[far] = np.clip(row, middle - reach, middle + reach)[far]

    def _ask(self, now: float, standard: Floats) -> None:
        scale = float(self._scales.deviation[-1])
        if not scale > 0:
            self._asked, self._forecast = None, now
            return
        last, one_before = self._recent[2], self._recent[3]
        changes = [now - last, last - one_before]
        for season in self._seasons:
            changes += season.changes(now)
        inputs = np.zeros(self._inputs)
        inputs[: len(standard)] = standard
        inputs[len(standard) :][: len(changes)] = [change / scale for change in changes]
        np.clip(inputs, -CAP, CAP, out=inputs)  # what is unknown stays NaN, which counts as 0
        self._asked = _Asked(inputs, now, scale)
        self._forecast = now + scale * float(self.learner.predict(inputs)[0])
