"""Long Traces at a glance: buckets of steps that keep every forget event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tidegate._core.errors import UsageError
from tidegate._core.trace import Array, Trace

__all__ = ["Buckets", "decimate"]


@dataclass(frozen=True, eq=False)
class Buckets:
    """Consecutive steps taken together; arrays (buckets, rows, units) by name.

    Attributes:
        first: number of the first step of every bucket (buckets,).
        counts: steps in every bucket (buckets,).
        minimum: smallest log-retention in nats per step: one step of forgetting stays visible.
        mean: mean log-retention: what the bucket as a whole has kept.
        memory, hidden, gates: means.
        reset: (buckets, rows), whether there was one.
    """

    first: Array
    counts: Array
    minimum: Mapping[str, Array]
    mean: Mapping[str, Array]
    memory: Mapping[str, Array]
    hidden: Mapping[str, Array]
    gates: Mapping[str, Array]
    reset: Array

    def coarser(self, every: int) -> Buckets:
        """``every`` buckets become one; minimum and mean are those of all their steps.

        >>> trace = Trace(log_retention={"c": np.log([[[0.9]], [[1e-3]], [[0.9]], [[0.9]]])})
        >>> float(np.exp(decimate(trace, 2).coarser(2).minimum["c"][0, 0, 0]))
        0.001
        """
        starts = _starts(len(self.first), every)

        def means(of: Mapping[str, Array]) -> dict[str, Array]:
            return {name: _mean(array, starts, self.counts) for name, array in of.items()}

        return Buckets(
            self.first[starts],
            np.add.reduceat(self.counts, starts),
            {n: np.minimum.reduceat(a, starts, axis=0) for n, a in self.minimum.items()},
            means(self.mean),
            means(self.memory),
            means(self.hidden),
            means(self.gates),
            np.logical_or.reduceat(self.reset, starts, axis=0),
        )


def decimate(trace: Trace, every: int) -> Buckets:
    """Buckets of ``every`` steps; the last may be shorter.

    Raises:
        UsageError: ``every`` is below 1, or the Trace has no steps.

    >>> trace = Trace(log_retention={"c": np.log([[[0.9]], [[1e-3]], [[0.9]], [[0.9]]])})
    >>> np.exp(decimate(trace, 3).minimum["c"].ravel())
    array([0.001, 0.9 ])
    """
    steps = np.arange(trace.steps) + trace.meta.start
    ones = np.ones(trace.steps, np.int64)
    single = Buckets(
        steps, ones, trace.log_retention, trace.log_retention,
        trace.memory, trace.hidden, trace.gates, trace.reset,
    )  # fmt: skip
    return single.coarser(every)


def _starts(steps: int, every: int) -> Array:
    if every < 1 or steps < 1:
        raise UsageError(
            "decimate", "at least 1 step a bucket, and steps", f"{every} for {steps} steps",
            "Try 100 steps a bucket.",
        )  # fmt: skip
    return np.arange(0, steps, every)


def _mean(array: Array, starts: Array, counts: Array) -> Array:
    """Mean weighted by ``counts``, per bucket."""
    weights = counts.astype(np.float64)[:, None, None]
    # A gate that erased everything has log-retention -inf, and so has its bucket.
    total = np.add.reduceat(array * weights, starts, axis=0)
    return np.asarray(total / np.add.reduceat(weights, starts, axis=0)).astype(array.dtype)
