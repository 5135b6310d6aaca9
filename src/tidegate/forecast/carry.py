"""How much of a deviation from the usual is carried into the next slot, slot by slot."""

from __future__ import annotations

import numpy as np

from tidegate.forecast.parts import Floats, Part

__all__ = ["SlotCarry"]

SLOT_RATE = 0.07
COMMON_RATE = 0.002
SHRINK = 0.5  #: pull of a slot's share towards the common one
KERNEL = ((0, 2.0), (-1, 1.0), (1, 1.0))  #: neighbours that a slot learns with
TINY = 1e-9


class SlotCarry(Part):
    """A regression through 0 with a coefficient for every slot: d(t) on d(t-1).

    Half of a deviation at eight in the morning may be gone by nine, while one at noon stays: a
    varying-coefficient model (Hastie & Tibshirani 1993), kept as leaky sums of d(t-1)^2 and
    d(t) d(t-1) for every slot, smoothed over its neighbours and shrunk towards all slots.

    Args:
        period: slots.

    >>> carry = SlotCarry(period=8)
    >>> for step in range(800):
    ...     carry.update(step, before=1.0, now=0.8 if step % 8 < 4 else 0.2)
    >>> carry.share(1) > 0.7, carry.share(5) < 0.3
    (True, True)
    """

    learned = ("sums", "common")

    def __init__(self, period: int) -> None:
        self._period = period
        self.sums: Floats = np.zeros((period, 2))
        self.common: Floats = np.zeros(2)

    def share(self, step: int) -> float:
        """What is carried into the slot of ``step``; 0 before anything is known."""
        square, product = SHRINK * self.common
        for offset, weight in KERNEL:
            near = self.sums[(step + offset) % self._period]
            square += weight * near[0]
            product += weight * near[1]
        return float(product / (square + TINY))

    def update(self, step: int, before: float, now: float) -> None:
        """Deviations of the slot before that of ``step``, and of its own."""
        seen = np.array([before * before, before * now])
        slot = self.sums[step % self._period]
        slot += SLOT_RATE * (seen - slot)
        self.common += COMMON_RATE * (seen - self.common)
