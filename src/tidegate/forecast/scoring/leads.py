"""Paths scored at every step ahead, once the values come that they were for."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, nan

import numpy as np

from tidegate.forecast.parts import Floats, Part
from tidegate.forecast.prediction import Prediction

__all__ = ["LeadScores", "Paths"]

SAID, LAST, LOW, HIGH = range(4)  #: what is kept of each step of a path


class Paths(Part):
    """The last paths of one stream, waiting for their values.

    Args:
        horizon: steps of every path.

    >>> paths = Paths(horizon=2)
    >>> paths.say([Prediction(1.0), Prediction(2.0)], last=0.0)
    >>> paths.say([Prediction(1.5), Prediction(2.5)], last=1.0)
    >>> paths.waiting()[:, :2]  # of the coming value: said one step ahead, and two; and last values
    array([[1.5, 1. ],
           [2. , 0. ]])
    """

    learned = ("kept", "count")

    def __init__(self, horizon: int) -> None:
        self.horizon = horizon
        self.kept: Floats = np.full((horizon, horizon, 4), nan)  # row it was said at, step, what
        self.count = 0

    def waiting(self) -> Floats:
        """What was said of the coming value so many steps ahead, (step, what), as far as any was.

        The forecast, the last value at that time, low and high end of the interval.
        """
        leads = np.arange(min(self.count, self.horizon))
        return self.kept[(self.count - 1 - leads) % self.horizon, leads]

    def say(self, path: Sequence[Prediction], last: float) -> None:
        """The path said after the newest row, whose value was ``last``."""
        place = self.count % self.horizon
        for k, said in enumerate(path):
            low, high = next(iter(said.intervals.values()), (nan, nan))
            self.kept[place, k] = said.value, last, low, high
        self.count += 1

    def drop(self) -> None:
        """Forget what waits: rows are missing, so that steps ahead are no rows ahead any more."""
        self.count = 0


class LeadScores(Part):
    """Mean absolute errors and coverage for every number of steps ahead.

    Args:
        horizon: the furthest.

    >>> scores = LeadScores(horizon=2)
    >>> scores.add(3.0, np.array([[2.5, 1.0, 2.0, 4.0], [4.0, 0.0, nan, nan]]))
    >>> scores.summary()[1]
    {'ahead': 2, 'steps': 1, 'mae': 1.0, 'persistence': 3.0, 'held': None}
    """

    learned = ("steps", "errors", "naive", "within", "held")

    def __init__(self, horizon: int) -> None:
        self.steps: Floats = np.zeros(horizon)
        self.errors: Floats = np.zeros(horizon)
        self.naive: Floats = np.zeros(horizon)
        self.within: Floats = np.zeros(horizon)  # steps that had an interval
        self.held: Floats = np.zeros(horizon)

    def add(self, actual: float, waiting: Floats) -> None:
        """The value that came, and what :meth:`Paths.waiting` held for it."""
        if not isfinite(actual):
            return
        errors = np.abs(waiting[:, SAID] - actual)
        naive = np.abs(waiting[:, LAST] - actual)
        both = np.isfinite(errors) & np.isfinite(naive)
        said = both & np.isfinite(waiting[:, LOW])
        held = said & (waiting[:, LOW] <= actual) & (actual <= waiting[:, HIGH])
        reached = slice(len(waiting))
        self.steps[reached] += both
        self.errors[reached] += np.where(both, errors, 0.0)
        self.naive[reached] += np.where(both, naive, 0.0)
        self.within[reached] += said
        self.held[reached] += held

    def summary(self) -> list[dict[str, float | int | None]]:
        """One entry a step ahead: how many were scored, both errors, the share that held."""
        return [
            {
                "ahead": k + 1,
                "steps": int(steps),
                "mae": float(error / steps),
                "persistence": float(naive / steps),
                "held": float(held / within) if within else None,
            }
            for k, (steps, error, naive, within, held) in enumerate(
                zip(self.steps, self.errors, self.naive, self.within, self.held, strict=True)
            )
            if steps
        ]
