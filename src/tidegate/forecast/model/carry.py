"""How much of a deviation from the usual is carried into the next slot, slot by slot."""

from __future__ import annotations

from tidegate.forecast.compiled import compiled
from tidegate.forecast.parts import Flat, Floats

__all__ = ["SlotCarry", "carried", "learn_carry"]

SLOT_RATE = 0.07
COMMON_RATE = 0.002
SHRINK = 0.5  #: pull of a slot's share towards the common one
KERNEL = ((0, 2.0), (-1, 1.0), (1, 1.0))  #: neighbours that a slot learns with
TINY = 1e-9


@compiled
def carried(sums: Floats, common: Floats, step: int) -> float:
    """The share of a deviation that is carried into the slot of ``step``; 0 at first."""
    square, product = SHRINK * common[0], SHRINK * common[1]
    for offset, weight in KERNEL:
        slot = (step + offset) % len(sums)
        square += weight * sums[slot, 0]
        product += weight * sums[slot, 1]
    return float(product / (square + TINY))


@compiled
def learn_carry(sums: Floats, common: Floats, step: int, before: float, now: float) -> None:
    """Deviations of the slot before that of ``step``, and of its own."""
    slot = step % len(sums)
    for k, seen in enumerate((before * before, before * now)):
        sums[slot, k] += SLOT_RATE * (seen - sums[slot, k])
        common[k] += COMMON_RATE * (seen - common[k])


class SlotCarry(Flat):
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

    def __init__(self, period: int) -> None:
        super().__init__(2 * period + 2)
        self._sums, self._common = self.memory[:-2].reshape(period, 2), self.memory[-2:]

    def share(self, step: int) -> float:
        """What is carried into the slot of ``step``; 0 before anything is known."""
        return float(carried(self._sums, self._common, step))

    def update(self, step: int, before: float, now: float) -> None:
        """Deviations of the slot before that of ``step``, and of its own."""
        learn_carry(self._sums, self._common, step, float(before), float(now))
