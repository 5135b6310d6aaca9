"""Cross-entropy that leaves alone what is right within a margin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tidegate._core.errors import UsageError
from tidegate.cells.functions import Value, maximum, minimum, sigmoid
from tidegate.kernels.plan import Array, PointwiseLoss

__all__ = ["DeadZoneLogistic"]


@dataclass(frozen=True)
class DeadZoneLogistic(PointwiseLoss):
    """Cross-entropy of yes/no targets whose slope is 0 where a probability is near enough.

    The slope sigmoid(logit) - target is shortened by ``margin``, down to 0. So nothing that is
    right pushes the weights about, and no logit grows without end.

    Args:
        margin: errors of a probability up to this much teach nothing; above 0 and below 1.
            (:class:`~tidegate.learn.Logistic` has none.)

    Raises:
        UsageError: the margin is out of range.

    >>> DeadZoneLogistic(0.1).error(np.array([0.0, 3.0]), np.array([1.0, 1.0]))
    array([-0.4,  0. ])
    """

    margin: float = 0.1

    def __post_init__(self) -> None:
        if not 0 < self.margin < 1:
            owner, got = "DeadZoneLogistic margin", repr(self.margin)
            raise UsageError(owner, "above 0 and below 1", got, "Try 0.1.")

    def means(self, logit: Any) -> Mapping[str, Value]:
        return {"value": sigmoid(logit.value)}

    def slopes(self, logit: Any, target: Value) -> Mapping[str, Value]:
        error = sigmoid(logit.value) - target
        shortened = maximum(error - self.margin, 0.0) + minimum(error + self.margin, 0.0)
        return {"value": shortened}

    def value(self, logits: Array, target: Array) -> Array:
        """The integral of the slope, 0 within the zone; targets 0 or 1."""
        edge = np.log(self.margin / (1 - self.margin))
        wrong = np.where(np.isnan(target), edge, (1 - 2 * target) * logits)
        beyond = np.maximum(wrong, edge)
        nats = np.logaddexp(0, beyond) - np.logaddexp(0, edge) - self.margin * (beyond - edge)
        return np.asarray(nats.sum(axis=-1))
