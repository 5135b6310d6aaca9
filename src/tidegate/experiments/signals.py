"""Streams of numbers rather than symbols, each from its beginning, for the protocol of 2000."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from tidegate.experiments.criteria import every
from tidegate.experiments.sources import Source
from tidegate.kernels.plan import Array
from tidegate.tasks.arrays import Bools

__all__ = ["SignalSource", "closer"]

_AHEAD = 4096


def closer(bound: float) -> Any:
    """The criterion that every error is below ``bound``.

    >>> closer(0.49)(np.array([[0.4], [0.6]]), np.array([[0.0], [0.0]]))
    array([ True, False])
    """

    def criterion(outputs: npt.NDArray[Any], wanted: npt.NDArray[Any]) -> Bools:
        return every(abs(outputs - wanted) < bound)

    return criterion


class SignalSource(Source):
    """Streams made on the spot; every one begins at its phase 0.

    Args:
        seed: of what is drawn.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.rng = np.random.default_rng(seed)

    @abstractmethod
    def restart(self) -> None:
        """Phase 0."""

    @abstractmethod
    def draw(self, steps: int) -> tuple[Array, Array]:
        """The next steps at least: inputs (read, inputs) and targets (read, 1), NaN unasked."""

    def begin(self) -> None:
        self.restart()
        self.at = self.size = 0
        self._first = True

    def read(self) -> None:
        self.inputs, self.targets = self.draw(_AHEAD)
        self.asked = np.asarray(np.isfinite(self.targets).all(axis=1))
        self.wanted = np.nan_to_num(self.targets)
        self.starts = np.zeros(len(self.inputs), np.bool_)
        self.starts[0], self._first = self._first, False
        self.at, self.size = 0, len(self.inputs)
