"""Memory as code sees it: numbers, words and flags at run-time offsets."""

from __future__ import annotations

import llvmlite.ir as ir  # type: ignore[import-untyped]

from tidegate.kernels.code.indices import I64, Index
from tidegate.kernels.code.vector import (
    LLVM,
    Bits,
    Builder,
    Mask,
    Precision,
    Vector,
    constant,
    lanes,
    shaped,
)

__all__ = ["Flags", "Reals", "Words"]


class Reals:
    """Numbers in memory, of the precision of the function; offsets count numbers.

    No alignment beyond that of one number is asked for.
    """

    def __init__(self, builder: Builder, pointer: LLVM, precision: Precision) -> None:
        self.builder = builder
        self.pointer = pointer
        self.precision = precision

    def at(self, offset: Index | int) -> Reals:
        """The same memory from ``offset`` on."""
        return Reals(self.builder, self._place(offset), self.precision)

    def _place(self, offset: Index | int) -> LLVM:
        raw = offset.raw if isinstance(offset, Index) else I64(offset)
        return self.builder.gep(self.pointer, [raw], source_etype=self.precision.real)

    def load(self, offset: Index | int = 0, *, width: int = 1) -> Vector:
        """``width`` numbers from ``offset`` on."""
        type_ = shaped(self.precision.real, width)
        size = self.precision.bits // 8
        return Vector(self.builder, self.builder.load(self._place(offset), align=size, typ=type_))

    def store(self, value: Vector, offset: Index | int = 0) -> None:
        """Write the lanes of ``value`` from ``offset`` on."""
        self.builder.store(value.raw, self._place(offset), align=self.precision.bits // 8)

    def load_where(self, mask: Mask, offset: Index | int = 0) -> Vector:
        """The numbers whose lane is set, 0 in the others, whose memory is not touched."""
        type_ = shaped(self.precision.real, lanes(mask.raw))
        arguments = [self._place(offset), self._alignment, mask.raw, constant(type_, 0.0)]
        return Vector(self.builder, self._masked("load", type_, type_, arguments))

    def store_where(self, mask: Mask, value: Vector, offset: Index | int = 0) -> None:
        """Write the lanes that are set; the memory of the others is not touched."""
        arguments = [value.raw, self._place(offset), self._alignment, mask.raw]
        self._masked("store", ir.VoidType(), value.raw.type, arguments)

    @property
    def _alignment(self) -> LLVM:
        return ir.IntType(32)(self.precision.bits // 8)

    def _masked(self, kind: str, result: LLVM, type_: LLVM, arguments: list[LLVM]) -> LLVM:
        name = f"llvm.masked.{kind}.v{type_.count}f{self.precision.bits}.p0"
        signature = ir.FunctionType(result, [argument.type for argument in arguments])
        module = self.builder.module
        known = module.globals.get(name) or ir.Function(module, signature, name)
        return self.builder.call(known, arguments)


class Words:
    """64-bit words in memory: sizes, counts and addresses that others left there."""

    def __init__(self, builder: Builder, pointer: LLVM) -> None:
        self.builder = builder
        self.pointer = pointer

    def _place(self, position: Index | int) -> LLVM:
        raw = position.raw if isinstance(position, Index) else I64(position)
        return self.builder.gep(self.pointer, [raw], source_etype=I64)

    def _fixed(self, position: int, type_: LLVM) -> LLVM:
        """A word that nothing changes while the function runs."""
        value = self.builder.load(self._place(position), align=8, typ=type_)
        value.set_metadata("invariant.load", self.builder.module.add_metadata([]))
        return value

    def index(self, position: int) -> Index:
        """A whole number that stays as it is."""
        return Index(self.builder, self._fixed(position, I64))

    def reals(self, position: int, precision: Precision) -> Reals:
        """The numbers at an address that stays as it is."""
        return Reals(self.builder, self._fixed(position, ir.PointerType()), precision)

    def flags(self, position: int) -> Flags:
        """The bytes at an address that stays as it is."""
        return Flags(self.builder, self._fixed(position, ir.PointerType()))

    def words(self, position: int) -> Words:
        """The words at an address that stays as it is."""
        return Words(self.builder, self._fixed(position, ir.PointerType()))

    def double(self, position: int) -> Vector:
        """A double that stays as it is."""
        return Vector(self.builder, self._fixed(position, ir.DoubleType()))

    def count(self, position: Index | int) -> Index:
        """A whole number that changes."""
        return Index(self.builder, self.builder.load(self._place(position), align=8, typ=I64))

    def set_count(self, position: Index | int, number: Index) -> None:
        """Change a whole number."""
        self.builder.store(number.raw, self._place(position), align=8)

    def count_up(self, mask: Mask) -> None:
        """Add 1 to as many words as the mask has lanes, where it is true."""
        type_ = shaped(I64, lanes(mask.raw))
        before = self.builder.load(self._place(0), align=8, typ=type_)
        more = self.builder.zext(mask.raw, type_)
        self.builder.store(self.builder.add(before, more), self._place(0), align=8)


class Flags:
    """Bytes in memory, written only."""

    def __init__(self, builder: Builder, pointer: LLVM) -> None:
        self.builder = builder
        self.pointer = pointer

    def store(self, value: Bits, offset: Index) -> None:
        """The lowest eight bits of every lane, side by side."""
        byte = ir.IntType(8)
        place = self.builder.gep(self.pointer, [offset.raw], source_etype=byte)
        narrow = self.builder.trunc(value.raw, shaped(byte, lanes(value.raw)))
        self.builder.store(narrow, place, align=1)
