"""The sealed bucket: where a gate's number format can no longer tell long from forever.

A gate that rounds to exactly 1 lets nothing out, whatever its weights still say. And a sum that
nothing is let out of does not grow for ever: it stalls where a write is less than half the distance
to the next number.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import frexp, log, log1p

from tidegate._core.errors import UsageError

__all__ = ["FORMATS", "NumberFormat", "format_named"]


@dataclass(frozen=True)
class NumberFormat:
    """A binary floating-point format, and the gate 1 / (1 + exp(-z)) in it.

    Attributes:
        name: as NumPy and torch call it.
        precision: bits of the significand, the hidden one included.
        largest: largest finite number.
        wide: whether the gate is computed in a wider format and then rounded, as all processors do
            for 16-bit formats; else the sum 1 + exp(-z) is rounded first.

    >>> half = FORMATS["float16"]
    >>> round(half.sealed_from, 2), round(half.longest_half_life), half.stalls_at()
    (8.32, 1419, 2048.0)
    """

    name: str
    precision: int
    largest: float
    wide: bool

    @property
    def sealed_from(self) -> float:
        """The pre-activation from which the gate is exactly 1."""
        return log(2.0 ** (self.precision + 1) - 1) if self.wide else self.precision * log(2.0)

    @property
    def gap(self) -> float:
        """1 minus the largest gate that is not 1."""
        return 2.0 ** -(self.precision if self.wide else self.precision - 1)

    @property
    def longest_half_life(self) -> float:
        """Of the largest gate that is not 1, in steps; the next longer one is forever."""
        return log(2.0) / -log1p(-self.gap)

    def stalls_at(self, write: float = 1.0) -> float:
        """Where a sum of equal writes stops growing when nothing is let out of it.

        inf where it overflows first.

        Raises:
            UsageError: the write is not above 0 and finite.

        >>> FORMATS["float32"].stalls_at() == 2**24, FORMATS["float32"].stalls_at(0.1)
        (True, 2097152.0)
        """
        if not 0 < write < float("inf"):
            raise UsageError("write", "a number above 0", repr(write), "Give its absolute value.")
        fraction, exponent = frexp(write)
        whole = exponent - 1 if fraction == 0.5 else exponent
        sum_ = 2.0 ** (whole + self.precision) if whole + self.precision < 1024 else float("inf")
        return sum_ if sum_ <= self.largest else float("inf")


FORMATS = {
    "float64": NumberFormat("float64", 53, (2 - 2.0**-52) * 2.0**1023, wide=False),
    "float32": NumberFormat("float32", 24, (2 - 2.0**-23) * 2.0**127, wide=False),
    "float16": NumberFormat("float16", 11, 65504.0, wide=True),
    "bfloat16": NumberFormat("bfloat16", 8, (2 - 2.0**-7) * 2.0**127, wide=True),
}


def format_named(name: str) -> NumberFormat:
    """The format called ``name``.

    Raises:
        UsageError: there is no such format here.

    >>> format_named("float32").precision
    24
    """
    if name not in FORMATS:
        raise UsageError("number format", f"one of {', '.join(FORMATS)}", name, "Try float32.")
    return FORMATS[name]
