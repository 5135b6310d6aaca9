"""Values of LLVM code with Python operators: the lanes of one vector, or one number.

An expression over :class:`Vector` *is* code: ``f * c + i * g`` appends three instructions to the
builder and returns the value of the last. No fast-math flag is ever set and nothing is fused
unless :meth:`Vector.fma` says so, so the bits of a result depend on the expression alone and not
on what an optimiser found profitable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import llvmlite.ir as ir  # type: ignore[import-untyped]

Builder: TypeAlias = Any
"""An ``llvmlite.ir.IRBuilder``; llvmlite carries no types."""
LLVM: TypeAlias = Any
"""A value or a type of ``llvmlite.ir``."""


@dataclass(frozen=True)
class Precision:
    """A floating-point format: ``SINGLE`` or ``DOUBLE``."""

    bits: int
    mantissa: int

    @property
    def real(self) -> LLVM:
        """The LLVM type of one number."""
        return ir.FloatType() if self.bits == 32 else ir.DoubleType()

    @property
    def integer(self) -> LLVM:
        """The LLVM integer type with as many bits."""
        return ir.IntType(self.bits)


SINGLE = Precision(bits=32, mantissa=23)
DOUBLE = Precision(bits=64, mantissa=52)


def lanes(value: LLVM) -> int:
    """How many lanes a raw LLVM value has; 1 for a plain number."""
    return int(value.type.count) if isinstance(value.type, ir.VectorType) else 1


def shaped(element: LLVM, width: int) -> LLVM:
    """The LLVM type of ``width`` lanes of ``element``."""
    return element if width == 1 else ir.VectorType(element, width)


def constant(type_: LLVM, number: float) -> LLVM:
    """The same number in every lane."""
    if isinstance(type_, ir.VectorType):
        return ir.Constant(type_, [number] * type_.count)
    return ir.Constant(type_, number)


def shuffle(builder: Builder, value: LLVM, order: list[int]) -> LLVM:
    """The lanes of ``value`` named by ``order``."""
    picked = ir.Constant(ir.VectorType(ir.IntType(32), len(order)), order)
    return builder.shuffle_vector(value, ir.Constant(value.type, ir.Undefined), picked)


def splat(builder: Builder, value: LLVM, width: int) -> LLVM:
    """One number in every lane."""
    if width == 1:
        return value
    empty = ir.Constant(shaped(value.type, width), ir.Undefined)
    first = builder.insert_element(empty, value, ir.Constant(ir.IntType(32), 0))
    return shuffle(builder, first, [0] * width)


def intrinsic(builder: Builder, name: str, *values: LLVM) -> LLVM:
    """Call ``llvm.<name>`` whose result and arguments are all of one floating-point type."""
    type_, width = values[0].type, lanes(values[0])
    element = type_.element if width > 1 else type_
    suffix = "f32" if element == ir.FloatType() else "f64"
    full = f"llvm.{name}.{suffix if width == 1 else f'v{width}{suffix}'}"
    signature = ir.FunctionType(type_, [type_] * len(values))
    known = builder.module.globals.get(full)
    return builder.call(known or ir.Function(builder.module, signature, full), values)


class Mask:
    """A truth value per lane, from a comparison."""

    def __init__(self, builder: Builder, raw: LLVM) -> None:
        self.builder = builder
        self.raw = raw

    def __and__(self, other: Mask) -> Mask:
        return Mask(self.builder, self.builder.and_(self.raw, other.raw))

    def __or__(self, other: Mask) -> Mask:
        return Mask(self.builder, self.builder.or_(self.raw, other.raw))

    def flag(self, number: int) -> Bits:
        """``number`` where true, else 0, as 32-bit whole numbers."""
        type_ = shaped(ir.IntType(32), lanes(self.raw))
        chosen = self.builder.select(self.raw, constant(type_, number), constant(type_, 0))
        return Bits(self.builder, chosen)

    def any(self) -> Mask:
        """Whether it holds in any lane, as width 1."""
        if lanes(self.raw) == 1:
            return self
        word = self.builder.bitcast(self.raw, ir.IntType(lanes(self.raw)))
        return Mask(self.builder, self.builder.icmp_unsigned("!=", word, word.type(0)))

    def __invert__(self) -> Mask:
        return Mask(self.builder, self.builder.not_(self.raw))

    def select(self, yes: Vector, no: Vector | float) -> Vector:
        """``yes`` where true, ``no`` elsewhere; the lane not taken may hold anything."""
        yes, other = yes.spread(lanes(self.raw)).matched(no)
        return Vector(self.builder, self.builder.select(self.raw, yes.raw, other.raw))


class Bits:
    """The lanes of a vector seen as signed integers of the same size."""

    def __init__(self, builder: Builder, raw: LLVM) -> None:
        self.builder = builder
        self.raw = raw

    def _with(self, operation: Callable[[LLVM, LLVM], LLVM], other: Bits | int) -> Bits:
        raw = other.raw if isinstance(other, Bits) else constant(self.raw.type, other)
        return Bits(self.builder, operation(self.raw, raw))

    def __add__(self, other: Bits | int) -> Bits:
        return self._with(self.builder.add, other)

    def __sub__(self, other: Bits | int) -> Bits:
        return self._with(self.builder.sub, other)

    def __and__(self, other: Bits | int) -> Bits:
        return self._with(self.builder.and_, other)

    def __or__(self, other: Bits | int) -> Bits:
        return self._with(self.builder.or_, other)

    def __lshift__(self, count: int) -> Bits:
        return self._with(self.builder.shl, count)

    def __rshift__(self, count: int) -> Bits:
        """Shift right, the sign kept."""
        return self._with(self.builder.ashr, count)

    def __ge__(self, other: Bits | int) -> Mask:
        raw = other.raw if isinstance(other, Bits) else constant(self.raw.type, other)
        return Mask(self.builder, self.builder.icmp_signed(">=", self.raw, raw))

    def real(self) -> Vector:
        """The same bits seen as floating-point numbers."""
        width = lanes(self.raw)
        element = self.raw.type.element if width > 1 else self.raw.type
        real = ir.FloatType() if element.width == 32 else ir.DoubleType()
        return Vector(self.builder, self.builder.bitcast(self.raw, shaped(real, width)))


class Vector:
    """Floating-point lanes, or one number (width 1), as a value of the code being written.

    Operators take vectors of the same width, a vector of width 1 (spread over the lanes), or a
    Python number. Comparisons are false where either side is NaN.
    """

    def __init__(self, builder: Builder, raw: LLVM) -> None:
        self.builder = builder
        self.raw = raw

    @property
    def width(self) -> int:
        """Number of lanes."""
        return lanes(self.raw)

    @property
    def precision(self) -> Precision:
        """The format of a lane."""
        type_ = self.raw.type
        element = type_.element if isinstance(type_, ir.VectorType) else type_
        return SINGLE if element == ir.FloatType() else DOUBLE

    def like(self, number: float) -> Vector:
        """A constant of this vector's shape."""
        return Vector(self.builder, constant(self.raw.type, float(number)))

    def spread(self, width: int) -> Vector:
        """One number in ``width`` lanes; a vector of that width stays as it is."""
        if self.width == width or width == 1:
            return self
        return Vector(self.builder, splat(self.builder, self.raw, width))

    def matched(self, other: Vector | float) -> tuple[Vector, Vector]:
        """Both at the width of the wider."""
        second = other if isinstance(other, Vector) else self.like(other)
        width = max(self.width, second.width)
        return self.spread(width), second.spread(width)

    def _with(self, operation: Callable[[LLVM, LLVM], LLVM], other: Vector | float) -> Vector:
        a, b = self.matched(other)
        return Vector(self.builder, operation(a.raw, b.raw))

    def __add__(self, other: Vector | float) -> Vector:
        return self._with(self.builder.fadd, other)

    def __radd__(self, other: float) -> Vector:
        return self.like(other) + self

    def __sub__(self, other: Vector | float) -> Vector:
        return self._with(self.builder.fsub, other)

    def __rsub__(self, other: float) -> Vector:
        return self.like(other) - self

    def __mul__(self, other: Vector | float) -> Vector:
        return self._with(self.builder.fmul, other)

    def __rmul__(self, other: float) -> Vector:
        return self.like(other) * self

    def __truediv__(self, other: Vector | float) -> Vector:
        return self._with(self.builder.fdiv, other)

    def __rtruediv__(self, other: float) -> Vector:
        return self.like(other) / self

    def __neg__(self) -> Vector:
        return Vector(self.builder, self.builder.fneg(self.raw))

    def fma(self, factor: Vector | float, term: Vector | float) -> Vector:
        """``self * factor + term`` with one rounding."""
        a, b = self.matched(factor)
        a, c = a.matched(term)
        return Vector(
            self.builder, intrinsic(self.builder, "fma", a.raw, b.spread(a.width).raw, c.raw)
        )

    def _compare(self, sign: str, other: Vector | float) -> Mask:
        a, b = self.matched(other)
        return Mask(self.builder, self.builder.fcmp_ordered(sign, a.raw, b.raw))

    def __lt__(self, other: Vector | float) -> Mask:
        return self._compare("<", other)

    def __le__(self, other: Vector | float) -> Mask:
        return self._compare("<=", other)

    def __gt__(self, other: Vector | float) -> Mask:
        return self._compare(">", other)

    def __ge__(self, other: Vector | float) -> Mask:
        return self._compare(">=", other)

    def is_nan(self) -> Mask:
        """True in the lanes that hold no number."""
        return Mask(self.builder, self.builder.fcmp_unordered("uno", self.raw, self.raw))

    def to(self, precision: Precision) -> Vector:
        """The nearest numbers of another precision."""
        if precision == self.precision:
            return self
        change = self.builder.fptrunc if precision == SINGLE else self.builder.fpext
        return Vector(self.builder, change(self.raw, shaped(precision.real, self.width)))

    def bits(self) -> Bits:
        """The same bits seen as integers."""
        integer = shaped(self.precision.integer, self.width)
        return Bits(self.builder, self.builder.bitcast(self.raw, integer))

    def shuffled(self, other: Vector, order: list[int]) -> Vector:
        """The lanes named by ``order``, those of ``other`` counted on from this one's."""
        picked = ir.Constant(ir.VectorType(ir.IntType(32), len(order)), order)
        return Vector(self.builder, self.builder.shuffle_vector(self.raw, other.raw, picked))

    def lane(self, position: int) -> Vector:
        """One lane, as a vector of width 1."""
        place = ir.Constant(ir.IntType(32), position)
        return Vector(self.builder, self.builder.extract_element(self.raw, place))

    def _folded(self, combine: Callable[[Vector, Vector], Vector]) -> Vector:
        folded = self
        while folded.width > 1:
            half = folded.width // 2
            order = list(range(folded.width))
            low, high = (
                Vector(self.builder, shuffle(self.builder, folded.raw, part))
                for part in (order[:half], order[half:])
            )
            folded = combine(low, high) if half > 1 else combine(low.lane(0), high.lane(0))
        return folded

    def total(self) -> Vector:
        """The sum over lanes, as width 1: lane k + lane k + half, halving until one is left."""
        return self._folded(lambda low, high: low + high)

    def larger(self, other: Vector) -> Vector:
        """The larger of two, ``other`` where either is NaN: one instruction on most processors."""
        return (self > other).select(self, other)

    def highest(self) -> Vector:
        """The largest lane, as width 1; where lanes are NaN it may be another."""
        return self._folded(lambda low, high: low.larger(high))


