"""Weights that many streams learn together: each takes them, learns a row, and gives them back."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tidegate.forecast.forecaster import Forecaster
from tidegate.forecast.parts import Arrays, Floats

__all__ = ["CommonWeights", "Periods"]

Periods = tuple[int, ...]


class CommonWeights:
    """What the experts of forecasters and their mixtures have learned, by the periods in use.

    Forecasters with the same periods see the same features, and so may share.

    >>> common, teacher, other = CommonWeights(), Forecaster(units=0), Forecaster(units=0)
    >>> for step in range(20):
    ...     outcome = teacher.learn(float(step % 2))
    >>> common.take_back(teacher, before=teacher.periods)
    >>> common.lend(other)
    >>> bool((other.core.weights == teacher.core.weights).all())
    True
    """

    def __init__(self) -> None:
        self._by_periods: dict[Periods, Floats] = {}

    def lend(self, forecaster: Forecaster) -> None:
        """Let it go on with what all know, where anybody has its periods."""
        known = self._by_periods.get(forecaster.periods)
        if known is not None:
            forecaster.go_on_with(known)

    def take_back(self, forecaster: Forecaster, before: Periods) -> None:
        """What a row taught it; a model begun anew on other periods joins those who know them.

        Args:
            forecaster: that has learned.
            before: its periods before that row.
        """
        periods = forecaster.periods
        if periods == before or periods not in self._by_periods:
            self._by_periods[periods] = forecaster.core.weights.copy()

    def state(self) -> Arrays:
        return {_name_of(periods): weights.copy() for periods, weights in self._by_periods.items()}

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        self._by_periods = {
            _periods_of(name): np.array(weights, np.float64) for name, weights in state.items()
        }


def _name_of(periods: Periods) -> str:
    return "-".join(map(str, periods)) or "none"


def _periods_of(name: str) -> Periods:
    return tuple(int(period) for period in name.split("-") if period != "none")
