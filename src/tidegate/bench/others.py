"""What else is installed, as methods: river and scikit-learn, each as its users would set it up."""

from __future__ import annotations

import importlib
from math import isfinite, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate._core.errors import MissingExtraError
from tidegate.bench.method import Method
from tidegate.bench.simple import RecursiveLeastSquares

__all__ = ["Boosting", "RiverForecaster", "RiverRegressor"]


def imported(module: str, package: str) -> Any:
    """A module of an optional package.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            module, f"the package {package}", "none installed", f"Install it: pip install {package}"
        ) from error


class _Lagged(RecursiveLeastSquares):
    """The last values at lags, missing ones filled by the method's own forecasts."""

    def _known(self) -> dict[int, float]:
        return dict(enumerate(self._features()[:-1].tolist()))


class RiverRegressor(_Lagged):
    """A river regressor on seasonal lags."""

    def __init__(self, name: str, model: Any, lags: list[int]) -> None:
        super().__init__(lags)
        self.name = name  # type: ignore[misc]
        self._model = model

    def predict(self, time: float) -> float:
        return float(self._model.predict_one(self._known())) if self._full() else nan

    def _update(self, x: NDArray[np.float64], y: float) -> None:
        self._model.learn_one(self._known(), y)


class RiverForecaster(Method):
    """A river forecaster; it takes no missing values, so its own forecast stands in for them."""

    def __init__(self, name: str, model: Any) -> None:
        self.name = name  # type: ignore[misc]
        self._model, self._rows = model, 0

    def predict(self, time: float) -> float:
        return float(self._model.forecast(horizon=1)[0]) if self._rows else nan

    def learn(self, time: float, value: float) -> None:
        if not isfinite(value):
            value = self.predict(time)
        if isfinite(value):
            self._model.learn_one(value)
            self._rows += 1


class Boosting(_Lagged):
    """Boosted trees on seasonal lags, refitted on everything seen at growing intervals."""

    name = "boosting"
    GROWTH = 1.15

    def __init__(self, lags: list[int], model: Any) -> None:
        super().__init__(lags)
        self._model, self._xs, self._ys, self._next = model, [], [], 200  # type: ignore[var-annotated]
        self._fitted = False

    def predict(self, time: float) -> float:
        if not self._full():
            return nan
        x = self._features()[:-1]
        return float(self._model.predict(x[None])[0]) if self._fitted else float(x[0])

    def _update(self, x: NDArray[np.float64], y: float) -> None:
        self._xs.append(x[:-1])
        self._ys.append(y)
        if len(self._ys) >= self._next:
            self._model.fit(np.array(self._xs), np.array(self._ys))
            self._fitted, self._next = True, int(self._next * self.GROWTH)
