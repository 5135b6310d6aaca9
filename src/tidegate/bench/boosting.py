"""Boosted trees of scikit-learn, refitted on everything seen: on lags, and on our own features."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from tidegate.bench.lagged import Floats, Lagged
from tidegate.bench.method import Method
from tidegate.bench.optional import imported
from tidegate.forecast.model.features import Features, Place
from tidegate.forecast.timing.grid import Grid

__all__ = ["Boosting", "BoostingOurFeatures", "Refitted"]

LOSSES = ("squared_error", "absolute_error")
FIRST, GROWTH = 200, 1.25  #: rows of the first fit, and from fit to fit: 20 fits in 17,000 rows
TREES = 200
FORGET = 0.999  #: of the running errors by which the two losses are judged


class Refitted:
    """Trees fitted to a squared and to an absolute error; that one speaks which erred less of late.

    Before the first fit the forecast is 0.

    Args:
        seed: of both.

    Raises:
        MissingExtraError: scikit-learn is not installed.
    """

    def __init__(self, seed: int) -> None:
        trees = imported("sklearn.ensemble", "scikit-learn").HistGradientBoostingRegressor
        self._models: list[Any] = [
            trees(loss=loss, max_iter=TREES, random_state=seed) for loss in LOSSES
        ]
        self._errors = np.zeros(len(LOSSES))
        self._xs: list[Floats] = []
        self._ys: list[float] = []
        self._said: tuple[Floats, Floats] = np.empty(0), np.empty(0)  # features, forecasts
        self._due = FIRST
        self._fitted = False

    def predict(self, x: Floats) -> float:
        """The forecast for x (feature)."""
        self._said = x, self._each(x)
        return float(self._said[1][int(np.argmin(self._errors))])

    def learn(self, x: Floats, y: float) -> None:
        """One row; the trees grow anew when a quarter more is known than when they last did."""
        before, said = self._said
        said = said if np.array_equal(before, x) else self._each(x)  # a call costs a millisecond
        self._errors = FORGET * self._errors + np.abs(y - said)
        self._xs.append(x)
        self._ys.append(y)
        if len(self._ys) >= self._due:
            for model in self._models:
                model.fit(np.array(self._xs), np.array(self._ys))
            self._fitted, self._due = True, int(self._due * GROWTH)
            self._said = np.empty(0), np.empty(0)

    def _each(self, x: Floats) -> Floats:
        if not self._fitted:
            return np.zeros(len(LOSSES))
        return np.array([model.predict(x[None])[0] for model in self._models])


class Boosting(Lagged):
    """Boosted trees on values at seasonal lags, as differences from the last one.

    They predict the change: what they cut into steps is then small. On the values themselves they
    err more, on half-hourly taxi rides by a seventh.
    """

    def __init__(self, lags: list[int], seed: int) -> None:
        super().__init__(lags)
        self._trees = Refitted(seed)

    def said(self, x: Floats) -> float:
        return float(x[0]) + self._trees.predict(_apart(x))

    def update(self, x: Floats, y: float) -> None:
        self._trees.learn(_apart(x), y - float(x[0]))


def _apart(x: Floats) -> Floats:
    return np.append(x[0], x[1:] - x[0])


class BoostingOurFeatures(Method):
    """Boosted trees on the features of the forecaster: what the same inputs are worth to others.

    Args:
        step: seconds from row to row; None without times.
        seed: of the trees.
    """

    def __init__(self, step: float | None, seed: int) -> None:
        self._grid = None if step is None else Grid(step)
        self._features = Features(() if self._grid is None else self._grid.periods, 0)
        self._trees = Refitted(seed)
        self._asked: tuple[float, Floats, float] | None = None  # time, features, forecast

    def predict(self, time: float) -> float:
        if not self._features.ready:
            return self._features.last
        x = self._features.at(self._place(time)).copy()
        said = self._features.last + self._features.scale.value * self._trees.predict(x)
        self._asked = time, x, said
        return said

    def learn(self, time: float, value: float) -> None:
        features, place = self._features, self._place(time)
        asked = self._asked if self._asked and self._asked[0] == time else None
        if not isfinite(value):
            features.pass_over(place, features.last if asked is None else asked[2])
            return
        if features.ready:
            x = features.at(place).copy() if asked is None else asked[1]
            self._trees.learn(x, (value - features.last) / features.scale.value)
        features.observe(place, value)

    def _place(self, time: float) -> Place:
        return Place() if self._grid is None else self._grid.place(time)
