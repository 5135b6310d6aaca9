"""Many streams in one process, each with a forecaster of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tidegate._core.errors import CheckpointError, UsageError
from tidegate.forecast.by_key import ByKey
from tidegate.forecast.forecaster import Forecaster
from tidegate.forecast.parts import Arrays
from tidegate.forecast.prediction import Outcome, Prediction
from tidegate.forecast.timing.instants import Time
from tidegate.learn.checkpoint import Checkpoint, load, save

__all__ = ["KeyedForecasters"]


class KeyedForecasters:
    """A forecaster for every key, made when its first row comes.

    Streams never touch each other: rows may be interleaved in any way. This is also what
    ``tidegate run --key`` does.

    Args:
        make: what makes a forecaster; ``Forecaster(units=0)`` has no network and takes a
            twentieth of the memory.
        most: keys that are kept; beyond, the one whose last row is the oldest is let go.

    Raises:
        UsageError: no key may be kept.

    >>> streams = KeyedForecasters(lambda: Forecaster(units=0), most=2)
    >>> for key in ("a", "b", "a"):
    ...     outcome = streams.learn(key, 1.0)
    >>> len(streams), streams["a"].rows
    (2, 2)
    """

    def __init__(self, make: Callable[[], Forecaster], most: int = 100_000) -> None:
        self._by_key = ByKey(make, most)

    def __len__(self) -> int:
        return len(self._by_key)

    def __getitem__(self, key: str) -> Forecaster:
        found = self._by_key.get(key)
        if found is None:
            raise KeyError(key)
        return found

    def __contains__(self, key: str) -> bool:
        return self._by_key.get(key) is not None

    def predict(self, key: str, time: Time | None = None) -> Prediction:
        """The coming value of the stream ``key``; NaN where it is new. Changes nothing."""
        known = self._by_key.get(key)
        return Prediction(float("nan")) if known is None else known.predict(time)

    def forecast(self, key: str, horizon: int) -> list[Prediction]:
        """The path of the stream ``key``; NaN where it is new. Changes nothing."""
        known = self._by_key.get(key)
        new = [Prediction(float("nan"))] * horizon
        return new if known is None else known.forecast(horizon)

    def learn(
        self, key: str, value: float, inputs: Sequence[float] = (), time: Time | None = None
    ) -> Outcome:
        """The row of the stream ``key`` that has come."""
        return self._by_key.of(key).learn(value, inputs, time)

    def save(self, path: str | Path) -> None:
        """All streams, in one file.

        Raises:
            CheckpointError: it cannot be written.
        """
        save(Path(path), Checkpoint(self._state(), {"of": type(self).__name__}))

    def load(self, path: str | Path) -> None:
        """Take up the streams of a file, in the place of those that are here.

        Raises:
            CheckpointError: there is no such file, it is damaged, or of other forecasters.
        """
        found = load(Path(path))
        try:
            self._restore(found.arrays)
        except (UsageError, KeyError) as error:
            raise CheckpointError(
                str(path), "forecasters made alike", "others", str(error)
            ) from error

    def _state(self) -> Arrays:
        return self._by_key.state()

    def _restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        self._by_key.restore(state)
