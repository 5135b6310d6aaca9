"""deep-river's LSTM as a method."""

from __future__ import annotations

from math import isfinite, nan
from typing import Any

import numpy as np

from tidegate.bench.method import Method
from tidegate.bench.optional import imported
from tidegate.streams import Standardiser

__all__ = ["DeepRiver"]

WINDOW, UNITS = 10, 16  #: values it is fed again at every step, and its size: its own defaults
MEMORY = 5_000  #: steps over which it is given mean and deviation


class DeepRiver(Method):
    """deep-river's LSTM forecaster on values standardised online, which it does not do itself.

    Args:
        seed: of the start weights.

    Raises:
        MissingExtraError: deep-river is not installed.
    """

    def __init__(self, seed: int) -> None:
        forecaster: Any = imported("deep_river.forecasting", "deep-river").LSTMForecaster
        imported("torch", "torch").manual_seed(seed)  # weights are drawn before it reads its seed
        self._model = forecaster(window_size=WINDOW, hidden_size=UNITS, seed=seed)
        self._scale, self._rows = Standardiser(1, MEMORY), 0

    def predict(self, time: float) -> float:
        if not self._rows:
            return nan
        return float(self._scale.inverse(np.array(self._model.forecast(1)))[0])

    def learn(self, time: float, value: float) -> None:
        if not isfinite(value):
            value = self.predict(time)
        if isfinite(value):
            row = np.array([value])
            self._scale.update(row)
            self._model.learn_one(float(self._scale.transform(row).values[0]))
            self._rows += 1
