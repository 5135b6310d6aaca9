"""Writing one function: arguments, loops, memory at run-time offsets.

>>> import llvmlite.ir as ir
>>> module = ir.Module("example")
>>> code = Emitter(module, "scale", {"x": Reals, "count": Index, "factor": Vector}, SINGLE)
>>> x, count, factor = code.arguments
>>> with code.loop(count) as k:
...     x.store(x.load(k * 8, width=8) * factor, k * 8)
>>> code.finish()
>>> "fmul <8 x float>" in str(module)
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Generic, TypeAlias, TypeVar

import llvmlite.ir as ir  # type: ignore[import-untyped]

from tidegate.kernels.vector import (
    DOUBLE,
    LLVM,
    SINGLE,
    Builder,
    Mask,
    Precision,
    Vector,
    constant,
    lanes,
    shaped,
    splat,
)

__all__ = [
    "DOUBLE",
    "SINGLE",
    "Emitter",
    "Index",
    "Integers",
    "Reals",
    "Variable",
    "Vector",
    "Words",
]

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

    def real(self, precision: Precision) -> Vector:
        """The number as a floating-point value of width 1."""
        return Vector(self.builder, self.builder.sitofp(self.raw, precision.real))


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

    def _place(self, position: int) -> LLVM:
        return self.builder.gep(self.pointer, [I64(position)], source_etype=I64)

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

    def double(self, position: int) -> Vector:
        """A double that stays as it is."""
        return Vector(self.builder, self._fixed(position, ir.DoubleType()))

    def count(self, position: int) -> Index:
        """A whole number that changes."""
        return Index(self.builder, self.builder.load(self._place(position), align=8, typ=I64))

    def set_count(self, position: int, number: Index) -> None:
        """Change a whole number."""
        self.builder.store(number.raw, self._place(position), align=8)


class Flags:
    """Bytes in memory, written only."""

    def __init__(self, builder: Builder, pointer: LLVM) -> None:
        self.builder = builder
        self.pointer = pointer

    def store(self, value: Index, offset: Index) -> None:
        """The lowest eight bits of ``value``."""
        byte = ir.IntType(8)
        place = self.builder.gep(self.pointer, [offset.raw], source_etype=byte)
        self.builder.store(self.builder.trunc(value.raw, byte), place, align=1)


class Integers:
    """32-bit signed whole numbers in memory, read only."""

    def __init__(self, builder: Builder, pointer: LLVM) -> None:
        self.builder = builder
        self.pointer = pointer

    def load(self, offset: Index | int = 0) -> Index:
        """One number, widened to 64 bits."""
        raw = offset.raw if isinstance(offset, Index) else I64(offset)
        place = self.builder.gep(self.pointer, [raw], source_etype=ir.IntType(32))
        narrow = self.builder.load(place, align=4, typ=ir.IntType(32))
        return Index(self.builder, self.builder.sext(narrow, I64))


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


Changing = TypeVar("Changing", Vector, Index)


class Variable(Generic[Changing]):
    """A vector or an index that changes: read and assign ``value``.

    It is written as memory, and the compiler's first pass makes a register of it, with the
    merging of values that loops and branches need.
    """

    def __init__(self, builder: Builder, start: Changing) -> None:
        self.builder = builder
        self._kind: type[Changing] = type(start)
        self._type = start.raw.type
        with builder.goto_entry_block():
            self._place = builder.alloca(self._type)
        self.value = start

    @property
    def value(self) -> Changing:
        """What was assigned last."""
        now: Changing = self._kind(self.builder, self.builder.load(self._place, typ=self._type))
        return now

    @value.setter
    def value(self, new: Changing) -> None:
        self.builder.store(new.raw, self._place)


Argument: TypeAlias = Reals | Integers | Words | Index | Vector


class Emitter:
    """The function ``name`` of ``module`` while it is being written.

    Args:
        module: the ``llvmlite.ir.Module`` that the function is added to.
        name: its name; exported unless ``finish`` wraps it.
        arguments: name -> ``Reals``, ``Integers`` (pointers), ``Index`` (64 bits) or ``Vector``
            (one number of the precision).
        precision: ``SINGLE`` or ``DOUBLE``.
    """

    def __init__(
        self, module: LLVM, name: str, arguments: Mapping[str, type[Argument]], precision: Precision
    ) -> None:
        self.precision = precision
        types = [self._type(kind) for kind in arguments.values()]
        self.function = ir.Function(module, ir.FunctionType(ir.VoidType(), types), name)
        self.builder = ir.IRBuilder(self.function.append_basic_block("entry"))
        for raw, label in zip(self.function.args, arguments, strict=True):
            raw.name = label
        self.arguments: tuple[Any, ...] = tuple(
            self._wrapped(kind, raw)
            for kind, raw in zip(arguments.values(), self.function.args, strict=True)
        )

    def _type(self, kind: type[Argument]) -> LLVM:
        return {Index: I64, Vector: self.precision.real}.get(kind, ir.PointerType())

    def _wrapped(self, kind: type[Argument], raw: LLVM) -> Argument:
        if issubclass(kind, Reals):
            return Reals(self.builder, raw, self.precision)
        return kind(self.builder, raw)

    def index(self, number: int) -> Index:
        """A whole number known now."""
        return Index(self.builder, number)

    def number(self, number: float, *, width: int = 1) -> Vector:
        """A constant in ``width`` lanes."""
        return Vector(self.builder, constant(shaped(self.precision.real, width), float(number)))

    def variable(self, start: Changing) -> Variable[Changing]:
        """A new variable that holds ``start``."""
        return Variable(self.builder, start)

    def lane_numbers(self, width: int, start: Index | int = 0) -> Lanes:
        """start, start + 1, ... as whole numbers, to compare with an index."""
        first = start.raw if isinstance(start, Index) else I64(start)
        ramp = ir.Constant(shaped(I64, width), list(range(width)) if width > 1 else 0)
        return Lanes(self.builder, self.builder.add(ramp, splat(self.builder, first, width)))

    @contextmanager
    def loop(self, count: Index | int) -> Iterator[Index]:
        """Write the body once, run it for k = 0 ... count - 1; what changes is a ``Variable``."""
        end = count if isinstance(count, Index) else self.index(count)
        before = self.builder.block
        body = self.builder.append_basic_block("loop")
        after = self.builder.append_basic_block("done")
        self.builder.cbranch((end >= 1).raw, body, after)
        self.builder.position_at_end(body)
        k = self.builder.phi(I64, "k")
        k.add_incoming(I64(0), before)
        yield Index(self.builder, k)
        following = self.builder.add(k, I64(1), flags=("nsw",))
        k.add_incoming(following, self.builder.block)
        self.builder.cbranch(self.builder.icmp_signed("<", following, end.raw), body, after)
        self.builder.position_at_end(after)

    def flag(self, test: Mask, number: int) -> Index:
        """``number`` where a test of width 1 holds, else 0."""
        return Index(self.builder, self.builder.select(test.raw, I64(number), I64(0)))

    @contextmanager
    def either(self, test: Mask) -> Iterator[tuple[Any, Any]]:
        """Two blocks of code: ``with code.either(test) as (yes, no)``, then ``with yes: ...``."""
        with self.builder.if_else(test.raw) as blocks:
            yield blocks

    @contextmanager
    def when(self, test: Mask) -> Iterator[None]:
        """Write code that runs where a test of width 1 holds."""
        with self.builder.if_then(test.raw):
            yield

    def finish(self) -> None:
        """End the function."""
        self.builder.ret_void()
