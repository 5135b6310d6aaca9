"""Whole numbers of the code: places, counts, and the numbers of lanes."""

from __future__ import annotations

from collections.abc import Callable

import llvmlite.ir as ir  # type: ignore[import-untyped]

from tidegate.kernels.code.vector import LLVM, Builder, Mask, Precision, Vector, lanes, splat

__all__ = ["I64", "Index", "Lanes"]

I64 = ir.IntType(64)


class Index:
    """A whole number of the code: a Python number while it can be, 64 bits at run time when not."""

    def __init__(self, builder: Builder, value: LLVM | int) -> None:
        self.builder = builder
        self.known = value if isinstance(value, int) else None
        self.raw = I64(value) if isinstance(value, int) else value

    def _other(self, other: Index | int) -> Index:
        return other if isinstance(other, Index) else Index(self.builder, other)

    def _with(
        self,
        known: Callable[[int, int], int],
        emit: Callable[[LLVM, LLVM], LLVM],
        other: Index | int,
    ) -> Index:
        second = self._other(other)
        if self.known is not None and second.known is not None:
            return Index(self.builder, known(self.known, second.known))
        return Index(self.builder, emit(self.raw, second.raw))

    def __add__(self, other: Index | int) -> Index:
        return self._with(int.__add__, self.builder.add, other)

    def __sub__(self, other: Index | int) -> Index:
        return self._with(int.__sub__, self.builder.sub, other)

    def __mul__(self, other: Index | int) -> Index:
        return self._with(int.__mul__, self.builder.mul, other)

    def __floordiv__(self, other: Index | int) -> Index:
        """Of numbers that are not negative."""
        return self._with(int.__floordiv__, self.builder.udiv, other)

    __radd__ = __add__
    __rmul__ = __mul__

    def _compare(self, sign: str, other: Index | int) -> Mask:
        second = self._other(other)
        return Mask(self.builder, self.builder.icmp_signed(sign, self.raw, second.raw))

    def __lt__(self, other: Index | int) -> Mask:
        return self._compare("<", other)

    def __ge__(self, other: Index | int) -> Mask:
        return self._compare(">=", other)

    def equals(self, other: Index | int) -> Mask:
        """True where both are the same number."""
        return self._compare("==", other)

    @classmethod
    def of(cls, number: Vector) -> Index:
        """A finite number of width 1 without its fraction."""
        return cls(number.builder, number.builder.fptosi(number.raw, I64))

    def __or__(self, other: Index) -> Index:
        return Index(self.builder, self.builder.or_(self.raw, other.raw))

    def __and__(self, other: Index) -> Index:
        return Index(self.builder, self.builder.and_(self.raw, other.raw))

    def real(self, precision: Precision) -> Vector:
        """The number as a floating-point value of width 1."""
        return Vector(self.builder, self.builder.sitofp(self.raw, precision.real))


class Lanes:
    """A whole number per lane, to compare with an index."""

    def __init__(self, builder: Builder, raw: LLVM) -> None:
        self.builder = builder
        self.raw = raw

    def _compare(self, sign: str, number: Index) -> Mask:
        spread = splat(self.builder, number.raw, lanes(self.raw))
        return Mask(self.builder, self.builder.icmp_signed(sign, self.raw, spread))

    def __lt__(self, number: Index) -> Mask:
        return self._compare("<", number)

    def equals(self, number: Index) -> Mask:
        """True in the lane that has this number."""
        return self._compare("==", number)
