"""Forecasts of categories from counts: how often each came, after what."""

from __future__ import annotations

import numpy as np

from tidegate.forecast.parts import Floats, Part

__all__ = ["ORDERS", "Counts"]

ORDERS = 3  #: forecasts: after nothing, after the last category, after the last two
CONTEXTS = 1_024  #: pairs of categories that are told apart
MOST = 1_000.0  #: counts of a context, at which all of them are halved: old ones fade
PRIOR = 2.0  #: counts that the shorter context is worth


class Counts(Part):
    """Shares of every class after nothing, after the last one, and after the last two.

    A longer context takes the shares of the shorter one as worth two counts of its own; without
    any context all classes begin alike.

    Args:
        classes: how many there can be; one more, ``classes`` itself, stands for an unknown past.

    Source: MacKay & Peto, "A hierarchical Dirichlet language model" (1995).

    >>> counts = Counts(classes=2)
    >>> for now in (0, 1) * 20:
    ...     counts.learn(now)
    >>> counts.predict()[:, 0].round(2)
    array([0.5 , 0.95, 1.  ])
    """

    learned = ("none", "one", "two", "last")

    def __init__(self, classes: int) -> None:
        self._classes = classes
        self.none: Floats = np.zeros(classes)
        self.one: Floats = np.zeros((classes + 1, classes))
        self.two: Floats = np.zeros((CONTEXTS, classes))
        self.last = np.full(2, classes)

    def predict(self) -> Floats:
        """(order, class) shares, each row with the sum 1."""
        shares = np.empty((ORDERS, self._classes))
        before = np.full(self._classes, 1 / self._classes)
        for order, row in enumerate(self._rows()):
            before = (row + PRIOR * before) / (row.sum() + PRIOR)
            shares[order] = before
        return shares

    def learn(self, now: int | None) -> None:
        """The class that came; None where it is not known."""
        if now is not None:
            for row in self._rows():
                row[now] += 1
                if row.sum() > MOST:
                    row *= 0.5
        self.last = np.array([self._classes if now is None else now, self.last[0]])

    def _rows(self) -> tuple[Floats, Floats, Floats]:
        last, older = self.last.tolist()
        return self.none, self.one[last], self.two[_pair(last, older) % CONTEXTS]


def _pair(a: int, b: int) -> int:
    """A number for every pair, the smaller ones first: n classes take n * n of them.

    >>> sorted(_pair(a, b) for a in range(3) for b in range(3))
    [0, 1, 2, 3, 4, 5, 6, 7, 8]
    """
    return a * a + a + b if a >= b else b * b + a
