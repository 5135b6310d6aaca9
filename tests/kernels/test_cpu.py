"""Processors: widths, names, and the mode of subnormal numbers."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from tidegate.kernels.code import jit
from tidegate.kernels.code.cpu import APPLE_M1, HASWELL, NEOVERSE_N1, Target, host, host_with_avx2
from tidegate.kernels.code.vector import DOUBLE, SINGLE

AVX512 = dataclasses.replace(HASWELL, cpu="znver5", vector_bits=512)


@pytest.mark.parametrize(
    ("target", "single", "double"), [(AVX512, 16, 8), (HASWELL, 8, 4), (NEOVERSE_N1, 4, 2)]
)
def test_full_width_fills_a_register(target, single, double):
    assert (target.width(SINGLE), target.width(DOUBLE)) == (single, double)


def test_width_follows_padding():
    at = {units: AVX512.width(SINGLE, units) for units in (1, 8, 9, 16, 17, 20, 24, 25, 64, 128)}
    assert at == {1: 8, 8: 8, 9: 16, 16: 16, 17: 8, 20: 8, 24: 8, 25: 16, 64: 16, 128: 16}
    assert NEOVERSE_N1.width(DOUBLE, 1) == 2


def test_identity_tells_apart_what_code_depends_on():
    others = [
        dataclasses.replace(HASWELL, cpu="skylake"),
        dataclasses.replace(HASWELL, features="+avx2"),
        dataclasses.replace(HASWELL, vector_bits=128),
    ]
    names = {target.identity for target in [HASWELL, *others]}
    assert len(names) == 4
    assert all(re.fullmatch(r"[\w.-]+", name) for name in [*names, host().identity])


def test_host_is_one_object_and_knows_its_vectors():
    assert host() is host()
    assert host().vector_bits in (128, 256, 512)


def subnormals(dtype):
    tiny = np.finfo(dtype).tiny
    return np.array([tiny / 4, -tiny / 8, tiny, -tiny, 1], dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernels_flush_and_leave_the_process_as_it_was(evaluate, dtype):
    x = subnormals(dtype)
    np.testing.assert_array_equal(evaluate(lambda v: v * 1024.0, x)[:2], [0, 0])  # operands
    np.testing.assert_array_equal(evaluate(lambda v: v * 0.5, x)[2:], [0, 0, 0.5])  # results
    assert (x[2:4] / 2 != 0).all()


@pytest.mark.parametrize(
    ("target", "switch", "times"),
    [(HASWELL, "ldmxcsr", 2), (NEOVERSE_N1, r"msr\s+FPCR", 2), (APPLE_M1, r"msr\s+FPCR", 2)],
    ids=lambda value: getattr(value, "cpu", None),
)
def test_the_switch_surrounds_the_call(text_of, target, switch, times):
    text = text_of(lambda v: v * 2.0, 1, target.width(SINGLE), False, target)
    kernel = re.split(r"^_?kernel:", jit.assembly(text, target), flags=re.M)[1]
    marks = re.findall(rf"{switch}|\bcall|\bblr?\b", kernel)
    assert len(marks) == times + 1 and re.match(r"call|bl", marks[1])


def test_an_unknown_architecture_keeps_its_mode(text_of):
    target = Target("riscv64-unknown-linux-gnu", "generic-rv64", "", 128)
    assert "fsflags" not in text_of(lambda v: v * 2.0, 1, 4, False, target)


@pytest.mark.skipif(host().architecture != "x86_64", reason="needs an x86-64 processor")
def test_a_lesser_target_uses_lesser_code(text_of):
    text = text_of(lambda v: v * 2.0, 1, 8, False, host_with_avx2())
    code = jit.assembly(text, host_with_avx2())
    assert "ymm" in code and "zmm" not in code and "{1to" not in code
