"""The bare network as a forecaster: one recurrent learner on scaled changes, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, nan

import numpy as np
from numpy.typing import NDArray

from tidegate.cells import Cell
from tidegate.learn import Adam, Harmonic, Huber, Learner, Network
from tidegate.streams import Lags, Standardiser

__all__ = ["BareNetwork", "Season"]

Floats = NDArray[np.float64]

WINDOW = 5_000  #: steps over which means and scales are learned, and may drift
CAP = 5.0  #: scales from the middle at which inputs are cut
SEASONS = 2  #: periods that have inputs of their own
LEVEL_INPUTS, SEASON_INPUTS = 3, 3


class Season:
    """What the values one period ago say about the coming step, as changes from now.

    >>> season = Season(period=4)
    >>> for value in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0):
    ...     season.observe(value)
    >>> season.changes(now=6.0)
    array([-3.,  1.,  2.])
    """

    def __init__(self, period: int) -> None:
        lags = [period, period + 1] if period < 2 else [period, period + 1, period - 1]
        self._past = Lags(columns=1, lags=lags)

    def observe(self, value: float) -> None:
        self._past.push(np.array([value]))

    def changes(self, now: float) -> Floats:
        """Coming step a period ago less now; its change then; the change of two steps then."""
        due, before, *after = self._past.values()[:, 0]
        then = after[0] if after else due
        changes: Floats = np.array([due - now, due - before, then - before])
        return np.nan_to_num(changes, copy=False)


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
        self._level = Standardiser(columns, WINDOW, CAP)
        self._changes = Standardiser(1, WINDOW, CAP)
        self._recent = Lags(columns=1, lags=[1, 2, 3])
        self._seasons: list[Season] = []
        self._asked: _Asked | None = None
        self._forecast = nan
        inputs = columns - 1 + LEVEL_INPUTS + SEASONS * SEASON_INPUTS
        self.learner = Learner(
            Network(inputs, 1, cell=cell, units=units),
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
        flags = self._learn(values[0])
        value = float(values[0]) if isfinite(values[0]) else self._forecast
        if isfinite(value):
            self._take(value, values)
            self._ask()
        return flags

    def _learn(self, target: float) -> tuple[str, ...]:
        flags = () if isfinite(target) else ("missing",)
        if self._asked is None:
            return flags
        asked = self._asked
        before = self.learner.clipped
        self.learner.learn(asked.inputs, (target - asked.level) / asked.scale)
        return flags if self.learner.clipped == before else (*flags, "clipped")

    def _take(self, value: float, values: Floats) -> None:
        before = float(self._recent.values()[0, 0])
        if isfinite(values[0]):
            self._changes.update(np.array([value - before]))
        self._recent.push(np.array([value]))
        for season in self._seasons:
            season.observe(value)
        self._inputs = np.concatenate([[value], values[1:]])
        self._standard = self._level.transform(self._inputs).values
        self._level.update(values)

    def _ask(self) -> None:
        now, last, one_before = self._recent.values()[:, 0]
        scale = float(self._changes.deviation[0])
        if not scale > 0:
            self._asked, self._forecast = None, float(now)
            return
        changes = [np.array([now - last, last - one_before])]
        changes += [season.changes(now) for season in self._seasons]
        changes += [np.zeros(SEASON_INPUTS)] * (SEASONS - len(self._seasons))
        scaled = np.clip(np.nan_to_num(np.concatenate(changes)) / scale, -CAP, CAP)
        inputs = np.concatenate([self._standard, scaled])
        self._asked = _Asked(inputs, float(now), scale)
        self._forecast = float(now) + scale * float(self.learner.predict(inputs)[0])
