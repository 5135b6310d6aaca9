"""Mixing forecasts of probabilities by how well each has done, and has done of late."""

from __future__ import annotations

import numpy as np

from tidegate.forecast.parts import Floats, Part

__all__ = ["BayesMixture"]

LEAST_SHARE = 1 / 2_000  #: of the weight that is handed round in a step


class BayesMixture(Part):
    """Weights by Bayes' rule, a small share of which is handed round at every step.

    The log loss of the mixture is at most log(experts) above that of the best expert, and of the
    best sequence of experts a little more for every change of hands. There is no rate to choose:
    what is handed round is 1/t of the weight at step t, and in the long run one part in 2,000.

    Args:
        experts: how many.

    Source: Herbster & Warmuth, "Tracking the Best Expert" (1998), fixed share; Shamir & Merhav,
    "Low-complexity sequential lossless coding" (1999), for the share of 1/t.

    >>> mixture = BayesMixture(experts=2)
    >>> for _ in range(20):
    ...     mixture.learn(np.array([0.9, 0.5]))
    >>> mixture.weights.round(2)
    array([0.94, 0.06])
    """

    learned = ("weights", "steps")

    def __init__(self, experts: int) -> None:
        self.weights: Floats = np.full(experts, 1 / experts)
        self.steps = 0

    def predict(self, shares: Floats) -> Floats:
        """(class) the mixture of ``shares`` (expert, class)."""
        mixed: Floats = self.weights @ shares
        return mixed

    def learn(self, shares: Floats) -> None:
        """What each expert gave to the class that came (expert), above 0."""
        self.steps += 1
        after = self.weights * shares
        handed = max(1 / (self.steps + 1), LEAST_SHARE)
        self.weights = (1 - handed) * after / after.sum() + handed / len(after)
