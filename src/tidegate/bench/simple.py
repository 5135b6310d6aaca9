"""The simple forecasts, and recursive least squares, as methods."""

from __future__ import annotations

from math import isfinite, nan

import numpy as np
from numpy.typing import NDArray

from tidegate.bench.method import Method

__all__ = ["LastValue", "RecursiveLeastSquares", "WeekAgo", "seasonal_lags"]

Floats = NDArray[np.float64]

DAY, WEEK = 86_400.0, 604_800.0


def seasonal_lags(step: float) -> list[int]:
    """1, 2, 3, a day, a day and a step, a week, a week and a step, as far as the step shows them.

    >>> seasonal_lags(3600.0)
    [1, 2, 3, 24, 25, 168, 169]
    """
    periods = [DAY / step, WEEK / step] if step < WEEK else [12.0]
    whole = [round(p) for p in periods if p >= 2]
    return sorted({1, 2, 3, *whole, *(p + 1 for p in whole)})


class LastValue(Method):
    """The last value that was seen.

    >>> method = LastValue()
    >>> method.learn(0.0, 3.0)
    >>> method.predict(1.0)
    3.0
    """

    name = "persistence"

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

    name = "week-ago"

    def __init__(self, step: float) -> None:
        self._back = WEEK if step < WEEK else 12 * step
        self._slot = step / 2
        self._seen: dict[int, float] = {}
        self._last = nan

    def predict(self, time: float) -> float:
        return self._seen.get(self._key(time - self._back), self._last)

    def learn(self, time: float, value: float) -> None:
        if isfinite(value):
            self._seen[self._key(time)] = self._last = value

    def _key(self, time: float) -> int:
        return round(time / (2 * self._slot))


class RecursiveLeastSquares(Method):
    """Least squares on seasonal lags, updated row by row; missing lags are its own forecasts.

    Source: Haykin, "Adaptive Filter Theory", the exponentially weighted RLS algorithm.
    """

    name = "rls"
    KEEP, START = 0.9995, 1.0

    def __init__(self, lags: list[int]) -> None:
        self._lags = np.array(lags)
        self._past: Floats = np.full(max(lags) + 1, nan)
        self._rows = 0
        self._weights: Floats = np.zeros(len(lags) + 1)
        self._covariance: Floats = self.START * np.eye(len(lags) + 1)

    def predict(self, time: float) -> float:
        return float(self._weights @ self._features()) if self._full() else nan

    def learn(self, time: float, value: float) -> None:
        if self._full():
            if isfinite(value):
                self._update(self._features(), value)
            else:
                value = self.predict(time)
        elif not isfinite(value):
            value = float(self._past[(self._rows - 1) % len(self._past)]) if self._rows else 0.0
        self._past[self._rows % len(self._past)] = value
        self._rows += 1

    def _full(self) -> bool:
        return self._rows >= len(self._past) - 1

    def _features(self) -> Floats:
        return np.append(self._past[(self._rows - self._lags) % len(self._past)], 1.0)

    def _update(self, x: Floats, y: float) -> None:
        with np.errstate(over="ignore", invalid="ignore"):  # it may diverge, and is shown as it is
            seen = self._covariance @ x
            gain = seen / (self.KEEP + x @ seen)
            self._weights = self._weights + gain * (y - self._weights @ x)
            self._covariance = (self._covariance - np.outer(gain, seen)) / self.KEEP
