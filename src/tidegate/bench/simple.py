"""The simple forecasts, and recursive least squares, as methods."""

from __future__ import annotations

from math import isfinite, nan

import numpy as np

from tidegate.bench.lagged import WEEK, Floats, Lagged
from tidegate.bench.method import Method

__all__ = ["LastValue", "RecursiveLeastSquares", "WeekAgo"]


class LastValue(Method):
    """The last value that was seen.

    >>> method = LastValue()
    >>> method.learn(0.0, 3.0)
    >>> method.predict(1.0)
    3.0
    """

    def __init__(self) -> None:
        self._last = nan

    def predict(self, time: float) -> float:
        return self._last

    def learn(self, time: float, value: float) -> None:
        if isfinite(value):
            self._last = value


class WeekAgo(Method):
    """The value at the same time of the last week (of the last year for steps of a week or more).

    Where there was none, the last value that was seen.
    """

    def __init__(self, step: float) -> None:
        self._back = WEEK if step < WEEK else 12 * step
        self._step = step
        self._seen: dict[int, float] = {}
        self._last = nan

    def predict(self, time: float) -> float:
        return self._seen.get(self._key(time - self._back), self._last)

    def learn(self, time: float, value: float) -> None:
        if isfinite(value):
            self._seen[self._key(time)] = self._last = value

    def _key(self, time: float) -> int:
        return round(time / self._step)


class RecursiveLeastSquares(Lagged):
    """Least squares on seasonal lags, updated row by row; missing lags are its own forecasts.

    Source: Haykin, "Adaptive Filter Theory", the exponentially weighted RLS algorithm.
    """

    KEEP, START = 0.9995, 1.0

    def __init__(self, lags: list[int]) -> None:
        super().__init__(lags)
        self._weights: Floats = np.zeros(len(lags) + 1)
        self._covariance: Floats = self.START * np.eye(len(lags) + 1)

    def said(self, x: Floats) -> float:
        return float(self._weights @ np.append(x, 1.0))

    def update(self, x: Floats, y: float) -> None:
        x = np.append(x, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):  # it may diverge, and is shown as it is
            seen = self._covariance @ x
            gain = seen / (self.KEEP + x @ seen)
            self._weights = self._weights + gain * (y - self._weights @ x)
            self._covariance = (self._covariance - np.outer(gain, seen)) / self.KEEP
