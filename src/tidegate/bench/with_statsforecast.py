"""statsforecast's automatic models as methods: refitted on a window now and then, run on always."""

from __future__ import annotations

from math import isfinite, nan
from typing import Any

import numpy as np

from tidegate.bench.lagged import DAY
from tidegate.bench.method import Method
from tidegate.bench.optional import imported

__all__ = ["Refit", "arima", "ets"]

WINDOW = 336  #: rows that are fitted; they, and those since, are run through for every forecast
REFIT = 336  #: rows from fit to fit
LONGEST_SEASON = 24  #: rows: what exponential smoothing takes, and the other fits in a second


class Refit(Method):
    """A model of statsforecast, fitted to 336 rows every 336 rows, and run on over those between.

    Its forecasts stand in for missing values.

    Args:
        model: to fit.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._past: list[float] = []
        self._fitted, self._said = False, nan

    def predict(self, time: float) -> float:
        return self._said

    def learn(self, time: float, value: float) -> None:
        if not isfinite(value):
            value = self._said
        if not isfinite(value):
            return
        self._past.append(value)
        # From fit to fit the beginning stays where it is: the first season of the model lies there.
        if len(self._past) == (WINDOW + REFIT if self._fitted else WINDOW):
            self._past = self._past[-WINDOW:]
            self._model.fit(np.array(self._past))
            self._fitted = True
        ahead = self._model.forward(np.array(self._past), h=1)["mean"] if self._fitted else [value]
        self._said = float(ahead[0])


def ets(step: float | None, seed: int) -> Method:
    """Exponential smoothing, its form chosen at every fit."""
    models = imported("statsforecast.models", "statsforecast")
    return Refit(models.AutoETS(season_length=_season(step)))


def arima(step: float | None, seed: int) -> Method:
    """ARIMA, its orders chosen at every fit."""
    models = imported("statsforecast.models", "statsforecast")
    orders = dict(max_p=2, max_q=2, max_P=1, max_Q=1, approximation=True)
    return Refit(models.AutoARIMA(season_length=_season(step), **orders))


def _season(step: float | None) -> int:
    """A day of rows, where the models take it; else 1, which is none."""
    if step is None:
        return 1
    rows = round(DAY / step) if step < DAY else 7 if step == DAY else 12
    return rows if rows <= LONGEST_SEASON else 1
