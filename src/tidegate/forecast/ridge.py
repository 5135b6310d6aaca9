"""The linear expert: exponentially weighted ridge regression, solved exactly at every step."""

from __future__ import annotations

import numpy as np

from tidegate.forecast.parts import Floats, Part
from tidegate.forecast.scale import RunningScale

__all__ = ["Ridge"]

SCALE_WINDOW = 500


class Ridge(Part):
    """Weights that minimise the squared errors so far, old ones and outliers counting less.

    Sum over t of keep^(now - t) huber_t (y_t - w x_t)^2 / usual_t + ridge |w|^2, where huber_t
    shrinks errors beyond ``width`` mean absolute errors to that size (iteratively reweighted,
    once). The normal equations are kept and solved, not their inverse: nothing can diverge, and
    weights of inputs that do not vary stay at 0.

    Args:
        inputs: size of x.
        keep: what is left of a step's weight one step later.
        ridge: pull of the weights towards 0.
        width: 1 is near a mean, 0.1 near a median.

    Source: Haykin, "Adaptive Filter Theory" (exponentially weighted normal equations); Huber,
    "Robust Estimation of a Location Parameter" (1964).

    >>> rng, expert = np.random.default_rng(0), Ridge(inputs=2, keep=0.999, ridge=0.1)
    >>> for x in rng.normal(size=(200, 2)):
    ...     expert.learn(x, float(3 * x[0] - x[1]))
    >>> expert.weights.round(1)
    array([ 3., -1.])
    """

    learned = ("gram", "moment", "weights", "scale")

    def __init__(self, inputs: int, keep: float, ridge: float, width: float = 1.0) -> None:
        self._keep, self._width = keep, width
        self._ridge = ridge
        self.gram: Floats = np.zeros((inputs, inputs))
        self.moment: Floats = np.zeros(inputs)
        self.weights: Floats = np.zeros(inputs)
        self.scale = RunningScale(SCALE_WINDOW)

    def predict(self, x: Floats) -> float:
        """The forecast for x (inputs,)."""
        return float(self.weights @ x)

    def learn(self, x: Floats, y: float, usual: float = 1.0) -> None:
        """Take in one step, whose errors are expected to be of the size ``usual``."""
        error = abs(y - self.predict(x)) / usual
        bound = self._width * self.scale.value
        weight = (bound / error if error > bound > 0 else 1.0) / usual
        self.scale.update(error)
        weighted = weight * x
        self.gram *= self._keep
        self.gram += weighted[:, None] * x
        self.moment *= self._keep
        self.moment += weighted * y
        normal = self.gram.copy()
        normal.flat[:: len(x) + 1] += self._ridge
        self.weights = np.asarray(np.linalg.solve(normal, self.moment), np.float64)

    def loosen(self, share: float) -> None:
        """Let only ``share`` of what was learned count from here on."""
        self.gram *= share
        self.moment *= share
