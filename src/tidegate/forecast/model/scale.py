"""A running scale of one number: what is usual, however wild single values are."""

from __future__ import annotations

from tidegate.forecast.compiled import compiled
from tidegate.forecast.parts import Flat, Floats

__all__ = ["COUNT", "RunningScale", "VALUE", "take_size"]

LARGEST = 8.0  #: times the scale that one value counts for, once it is known
KNOWN = 20  #: values after which it is
VALUE, COUNT = 0, 1  #: in the memory of a scale


@compiled
def take_size(scale: Floats, value: float, window: float) -> None:
    """The size of the newest value enters the scale."""
    size = abs(value)
    scale[COUNT] += 1
    if scale[COUNT] > KNOWN and scale[VALUE] > 0:
        size = min(size, LARGEST * scale[VALUE])
    scale[VALUE] += (size - scale[VALUE]) / min(scale[COUNT], window)


class RunningScale(Flat):
    """The mean absolute value over about the last ``window`` steps, 0 before there is one.

    A single value counts for at most eight times the scale, so a spike moves it by less than
    8 / window of itself; a lasting change of scale by the factor k is followed within
    ``window * log(k) / 7`` steps. What is not finite is passed over by the caller.

    Args:
        window: in steps.

    >>> scale = RunningScale(window=100)
    >>> for _ in range(200):
    ...     scale.update(2.0)
    >>> scale.update(1e12)
    >>> round(scale.value, 2)
    2.14
    """

    def __init__(self, window: float, memory: Floats | None = None) -> None:
        super().__init__(2, memory)
        self._window = float(window)

    @property
    def value(self) -> float:
        """The scale."""
        return float(self.memory[VALUE])

    @property
    def count(self) -> int:
        """Values seen so far."""
        return int(self.memory[COUNT])

    def update(self, value: float) -> None:
        """The size of the newest value."""
        take_size(self.memory, float(value), self._window)
