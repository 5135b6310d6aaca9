"""The processor that code is made for: its vectors, its name, its way with subnormal numbers."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cache

import llvmlite.binding as llvm  # type: ignore[import-untyped]
import llvmlite.ir as ir  # type: ignore[import-untyped]

from tidegate.kernels.code.vector import LLVM, Builder, Precision

__all__ = ["APPLE_M1", "HASWELL", "NEOVERSE_N1", "Target", "flushing", "host", "host_with_avx2"]

_WIDE_VECTOR_COST = 1.22
"""Time of a step's vector operation of full width over one of half the width, where both fit."""


@dataclass(frozen=True)
class Target:
    """A kind of processor.

    Attributes:
        triple: LLVM's name of machine, system and calling convention.
        cpu: LLVM's name of the processor.
        features: LLVM's list of what it can do beyond its name, or nothing.
        vector_bits: size of its vectors.
    """

    triple: str
    cpu: str
    features: str
    vector_bits: int

    @property
    def architecture(self) -> str:
        """``x86_64``, ``aarch64`` or ``arm64``."""
        return self.triple.partition("-")[0]

    @property
    def identity(self) -> str:
        """Short name of everything the machine code depends on here, for cache keys and records.

        >>> HASWELL.identity
        'haswell-256-e3b0c442'
        """
        features = hashlib.sha256(self.features.encode()).hexdigest()[:8]
        return f"{self.cpu}-{self.vector_bits}-{features}"

    def width(self, precision: Precision, units: int | None = None) -> int:
        """Lanes of a vector: all that fit, or half of them where ``units`` would be padded less.

        >>> from tidegate.kernels.code.vector import DOUBLE, SINGLE
        >>> HASWELL.width(SINGLE), HASWELL.width(DOUBLE), HASWELL.width(SINGLE, units=3)
        (8, 4, 4)
        """
        full = self.vector_bits // precision.bits
        if units is None or full < 4:
            return full
        costs = {full: _WIDE_VECTOR_COST, full // 2: 1.0}
        return min(costs, key=lambda lanes: costs[lanes] * _vectors_per_step(units, lanes))


def _vectors_per_step(units: int, lanes: int) -> int:
    """Weights of a square layer, in vectors: one row per padded unit."""
    blocks = -(-units // lanes)
    return blocks * blocks * lanes


HASWELL = Target("x86_64-unknown-linux-gnu", "haswell", "", 256)
NEOVERSE_N1 = Target("aarch64-unknown-linux-gnu", "neoverse-n1", "", 128)
APPLE_M1 = Target("arm64-apple-macosx", "apple-m1", "", 128)

_AVX512 = ("avx512f", "avx512vl", "avx512dq", "avx512bw")


@cache
def host() -> Target:
    """The processor at hand."""
    features = llvm.get_host_cpu_features()
    bits = 128
    if features.get("avx2") and features.get("fma"):
        bits = 512 if all(features.get(name) for name in _AVX512) else 256
    return Target(
        llvm.get_process_triple(), llvm.get_host_cpu_name(), features.flatten(), vector_bits=bits
    )


def host_with_avx2() -> Target:
    """The processor at hand taken for one with AVX2 and nothing newer (x86 only)."""
    return replace(host(), cpu=HASWELL.cpu, features="", vector_bits=256)


def flushing(body: LLVM, name: str, target: Target) -> LLVM:
    """Export ``body`` as ``name``, run with subnormal numbers taken as zero.

    The mode is set on entry and the caller's comes back on return, so the process never sees it.
    ``body`` becomes internal and stays a call: no instruction of it can move past the switch.
    """
    body.linkage = "internal"
    body.attributes.add("noinline")
    function = ir.Function(body.module, body.function_type, name)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    switch, restore = _SWITCHES.get(target.architecture, (_keep, _restore_nothing))
    before = switch(builder)
    builder.call(body, function.args)
    restore(builder, before)
    builder.ret_void()
    return function


def _declared(builder: Builder, name: str, result: LLVM, arguments: list[LLVM]) -> LLVM:
    signature = ir.FunctionType(result, arguments)
    return builder.module.globals.get(name) or ir.Function(builder.module, signature, name)


def _mxcsr(builder: Builder, name: str, place: LLVM) -> None:
    pointer = ir.PointerType()
    call = _declared(builder, f"llvm.x86.sse.{name}", ir.VoidType(), [pointer])
    builder.call(call, [builder.bitcast(place, pointer)])


def _switch_x86(builder: Builder) -> LLVM:
    word = ir.IntType(32)
    before, during = builder.alloca(word), builder.alloca(word)
    _mxcsr(builder, "stmxcsr", before)
    flush_and_zero = word(0x8040)  # bit 15: results flushed; bit 6: operands taken as zero
    builder.store(builder.or_(builder.load(before), flush_and_zero), during)
    _mxcsr(builder, "ldmxcsr", during)
    return before


def _restore_x86(builder: Builder, before: LLVM) -> None:
    _mxcsr(builder, "ldmxcsr", before)


def _switch_arm(builder: Builder) -> LLVM:
    word = ir.IntType(64)
    before = builder.call(_declared(builder, "llvm.aarch64.get.fpcr", word, []), [])
    _restore_arm(builder, builder.or_(before, word(1 << 24)))  # FZ
    return before


def _restore_arm(builder: Builder, before: LLVM) -> None:
    word = ir.IntType(64)
    builder.call(_declared(builder, "llvm.aarch64.set.fpcr", ir.VoidType(), [word]), [before])


def _keep(builder: Builder) -> LLVM:
    return None


def _restore_nothing(builder: Builder, before: LLVM) -> None:
    pass


_SWITCHES = {
    "x86_64": (_switch_x86, _restore_x86),
    "aarch64": (_switch_arm, _restore_arm),
    "arm64": (_switch_arm, _restore_arm),
}
