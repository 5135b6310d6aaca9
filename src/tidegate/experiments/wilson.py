"""How sure a share of trials is."""

from __future__ import annotations

from math import sqrt

from tidegate._core.errors import UsageError

__all__ = ["wilson"]

_Z = 1.959963984540054  # of 95 %


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % interval of a share: where it may lie after ``successes`` of ``trials``.

    It stays within 0 and 1 and does not collapse at either end. Without trials it is (0, 1).

    Source: Wilson, "Probable inference, the law of succession, and statistical inference" (1927).

    Raises:
        UsageError: the counts are negative, or there are more successes than trials.

    >>> [round(end, 3) for end in wilson(18, 100)], [round(end, 3) for end in wilson(0, 40)]
    ([0.117, 0.267], [0.0, 0.088])
    """
    if not 0 <= successes <= trials:
        raise UsageError("wilson", "0 <= successes <= trials", f"{successes} of {trials}", "Swap?")
    if trials == 0:
        return 0.0, 1.0
    share, weight = successes / trials, _Z**2 / trials
    centre = (share + weight / 2) / (1 + weight)
    half = _Z / (1 + weight) * sqrt(share * (1 - share) / trials + weight / (4 * trials))
    low = centre - half if successes else 0.0
    high = centre + half if successes < trials else 1.0
    return low, high
