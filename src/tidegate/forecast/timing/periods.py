"""Periods of a stream without times: peaks of a running autocorrelation of its changes."""

from __future__ import annotations

from math import isfinite, nan

import numpy as np

from tidegate.forecast.parts import Floats, Part

__all__ = ["PeriodFinder"]

LONGEST = 1_500  #: steps
SHORTEST = 4
CYCLES = 2.2  #: of a period that must have been seen
LEAST = 0.1  #: autocorrelation of a period
RELATIVE = 0.8  #: of the highest peak, for a longer one to count beside it
NOISE = 5.0  #: standard deviations of an autocorrelation of noise that do not count
CAP = 5.0  #: usual changes that one counts for


class PeriodFinder(Part):
    """Running sums d(t) d(t-k) of the changes d, for every lag k, in constant memory.

    Two periods at most: the highest peak, and a clearly higher or equal one at a multiple of it
    (the week of a day).

    >>> finder = PeriodFinder()
    >>> for step in range(500):
    ...     finder.update(float(step % 7 == 0))
    >>> finder.periods()
    (7,)
    """

    learned = ("past", "sums", "square", "last", "usual", "count")

    def __init__(self) -> None:
        self.past: Floats = np.zeros(LONGEST)
        self.sums: Floats = np.zeros(LONGEST)
        self.square, self.last, self.usual, self.count = 0.0, nan, 0.0, 0

    def update(self, value: float) -> None:
        """The newest value; a missing one counts as unchanged."""
        change = value - self.last if isfinite(value) and isfinite(self.last) else 0.0
        if isfinite(value):
            self.last = value
        self.count += 1
        self.usual += (abs(change) - self.usual) / min(self.count, 2_000)
        limit = CAP * self.usual
        change = min(max(change, -limit), limit)
        self.sums += change * self.past
        self.square += change * change
        self.past[1:] = self.past[:-1].copy()
        self.past[0] = change

    def periods(self) -> tuple[int, ...]:
        """Those that stand out by now, the shortest first."""
        reach = min(int(self.count / CYCLES), LONGEST)
        if reach <= SHORTEST or not self.square > 0:
            return ()
        # past[0] is one step back, so index k belongs to lag k + 1.
        share = (
            self.sums[:reach] / self.square * self.count / (self.count - np.arange(1, reach + 1))
        )
        inner = share[1:-1]
        peaks = np.flatnonzero((inner >= share[:-2]) & (inner > share[2:])) + 2
        noise = NOISE / np.sqrt(self.count)
        peaks = peaks[(peaks >= SHORTEST) & (share[peaks - 1] > max(LEAST, noise))]
        if not len(peaks):
            return ()
        best = float(share[peaks - 1].max())
        first = int(peaks[share[peaks - 1] >= RELATIVE * best][0])
        longer = [
            p for p in peaks.tolist() if p >= 2 * first and share[p - 1] > 1.02 * share[first - 1]
        ]
        multiples = [p for p in longer if abs(p / first - round(p / first)) < 0.02]
        if not multiples:
            return (first,)
        highest = max(share[p - 1] for p in multiples)
        return first, min(p for p in multiples if share[p - 1] >= 0.95 * highest)
