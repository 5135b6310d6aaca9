"""Many streams in one process that learn one set of weights together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tidegate._core.errors import UsageError
from tidegate.forecast.common import CommonWeights
from tidegate.forecast.forecaster import Forecaster
from tidegate.forecast.keyed import KeyedForecasters
from tidegate.forecast.parts import Arrays, state_of
from tidegate.forecast.prediction import Outcome, Prediction
from tidegate.forecast.timing.instants import Time

__all__ = ["SharedForecasters"]


class SharedForecasters(KeyedForecasters):
    """A forecaster for every key, whose experts and their mixture are those of all keys.

    What experts see is relative to a stream's own last value and usual change, so what one stream
    teaches holds for others however large their numbers are, and a new key is predicted well from
    its first rows on. Every stream keeps its own past, seasons, intervals and alarms. Streams
    with the same periods share; the windows over which experts forget count the rows of them all.

    Args:
        make: what makes a forecaster, without networks (``units=0``).
        most: keys that are kept; beyond, the one whose last row is the oldest is let go.

    Raises:
        UsageError: no key may be kept, or what ``make`` makes has networks.

    >>> streams = SharedForecasters(lambda: Forecaster(units=0))
    >>> for step in range(100):
    ...     outcome = streams.learn("large", 1000.0 * (step % 2))
    >>> for step in range(6):
    ...     outcome = streams.learn("small", 0.1 * (step % 2))
    >>> abs(round(streams.predict("small").value, 2))
    0.0
    """

    def __init__(self, make: Callable[[], Forecaster], most: int = 100_000) -> None:
        if make().networks():
            raise UsageError(
                "SharedForecasters make", "forecasters without networks", "some", "Give units=0."
            )
        super().__init__(make, most)
        self._common = CommonWeights()

    def predict(self, key: str, time: Time | None = None) -> Prediction:
        """The coming value of the stream ``key``; NaN where it is new. Changes nothing."""
        self._lend(key)
        return super().predict(key, time)

    def forecast(self, key: str, horizon: int) -> list[Prediction]:
        """The path of the stream ``key``; NaN where it is new. Changes nothing."""
        self._lend(key)
        return super().forecast(key, horizon)

    def learn(
        self, key: str, value: float, inputs: Sequence[float] = (), time: Time | None = None
    ) -> Outcome:
        """The row of the stream ``key`` that has come; all of them learn from it."""
        before = self._by_key.of(key).periods
        self._lend(key)
        outcome = super().learn(key, value, inputs, time)
        self._common.take_back(self[key], before)
        return outcome

    def _lend(self, key: str) -> None:
        forecaster = self._by_key.get(key)
        if forecaster is not None:
            self._common.lend(forecaster)

    def _state(self) -> Arrays:
        common = {f"common.{name}": weights for name, weights in self._common.state().items()}
        return common | {f"streams.{name}": array for name, array in super()._state().items()}

    def _restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        super()._restore(state_of(state, "streams"))
        self._common.restore(state_of(state, "common"))
