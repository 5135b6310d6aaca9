"""The likelihood ratio of a shift at every step at which it may have begun, as machine code."""

from __future__ import annotations

from math import sqrt

from tidegate.forecast.compiled import compiled
from tidegate.forecast.parts import Floats

__all__ = ["LEAST", "LEVEL_WINDOW", "THRESHOLD", "most_likely_shift"]

LEVEL_WINDOW = 3_000
LEAST = 6  #: steps that must have been seen of a shift
THRESHOLD = 4.25  #: standard deviations of the likelihood ratio
YOUNG, STRICTER = 12, 4.4  #: and of a shift of so few steps, as most false ones are
AFTER = 0.8  #: and of that part of it which the first step had no share in
SMALLEST = 1e-12


@compiled
def most_likely_shift(
    residuals: Floats, whitening: Floats, farthest: int, known: float
) -> tuple[float, int, float]:
    """The shift that explains whitened residuals best, among all beginnings.

    Args:
        residuals: in standard deviations, the newest first.
        whitening: weights (lag) of the autoregression that whitened them.
        farthest: steps back at which it may have begun, at most.
        known: steps for which the level before it held.

    Returns:
        its ratio in standard deviations, signed, 0 where there is none that counts; how many steps
        ago it began; its size in standard deviations of the residuals.

    >>> import numpy as np
    >>> ratio, steps, size = most_likely_shift(
    ...     np.repeat([3.0, 0.0], [8, 120]), np.zeros(2), 128, 3_000.0
    ... )
    >>> round(ratio, 1), steps, round(size, 1)
    (8.2, 8, 3.0)
    """
    rest = 1.0
    for weight in whitening:
        rest -= weight
    run, best, best_steps, best_size = 0.0, 0.0, 0, 0.0
    for steps in range(1, farthest + 1):
        # A shift leaves 1, 1 - a1, ... in the first residuals after it, and the rest for long.
        run += residuals[steps - 1]
        total, norm, share = rest * run, rest * rest * steps, 1.0
        for k in range(min(len(whitening), steps)):
            total += (share - rest) * residuals[steps - 1 - k]
            norm += share * share - rest * rest
            share -= whitening[k]
        if steps < LEAST:
            continue
        # The level itself is only known to its standard error, the less the shorter it held.
        unsure = 1 + steps / min(known, LEVEL_WINDOW)
        ratio = total / sqrt(max(norm * unsure, SMALLEST))
        if steps < YOUNG:
            ratio *= THRESHOLD / STRICTER
        if abs(ratio) <= abs(best):
            continue
        later = (total - residuals[steps - 1]) / sqrt(max(norm - 1, SMALLEST))
        if (later if ratio > 0 else -later) >= AFTER:
            best, best_steps, best_size = ratio, steps, total / norm
    return best, best_steps, best_size
