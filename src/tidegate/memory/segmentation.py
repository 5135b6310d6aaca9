"""Where a memory that is erased at borders explains a stream best: the hard-reset posterior.

A stronger and costlier segmenter than the gates: it asks of every step how probable it is that
the memory had better been erased before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tidegate._core.errors import UsageError
from tidegate._core.trace import Array
from tidegate.memory.direct_path import Floats

__all__ = ["HardResets", "hard_resets"]

#: (first, stop) -> log p(x_first..x_e | memory erased before first) for e = first..stop-1, in nats
SegmentLogProb = Callable[[int, int], Array]


@dataclass(frozen=True, eq=False)
class HardResets:
    """The posterior over all ways to cut a stream into segments.

    Attributes:
        erased: gamma_t (steps,), probability that the memory was erased before step t; 1 at 0.
        log_evidence: log Z in nats, the stream's log-probability summed over all cuts.

    >>> np.flatnonzero(HardResets(np.array([1.0, 0.1, 0.8]), -3.0).erased > 0.5)
    array([0, 2])
    """

    erased: Floats
    log_evidence: float


def hard_resets(
    log_prob: SegmentLogProb,
    steps: int,
    hazard: float,
    cost: float = 0.0,
    shortest: int = 1,
    longest: int | None = None,
) -> HardResets:
    """gamma_t = exp(alpha_t + beta_t - log Z) by forward and backward sums over segments.

    alpha_e = logsumexp_s [alpha_(s-1) + log p(x_s..x_e | erased before s) + log-hazards - cost],
    where a segment of n steps has log-hazards (n - 1) log(1 - hazard) + log hazard; the last one,
    which the stream's end cuts off, (n - 1) log(1 - hazard), no cost, and may be short.

    Args:
        log_prob: of segments, see ``SegmentLogProb``; called once a step.
        hazard: probability of a border at any step, between 0 and 1.
        cost: of a border in nats, beside its hazard.
        shortest, longest: steps of a segment; without ``longest`` the work grows with the square
            of ``steps``.

    Raises:
        UsageError: an option is out of range, or no cut is possible.

    >>> steps = np.array([0.0, 0, 0, 9, 9, 9])
    >>> def log_prob(first, stop):  # Gaussian about the segment's first value
    ...     return np.cumsum(-0.5 * (steps[first:stop] - steps[first]) ** 2)
    >>> hard_resets(log_prob, 6, hazard=0.1).erased.round(2)
    array([1. , 0.1, 0.1, 1. , 0.1, 0.1])
    """
    _check(steps, hazard, shortest, longest)
    longest = steps if longest is None else longest
    pieces = [
        _weights(log_prob, first, min(first + longest, steps), hazard, cost, shortest, steps)
        for first in range(steps)
    ]
    ends = _forward(pieces, steps)
    begins = _backward(pieces, steps)
    evidence = float(ends[steps])
    if not np.isfinite(evidence):
        raise UsageError(
            "hard_resets", "a possible cut", f"log-evidence {evidence}",
            "Take a longer longest, or check the log-probabilities.",
        )  # fmt: skip
    return HardResets(np.exp(ends[:steps] + begins[:steps] - evidence), evidence)


def _weights(
    log_prob: SegmentLogProb,
    first: int,
    stop: int,
    hazard: float,
    cost: float,
    shortest: int,
    steps: int,
) -> Floats:
    """Log-weight of the segments first..e for e = first..stop-1."""
    weights = np.array(log_prob(first, stop), np.float64)
    if weights.shape != (stop - first,):
        raise UsageError(
            "log_prob", f"{stop - first} log-probabilities", str(weights.shape),
            "Give one for every end from first to stop - 1.",
        )  # fmt: skip
    weights += np.arange(len(weights)) * np.log1p(-hazard)
    closed = len(weights) if stop < steps else len(weights) - 1  # the end of the stream is open
    weights[:closed] += np.log(hazard) - cost
    weights[: min(shortest - 1, closed)] = -np.inf
    return weights


def _forward(pieces: list[Floats], steps: int) -> Floats:
    """[t]: log-sum over all cuts of the steps before t."""
    ends = np.full(steps + 1, -np.inf)
    ends[0] = 0.0
    for first, weights in enumerate(pieces):
        span = slice(first + 1, first + 1 + len(weights))
        ends[span] = np.logaddexp(ends[span], ends[first] + weights)
    return ends


def _backward(pieces: list[Floats], steps: int) -> Floats:
    """[t]: log-sum over all cuts of the steps from t on."""
    begins = np.full(steps + 1, -np.inf)
    begins[steps] = 0.0
    for first in reversed(range(steps)):
        weights = pieces[first]
        terms = weights + begins[first + 1 : first + 1 + len(weights)]
        begins[first] = np.logaddexp.reduce(terms)
    return begins


def _check(steps: int, hazard: float, shortest: int, longest: int | None) -> None:
    if steps < 1 or not 0 < hazard < 1:
        raise UsageError(
            "hard_resets", "at least 1 step and a hazard between 0 and 1",
            f"{steps} steps, hazard {hazard}", "Try hazard=0.05.",
        )  # fmt: skip
    if shortest < 1 or (longest is not None and longest < shortest):
        raise UsageError(
            "hard_resets", "1 <= shortest <= longest", f"{shortest} and {longest}",
            "Exchange them.",
        )  # fmt: skip
