"""One function of the code calls another, runs one of several pieces, reads a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import llvmlite.ir as ir  # type: ignore[import-untyped]

from tidegate.kernels.code.emit import I64, Emitter, Index, Reals, Words
from tidegate.kernels.code.vector import LLVM, Vector

__all__ = [
    "Argument",
    "Kinds",
    "address_in",
    "call",
    "call_of",
    "called",
    "entry",
    "internal",
    "pieces",
]

Kinds: TypeAlias = Mapping[str, type[Reals] | type[Words] | type[Index] | type[Vector]]
"""Names and kinds of a function's arguments."""
Argument: TypeAlias = Index | int | Reals | Words | Vector


def internal(code: Emitter, *, inline: bool = False) -> LLVM:
    """End a function that only its module calls, and give it."""
    code.finish()
    code.function.linkage = "internal"
    code.function.attributes.add("alwaysinline" if inline else "noinline")
    return code.function


def call(code: Emitter, function: LLVM, arguments: Iterable[Argument]) -> None:
    """Call a function of the same module, or one that :func:`called` gives."""
    code.builder.call(function, [_raw(argument) for argument in arguments])


def call_of(code: Emitter, function: LLVM, arguments: Iterable[Argument]) -> Callable[[], None]:
    """What writes the call, to be written later."""
    given = list(arguments)
    return lambda: call(code, function, given)


def called(code: Emitter, words: Words, position: int, arguments: Iterable[type[Any]]) -> LLVM:
    """The function whose address is a word, with arguments of these kinds."""
    types = [I64 if kind is Index else ir.PointerType() for kind in arguments]
    pointer = ir.FunctionType(ir.VoidType(), types).as_pointer()
    place = code.builder.gep(words.pointer, [I64(position)], source_etype=I64)
    return code.builder.load(place, align=8, typ=pointer)


def address_in(words: Words, offset: Index | int) -> Words:
    """The same words from ``offset`` on."""
    raw = offset.raw if isinstance(offset, Index) else I64(offset)
    builder = words.builder
    return Words(builder, builder.gep(words.pointer, [raw], source_etype=I64))


def prefetch(place: Reals, offset: Index, *, write: bool) -> None:
    """Have the cache line of a number fetched; a hint, and no error wherever it points."""
    builder, pointer = place.builder, ir.PointerType()
    word = ir.IntType(32)
    name, signature = (
        "llvm.prefetch.p0",
        ir.FunctionType(ir.VoidType(), [pointer, word, word, word]),
    )
    known = builder.module.globals.get(name) or ir.Function(builder.module, signature, name)
    builder.call(known, [place.at(offset).pointer, word(int(write)), word(3), word(1)])


def entry(words: Words, number: Index | int) -> Index:
    """A whole number of a table that stays as it is."""
    return address_in(words, number).index(0)


def pieces(code: Emitter, number: Index, choices: Mapping[int, Callable[[], None]]) -> None:
    """Write every piece of code; the one whose key is ``number`` runs, or none."""
    builder = code.builder
    after = builder.append_basic_block("after")
    switch = builder.switch(number.raw, after)
    for key, write in choices.items():
        block = builder.append_basic_block("piece")
        switch.add_case(I64(key), block)
        builder.position_at_end(block)
        write()
        builder.branch(after)
    builder.position_at_end(after)


def _raw(argument: Argument) -> LLVM:
    if isinstance(argument, int):
        return I64(argument)
    return argument.raw if isinstance(argument, Index | Vector) else argument.pointer
