"""Methods by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidegate._core.errors import UsageError
from tidegate.bench.method import Method
from tidegate.bench.others import Boosting, RiverForecaster, RiverRegressor, imported
from tidegate.bench.ours import Ours
from tidegate.bench.simple import LastValue, RecursiveLeastSquares, WeekAgo, seasonal_lags

__all__ = ["METHODS", "QUICK", "made"]


def _river_linear(step: float, seed: int) -> Method:
    scaler = imported("river.preprocessing", "river").StandardScaler()
    optimiser = imported("river.optim", "river").SGD(0.01)
    model = scaler | imported("river.linear_model", "river").LinearRegression(optimizer=optimiser)
    return RiverRegressor("river-linear", model, seasonal_lags(step))


def _river_snarimax(step: float, seed: int) -> Method:
    season = [lag for lag in seasonal_lags(step) if lag > 3]
    made: Any = imported("river.time_series", "river").SNARIMAX
    model = made(p=3, d=0, q=0, m=season[0] if season else 1, sp=2)
    return RiverForecaster("river-snarimax", model)


def _river_arf(step: float, seed: int) -> Method:
    model = imported("river.forest", "river").ARFRegressor(n_models=10, seed=seed)
    return RiverRegressor("river-arf", model, seasonal_lags(step))


def _boosting(step: float, seed: int) -> Method:
    trees = imported("sklearn.ensemble", "scikit-learn").HistGradientBoostingRegressor
    return Boosting(seasonal_lags(step), trees(max_iter=200, random_state=seed))


METHODS: dict[str, Callable[[float, int], Method]] = {
    "tidegate": lambda step, seed: Ours(seed),
    "persistence": lambda step, seed: LastValue(),
    "week-ago": lambda step, seed: WeekAgo(step),
    "rls": lambda step, seed: RecursiveLeastSquares(seasonal_lags(step)),
    "river-linear": _river_linear,
    "river-snarimax": _river_snarimax,
    "river-arf": _river_arf,
    "boosting": _boosting,
}
QUICK = ("tidegate", "persistence", "week-ago", "rls")


def made(name: str, step: float, seed: int) -> Method:
    """The method called ``name``, for a stream whose rows are ``step`` seconds apart.

    Raises:
        UsageError: there is none.
        MissingExtraError: its package is not installed.

    >>> made("persistence", step=3600.0, seed=0).name
    'persistence'
    """
    if name not in METHODS:
        raise UsageError("--method", f"one of {', '.join(METHODS)}", repr(name), "Write one.")
    return METHODS[name](step, seed)
