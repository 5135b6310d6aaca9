"""Many streams in one process, each with a forecaster of its own."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from tidegate._core.errors import CheckpointError, UsageError
from tidegate.forecast.forecaster import Forecaster
from tidegate.forecast.instants import Time
from tidegate.forecast.parts import Arrays
from tidegate.forecast.prediction import Outcome, Prediction
from tidegate.learn.checkpoint import Checkpoint, load, save

__all__ = ["KeyedForecasters"]


class KeyedForecasters:
    """A forecaster for every key, made when its first row comes.

    Streams never touch each other: rows may be interleaved in any way.

    Args:
        make: what makes a forecaster; ``Forecaster(units=0)`` has no network and takes a
            hundredth of the memory.
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
        if most < 1:
            raise UsageError("KeyedForecasters most", "at least one key", repr(most), "Try 1000.")
        self._make, self._most = make, most
        self._by_key: OrderedDict[str, Forecaster] = OrderedDict()

    def __len__(self) -> int:
        return len(self._by_key)

    def __getitem__(self, key: str) -> Forecaster:
        return self._by_key[key]

    def __contains__(self, key: str) -> bool:
        return key in self._by_key

    def predict(self, key: str, time: Time | None = None) -> Prediction:
        """The coming value of the stream ``key``; NaN where it is new. Changes nothing."""
        known = self._by_key.get(key)
        return Prediction(float("nan")) if known is None else known.predict(time)

    def learn(
        self, key: str, value: float, inputs: Sequence[float] = (), time: Time | None = None
    ) -> Outcome:
        """The row of the stream ``key`` that has come."""
        if key not in self._by_key:
            self._by_key[key] = self._make()
        self._by_key.move_to_end(key)
        while len(self._by_key) > self._most:
            self._by_key.popitem(last=False)
        return self._by_key[key].learn(value, inputs, time)

    def save(self, path: str | Path) -> None:
        """All streams, in one file.

        Raises:
            CheckpointError: it cannot be written.
        """
        arrays: Arrays = {}
        for n, forecaster in enumerate(self._by_key.values()):
            arrays |= {f"{n}.{name}": array for name, array in forecaster.state().items()}
        save(Path(path), Checkpoint(arrays, {"keys": list(self._by_key)}))

    def load(self, path: str | Path) -> None:
        """Take up the streams of a file, in the place of those that are here.

        Raises:
            CheckpointError: there is no such file, it is damaged, or of other forecasters.
        """
        found = load(Path(path))
        parts: list[dict[str, np.ndarray]] = [{} for _ in found.header["keys"]]
        for name, array in found.arrays.items():
            number, _, inner = name.partition(".")
            parts[int(number)][inner] = array
        taken: OrderedDict[str, Forecaster] = OrderedDict()
        for key, arrays in zip(found.header["keys"], parts, strict=True):
            taken[key] = self._make()
            try:
                taken[key].restore(arrays)
            except UsageError as error:
                raise CheckpointError(
                    str(path), "forecasters made alike", json.dumps(key), str(error)
                ) from error
        self._by_key = taken