def totals(vectors: list[Vector]) -> Vector:
    """The sum over lanes of each vector, side by side: one lane for each.

    Args:
        vectors: a power of two of them, no more than a vector has lanes.

    Lanes are added by halves as in :meth:`Vector.total`, to the same bits; but pairs of vectors
    share the work, so that eight sums cost little more than two.
    """
    chunk = vectors[0].width
    while len(vectors) > 1:
        pairs = zip(vectors[::2], vectors[1::2], strict=True)
        vectors, chunk = [_halved(a, b, chunk) for a, b in pairs], chunk // 2
    return _chunks_totalled(vectors[0], chunk)


def _halved(a: Vector, b: Vector, chunk: int) -> Vector:
    """Every chunk of lanes added to half its size, those of ``a`` and ``b`` in one vector."""
    low = [k for k in range(2 * a.width) if k % chunk < chunk // 2]
    return a.shuffled(b, low) + a.shuffled(b, [k + chunk // 2 for k in low])


def _chunks_totalled(vector: Vector, chunk: int) -> Vector:
    while chunk > 1:
        low = [k for k in range(vector.width) if k % chunk < chunk // 2]
        vector = vector.shuffled(vector, low) + vector.shuffled(
            vector, [k + chunk // 2 for k in low]
        )
        chunk //= 2
    return vector


def maximum(a: Vector, b: Vector | float) -> Vector:
    """The larger of two, NaN where either is NaN."""
    a, other = a.matched(b)
    return a.is_nan().select(a, (a > other).select(a, other))


def minimum(a: Vector, b: Vector | float) -> Vector:
    """The smaller of two, NaN where either is NaN."""
    a, other = a.matched(b)
    return a.is_nan().select(a, (a < other).select(a, other))
