"""Losses: what the readout's logits mean, and how wrong they were. Values are in nats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, pi
from typing import Any

import numpy as np

from tidegate._core.errors import UsageError
from tidegate.cells.functions import Value, exp, maximum, minimum, sigmoid, sqrt
from tidegate.kernels.plan import Array, PointwiseLoss, SharedLoss

__all__ = ["Gaussian", "Huber", "Logistic", "Softmax", "Squared"]

# Slopes square an error and multiply it by exp(-2 log_scale): within these bounds no outlier and
# no perfect fit makes them infinite in float32 (an infinite slope cannot be clipped any more).
FARTHEST = 1e9
LEAST_LOG_SCALE = -20.0


class Squared(PointwiseLoss):
    """Half the squared error per target; the prediction is the logit itself.

    >>> Squared().error(np.array([1.5, 2.0]), np.array([1.0, np.nan]))
    array([0.5, 0. ])
    """

    def means(self, logit: Any) -> Mapping[str, Value]:
        return {"value": logit.value}

    def slopes(self, logit: Any, target: Value) -> Mapping[str, Value]:
        return {"value": _bounded(logit.value - target)}

    def value(self, logits: Array, target: Array) -> Array:
        return np.asarray(np.nansum(0.5 * (logits - target) ** 2, axis=-1))


@dataclass(frozen=True)
class Huber(PointwiseLoss):
    """Squared near 0, absolute far out: outliers pull with at most ``width``.

    width^2 (sqrt(1 + (error / width)^2) - 1), smooth everywhere.

    Source: Huber, "Robust Estimation of a Location Parameter" (1964), in the smooth form of
    Charbonnier et al. (1997), equation 12.

    >>> Huber(width=1.0).error(np.array([1e6, 1e-3]), np.zeros(2)).round(6)
    array([1.   , 0.001])
    """

    width: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.width < float("inf"):
            raise UsageError("Huber width", "an error above 0", repr(self.width), "Try width=1.0.")

    def means(self, logit: Any) -> Mapping[str, Value]:
        return {"value": logit.value}

    def slopes(self, logit: Any, target: Value) -> Mapping[str, Value]:
        far = _bounded((logit.value - target) / self.width)
        return {"value": self.width * far / sqrt(1.0 + far * far)}

    def value(self, logits: Array, target: Array) -> Array:
        far = (logits - target) / self.width
        return np.asarray(np.nansum(self.width**2 * (np.sqrt(1 + far * far) - 1), axis=-1))


class Logistic(PointwiseLoss):
    """Cross-entropy of independent yes/no targets (0 or 1); predicts probabilities.

    >>> Logistic().prediction(np.array([0.0]))
    array([0.5])
    """

    def means(self, logit: Any) -> Mapping[str, Value]:
        return {"value": sigmoid(logit.value)}

    def slopes(self, logit: Any, target: Value) -> Mapping[str, Value]:
        return {"value": _bounded(sigmoid(logit.value) - target)}

    def value(self, logits: Array, target: Array) -> Array:
        return np.asarray(np.nansum(np.logaddexp(0, logits) - target * logits, axis=-1))


class Gaussian(PointwiseLoss):
    """Negative log-density of a normal law whose mean and log standard deviation are predicted.

    The readout holds all means, then all log standard deviations; the prediction holds all means,
    then all standard deviations, in the units of the target.

    >>> loss = Gaussian()
    >>> round(float(loss.value(np.array([0.0, 0.0]), np.array([0.0]))), 6)
    0.918939
    """

    parts = ("mean", "log_scale")

    def means(self, logit: Any) -> Mapping[str, Value]:
        return {"mean": logit.mean, "log_scale": exp(logit.log_scale)}

    def slopes(self, logit: Any, target: Value) -> Mapping[str, Value]:
        log_scale = maximum(logit.log_scale, LEAST_LOG_SCALE)
        error = _bounded(logit.mean - target)
        pull = error * exp(-(log_scale + log_scale))
        return {"mean": pull, "log_scale": 1.0 - error * pull}

    def value(self, logits: Array, target: Array) -> Array:
        mean, log_scale = np.split(logits, 2, axis=-1)
        squares = ((mean - target) * np.exp(-log_scale)) ** 2
        nats = 0.5 * squares + log_scale + 0.5 * log(2 * pi)
        return np.asarray(np.nansum(nats, axis=-1))


class Softmax(SharedLoss):
    """Cross-entropy against one class; the target is the class's index, predictions are shares.

    Raises:
        UsageError: a target is no class (``error`` and ``value``).

    >>> Softmax().error(np.array([0.0, 0.0]), np.array([1.0]))
    array([ 0.5, -0.5])
    """

    def prediction(self, logits: Array) -> Array:
        powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=-1, keepdims=True))

    def error(self, logits: Array, target: Array) -> Array:
        if np.isnan(target[0]):
            return np.zeros_like(logits)
        error = self.prediction(logits)
        error[_classes(target[:1], logits.shape[-1])] -= 1
        return error

    def value(self, logits: Array, target: Array) -> Array:
        shifted = logits - logits.max(axis=-1, keepdims=True)
        total = np.log(np.exp(shifted).sum(axis=-1))
        missing = np.isnan(target[..., 0])
        index = _classes(np.where(missing, 0, target[..., 0]), logits.shape[-1])
        chosen = np.take_along_axis(shifted, index[..., None], axis=-1)[..., 0]
        return np.where(missing, 0.0, total - chosen)


def _bounded(error: Value) -> Value:
    return maximum(minimum(error, FARTHEST), -FARTHEST)


def _classes(target: Array, count: int) -> Array:
    """Targets as indices: -1 would silently be the last class, 1.5 the second."""
    wrong = ~np.isin(target, np.arange(count))
    if np.any(wrong):
        raise UsageError(
            "Softmax target",
            f"a class from 0 to {count - 1}",
            f"{float(np.asarray(target)[wrong][0]):g}",
            "Number the classes from 0, one output for each.",
        )
    return target.astype(int)
