"""Methods by name: who makes them, and which package they need."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass

from tidegate._core.errors import UsageError
from tidegate.bench import with_river, with_statsforecast
from tidegate.bench.boosting import Boosting, BoostingOurFeatures
from tidegate.bench.lagged import seasonal_lags
from tidegate.bench.method import Method
from tidegate.bench.optional import installed
from tidegate.bench.ours import Ours, OursUndated
from tidegate.bench.simple import LastValue, RecursiveLeastSquares, WeekAgo
from tidegate.bench.with_deep_river import DeepRiver

__all__ = ["METHODS", "QUICK", "Entry", "made"]


@dataclass(frozen=True)
class Entry:
    """A method that can be had.

    Attributes:
        make: for seconds from row to row (None without times), and a seed.
        package: that it needs, as pip knows it; None for what is always there.
        module: of that package.
        seeded: whether its seed makes a difference.
        dated: whether it needs times.
        slow: whether it takes part only where it is asked for.

    >>> METHODS["boosting"].package
    'scikit-learn'
    """

    make: Callable[[float | None, int], Method]
    package: str | None = None
    module: str = ""
    seeded: bool = False
    dated: bool = False
    slow: bool = False

    @property
    def here(self) -> bool:
        """Whether its package is installed."""
        return self.package is None or installed(self.module)


def _ours(step: float | None, seed: int) -> Method:
    return OursUndated(seed) if step is None else Ours(seed)


def _week_ago(step: float | None, seed: int) -> Method:
    if step is None:
        hint = "Name the column that dates a row, or leave the method out."
        raise UsageError("week-ago", "a stream with times", "one without", hint)
    return WeekAgo(step)


RIVER = ("river", "river")
TREES = ("scikit-learn", "sklearn")
STATS = ("statsforecast", "statsforecast")
METHODS: dict[str, Entry] = {
    "tidegate": Entry(_ours, seeded=True),
    "persistence": Entry(lambda step, seed: LastValue()),
    "week-ago": Entry(_week_ago, dated=True),
    "rls": Entry(lambda step, seed: RecursiveLeastSquares(seasonal_lags(step))),
    "river-linear": Entry(with_river.linear, *RIVER),
    "river-snarimax": Entry(with_river.snarimax, *RIVER),
    "river-arf": Entry(with_river.forest, *RIVER, seeded=True, slow=True),
    "deep-river-lstm": Entry(
        lambda step, seed: DeepRiver(seed), "deep-river", "deep_river", seeded=True, slow=True
    ),
    "statsforecast-ets": Entry(with_statsforecast.ets, *STATS),
    "statsforecast-arima": Entry(with_statsforecast.arima, *STATS, slow=True),
    "boosting": Entry(lambda step, seed: Boosting(seasonal_lags(step), seed), *TREES),
    "boosting-our-features": Entry(BoostingOurFeatures, *TREES, slow=True),
}
QUICK = ("tidegate", "persistence", "week-ago", "rls")


def made(name: str, step: float | None, seed: int) -> Method:
    """The method called ``name``, for a stream whose rows are ``step`` seconds apart.

    Args:
        name: one of ``METHODS``.
        step: in seconds; None without times.
        seed: of what draws.

    Raises:
        UsageError: there is none, or it needs times.
        MissingExtraError: its package is not installed.

    >>> made("persistence", step=3600.0, seed=0).predict(0.0)
    nan
    """
    return entry(name).make(step, seed)


def entry(name: str) -> Entry:
    """What is known of the method called ``name``.

    Raises:
        UsageError: there is none.

    >>> entry("rls").slow
    False
    """
    if name not in METHODS:
        near = difflib.get_close_matches(name, METHODS, 1)
        hint = f"Did you mean {near[0]}?" if near else "Write one."
        raise UsageError("--method", f"one of {', '.join(METHODS)}", repr(name), hint)
    return METHODS[name]
