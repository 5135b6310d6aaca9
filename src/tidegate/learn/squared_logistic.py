"""Half the squared error of logistic outputs: the objective of the papers of 1997 and 2000."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tidegate.cells.functions import Value, sigmoid
from tidegate.kernels.plan import Array, PointwiseLoss

__all__ = ["SquaredLogistic"]


class SquaredLogistic(PointwiseLoss):
    """E = 1/2 (sigmoid(logit) - target)^2 summed over targets from 0 to 1; predicts the outputs.

    Its slope vanishes where an output is surely wrong, so that learning from there is slow;
    :class:`~tidegate.learn.Logistic` has the same minimum and no such plateau.

    Source: Gers, Schmidhuber & Cummins, "Learning to Forget: Continual Prediction with LSTM",
    Neural Computation 12 (2000), section 3.2 and equation 14.

    >>> SquaredLogistic().error(np.array([0.0]), np.array([1.0]))
    array([-0.125])
    """

    def means(self, logit: Any) -> Mapping[str, Value]:
        return {"value": sigmoid(logit.value)}

    def slopes(self, logit: Any, target: Value) -> Mapping[str, Value]:
        output = sigmoid(logit.value)
        return {"value": (output - target) * output * (1.0 - output)}

    def value(self, logits: Array, target: Array) -> Array:
        return np.asarray(np.nansum(0.5 * (sigmoid(logits) - target) ** 2, axis=-1))
