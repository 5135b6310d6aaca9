"""The forecaster of this library as a method."""

from __future__ import annotations

from tidegate.bench.method import Method
from tidegate.forecast.forecaster import Forecaster

__all__ = ["Ours", "OursUndated"]

LEVEL = 0.9


class Ours(Method):
    """:class:`tidegate.Forecaster` as it comes.

    >>> method = Ours(seed=0)
    >>> method.learn(0.0, 3.0)
    >>> method.predict(1.0)
    3.0
    """

    def __init__(self, seed: int) -> None:
        self.forecaster = Forecaster(levels=(LEVEL,), seed=seed)
        self._interval: tuple[float, float] | None = None

    def predict(self, time: float) -> float:
        self.forecaster.reach(time)
        said = self.forecaster.predict(time)
        self._interval = said.intervals.get(LEVEL)
        return said.value

    def learn(self, time: float, value: float) -> None:
        self.forecaster.learn(value, time=time)

    def interval(self) -> tuple[float, float] | None:
        return self._interval


class OursUndated(Ours):
    """The same on a stream without times.

    >>> method = OursUndated(seed=0)
    >>> method.learn(0.0, 3.0)
    >>> method.predict(1.0)
    3.0
    """

    def predict(self, time: float) -> float:
        said = self.forecaster.predict()
        self._interval = said.intervals.get(LEVEL)
        return said.value

    def learn(self, time: float, value: float) -> None:
        self.forecaster.learn(value)
