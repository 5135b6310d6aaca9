"""One learner as a forecaster of a never-ending stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from tidegate.kernels.plan import Array
from tidegate.learn import Predictor

__all__ = ["Learning", "Single"]


class Learning(Protocol):
    """What learns online, truncated or exact."""

    def run(self, xs: Array, targets: Array) -> Array:
        """Predictions (steps, outputs), each made before its target was seen; then learns."""

    def predictor(self) -> Predictor:
        """A frozen copy."""


@dataclass(frozen=True)
class Single:
    """A learner that predicts by its weights of now.

    >>> import numpy as np
    >>> from tidegate.learn import Learner, Network
    >>> single = Single(Learner(Network(inputs=1, outputs=1, units=2)))
    >>> single.learn(np.zeros((5, 1)), np.zeros((5, 1))).shape
    (5, 1)
    """

    learner: Learning

    def learn(self, xs: Array, targets: Array) -> Array:
        """Predict and learn."""
        return self.learner.run(xs, targets)

    def frozen(self) -> Predictor:
        """A copy that no longer learns."""
        return self.learner.predictor()
