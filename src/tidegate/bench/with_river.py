"""river's learners as methods, each as its users would set it up."""

from __future__ import annotations

from math import isfinite, nan
from typing import Any

from tidegate.bench.lagged import Floats, Lagged, seasonal_lags
from tidegate.bench.method import Method
from tidegate.bench.optional import imported

__all__ = ["RiverForecaster", "RiverRegressor", "forest", "linear", "snarimax"]

LONGEST_SEASON = 1_000  #: rows; SNARIMAX keeps two seasons of them as regressors


class RiverRegressor(Lagged):
    """A river regressor on seasonal lags."""

    def __init__(self, model: Any, lags: list[int]) -> None:
        super().__init__(lags)
        self._model = model

    def said(self, x: Floats) -> float:
        return float(self._model.predict_one(_named(x)))

    def update(self, x: Floats, y: float) -> None:
        self._model.learn_one(_named(x), y)


class RiverForecaster(Method):
    """A river forecaster; it takes no missing values, so its own forecast stands in for them."""

    def __init__(self, model: Any) -> None:
        self._model, self._rows = model, 0

    def predict(self, time: float) -> float:
        return float(self._model.forecast(horizon=1)[0]) if self._rows else nan

    def learn(self, time: float, value: float) -> None:
        if not isfinite(value):
            value = self.predict(time)
        if isfinite(value):
            self._model.learn_one(value)
            self._rows += 1


def linear(step: float | None, seed: int) -> Method:
    """Linear regression by stochastic gradient descent, on standardised lags."""
    scaler = imported("river.preprocessing", "river").StandardScaler()
    optimiser = imported("river.optim", "river").SGD(0.01)
    regression = imported("river.linear_model", "river").LinearRegression(optimizer=optimiser)
    return RiverRegressor(scaler | regression, seasonal_lags(step))


def snarimax(step: float | None, seed: int) -> Method:
    """Three lags, and two of a season of a day."""
    season = [lag for lag in seasonal_lags(step) if 3 < lag <= LONGEST_SEASON] if step else []
    made: Any = imported("river.time_series", "river").SNARIMAX
    if not season:
        return RiverForecaster(made(p=8, d=0, q=0))
    return RiverForecaster(made(p=3, d=0, q=0, m=season[0], sp=2))


def forest(step: float | None, seed: int) -> Method:
    """An adaptive random forest of ten trees."""
    model = imported("river.forest", "river").ARFRegressor(n_models=10, seed=seed)
    return RiverRegressor(model, seasonal_lags(step))


def _named(x: Floats) -> dict[int, float]:
    return dict(enumerate(x.tolist()))
