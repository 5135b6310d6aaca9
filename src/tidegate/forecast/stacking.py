"""The last word: a mixture of experts, and a regression on how they differ."""

from __future__ import annotations

import numpy as np

from tidegate.forecast.mixing import Mixture
from tidegate.forecast.parts import Floats, Part
from tidegate.forecast.ridge import Ridge

__all__ = ["Stack"]

KEEP, RIDGE = 0.9998, 10.0


class Stack(Part):
    """Mixes experts by their regret, corrects the mixture linearly, and mixes the two.

    The correction may take weights below 0 or above 1, which a mixture cannot; where it does not
    help, the second mixture passes it over.

    Source: Breiman, "Stacked Regressions" (1996), with ridge instead of positive weights.

    Args:
        experts: how many, the plainest last.

    >>> stack = Stack(experts=2)
    >>> for y in (1.0, 2.0, 3.0):
    ...     stack.learn(np.array([y, 0.0]), y)
    >>> round(stack.predict(np.array([4.0, 0.0])), 6)
    4.0
    """

    learned = ("mixture", "correction", "last")

    def __init__(self, experts: int) -> None:
        self.mixture = Mixture(experts)
        self.correction = Ridge(experts - 1, KEEP, RIDGE)
        self.last = Mixture(2)

    @property
    def weights(self) -> Floats:
        """What each expert weighs in the mixture."""
        return self.mixture.weights

    def predict(self, forecasts: Floats) -> float:
        """The forecast from those of the experts (expert)."""
        return self.last.predict(self._two(forecasts))

    def learn(self, forecasts: Floats, y: float) -> None:
        """The value that came, on a scale on which errors are about 1."""
        mixed = self.mixture.predict(forecasts)
        self.last.learn(self._two(forecasts), y)
        self.correction.learn(forecasts[:-1] - mixed, y - mixed)
        self.mixture.learn(forecasts, y)

    def _two(self, forecasts: Floats) -> Floats:
        mixed = self.mixture.predict(forecasts)
        return np.array([mixed, mixed + self.correction.predict(forecasts[:-1] - mixed)])
