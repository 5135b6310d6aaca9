"""What methods for lagged values share: a ring of the past, and which lags a stream has."""

from __future__ import annotations

from abc import abstractmethod
from math import isfinite, nan

import numpy as np
from numpy.typing import NDArray

from tidegate.bench.method import Method

__all__ = ["Floats", "Lagged", "seasonal_lags"]

Floats = NDArray[np.float64]

DAY, WEEK = 86_400.0, 604_800.0
UNDATED = [1, 2, 3, 4, 5, 6, 7, 8]  #: lags of a stream without times


def seasonal_lags(step: float | None) -> list[int]:
    """1, 2, 3, a day, a day and a step, a week, a week and a step, as far as the step shows them.

    Args:
        step: seconds from row to row; None without times.

    >>> seasonal_lags(3600.0)
    [1, 2, 3, 24, 25, 168, 169]
    >>> seasonal_lags(None)
    [1, 2, 3, 4, 5, 6, 7, 8]
    """
    if step is None:
        return UNDATED
    periods = [DAY / step, WEEK / step] if step < WEEK else [12.0]
    whole = [round(p) for p in periods if p >= 2]
    return sorted({1, 2, 3, *whole, *(p + 1 for p in whole)})


class Lagged(Method):
    """Predicts from values at some lags; a missing one is the method's own forecast.

    Args:
        lags: in rows.
    """

    def __init__(self, lags: list[int]) -> None:
        self._lags = np.array(lags)
        self._past: Floats = np.full(max(lags) + 1, nan)
        self._rows = 0

    @abstractmethod
    def said(self, x: Floats) -> float:
        """The forecast for the values at the lags (lag)."""

    @abstractmethod
    def update(self, x: Floats, y: float) -> None:
        """The value y that came, and those at its lags (lag)."""

    def predict(self, time: float) -> float:
        return self.said(self._at_lags()) if self._full() else nan

    def learn(self, time: float, value: float) -> None:
        if self._full():
            if isfinite(value):
                self.update(self._at_lags(), value)
            else:
                value = self.predict(time)
        elif not isfinite(value):
            value = float(self._past[(self._rows - 1) % len(self._past)]) if self._rows else 0.0
        self._past[self._rows % len(self._past)] = value
        self._rows += 1

    def _full(self) -> bool:
        return self._rows >= len(self._past) - 1

    def _at_lags(self) -> Floats:
        found: Floats = self._past[(self._rows - self._lags) % len(self._past)]
        return found
