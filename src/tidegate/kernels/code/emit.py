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

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Generic, TypeAlias, TypeVar

import llvmlite.ir as ir  # type: ignore[import-untyped]

from tidegate.kernels.code.indices import I64, Index, Lanes
from tidegate.kernels.code.places import Flags, Reals, Words
from tidegate.kernels.code.vector import (
    DOUBLE,
    LLVM,
    SINGLE,
    Bits,
    Builder,
    Mask,
    Precision,
    Vector,
    constant,
    shaped,
    splat,
)

__all__ = [
    "DOUBLE",
    "I64",
    "SINGLE",
    "Emitter",
    "Flags",
    "Index",
    "Reals",
    "Variable",
    "Vector",
    "Words",
]

Changing = TypeVar("Changing", Vector, Index, Bits)


class Variable(Generic[Changing]):
    """A vector, an index or bits that change: read and assign ``value``.

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


Argument: TypeAlias = Reals | Words | Index | Vector


class Emitter:
    """The function ``name`` of ``module`` while it is being written.

    Args:
        module: the ``llvmlite.ir.Module`` that the function is added to.
        name: its name; exported unless ``finish`` wraps it.
        arguments: name -> ``Reals`` or ``Words`` (pointers), ``Index`` (64 bits) or ``Vector``
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

    def bits(self, number: int, *, width: int = 1) -> Bits:
        """A 32-bit whole number in ``width`` lanes."""
        return Bits(self.builder, constant(shaped(ir.IntType(32), width), number))

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
