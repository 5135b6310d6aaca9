"""Mixing experts without a learning rate."""

from __future__ import annotations

import numpy as np

from tidegate.forecast.parts import Floats, Part

__all__ = ["Mixture"]


class Mixture(Part):
    """Weights in proportion to how much each expert would have been better than the mixture.

    ML-Poly for the absolute error, with gradients in the place of errors: its regret to the best
    fixed mixture of the experts grows as the square root of the steps, without a rate to choose.

    Args:
        experts: how many.

    Source: Gaillard, Stoltz & van Erven, "A Second-order Bound with Excess Losses" (2014), ML-Poly.

    >>> mixture = Mixture(experts=2)
    >>> for y in (1.0, 2.0, 3.0):
    ...     mixture.learn(np.array([y, 0.0]), y)
    >>> mixture.weights
    array([1., 0.])
    """

    learned = ("regret", "variation", "weights")

    def __init__(self, experts: int) -> None:
        self.regret: Floats = np.zeros(experts)
        self.variation: Floats = np.zeros(experts)
        self.weights: Floats = np.full(experts, 1 / experts)

    def predict(self, forecasts: Floats) -> float:
        """The mixed forecast of ``forecasts`` (expert)."""
        return float(self.weights @ forecasts)

    def learn(self, forecasts: Floats, y: float) -> None:
        """The value that came, on a scale on which errors are about 1."""
        mixed = self.predict(forecasts)
        better = np.sign(mixed - y) * (mixed - forecasts)
        self.regret += better
        self.variation += better * better
        weights = np.maximum(self.regret, 0.0) / (1.0 + self.variation)
        total = float(weights.sum())
        if total > 0:
            self.weights = weights / total
