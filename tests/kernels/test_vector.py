"""Vectors against NumPy, bit for bit; memory and loops against plain sums."""

from __future__ import annotations

import ctypes
import re

import llvmlite.ir as ir
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.kernels.code import jit
from tidegate.kernels.code.cpu import APPLE_M1, HASWELL, NEOVERSE_N1, Target, host
from tidegate.kernels.code.emit import DOUBLE, SINGLE, Emitter, Index, Reals, Words
from tidegate.kernels.code.vector import Vector, maximum, minimum, totals

DTYPES = (np.float32, np.float64)
WIDTHS = (1, 4, 8, 16)


def drawn(dtype, count=64, seed=0):
    return np.random.default_rng(seed).normal(size=count).astype(dtype)


OPERATIONS = {
    "a + b": lambda a, b: a + b,
    "a - b": lambda a, b: a - b,
    "a * b": lambda a, b: a * b,
    "a / b": lambda a, b: a / b,
    "-a": lambda a, b: -a,
    "2 - a": lambda a, b: 2 - a,
    "2 / a": lambda a, b: 2 / a,
    "3 * a + 1": lambda a, b: 1 + 3 * a,
    "two roundings": lambda a, b: a * b + a,
}


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", WIDTHS)
def test_operators_give_numpys_bits(evaluate, name, dtype, width):
    a, b = drawn(dtype), drawn(dtype, seed=1)
    np.testing.assert_array_equal(
        evaluate(OPERATIONS[name], a, b, width=width), OPERATIONS[name](a, b)
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_fma_rounds_once(evaluate, width):
    a, b, c = (drawn(np.float32, seed=k) for k in range(3))
    once = (a.astype(np.float64) * b + c).astype(np.float32)
    assert not np.array_equal(once, a * b + c)
    np.testing.assert_array_equal(evaluate(lambda x, y, z: x.fma(y, z), a, b, c, width=width), once)


@pytest.mark.skipif(host().architecture != "x86_64", reason="needs an x86-64 processor")
def test_fma_rounds_once_where_the_processor_has_none(evaluate):
    """It calls the C library then: code reaches beyond itself."""
    a, b, c = (drawn(np.float32, seed=k) for k in range(3))
    once = (a.astype(np.float64) * b + c).astype(np.float32)
    plain = Target(host().triple, "x86-64", "", 128)
    np.testing.assert_array_equal(
        evaluate(lambda x, y, z: x.fma(y, z), a, b, c, width=4, target=plain), once
    )


def tree_sum(lanes):
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = lanes[:half] + lanes[half:]
    return lanes[0]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_totals_add_halves(evaluate, width, dtype):
    x = drawn(dtype)
    want = np.repeat([tree_sum(row) for row in x.reshape(-1, width)], width)
    got = evaluate(lambda v: v.total().spread(width), x, width=width)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("width", [4, 8, 16])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_many_totals_are_the_bits_of_each(evaluate, width, count):
    x = drawn(np.float32)

    def side_by_side(v):
        sums = totals([v * float(k + 1) for k in range(count)])
        return sums.shuffled(sums, [n % count for n in range(width)])

    got = evaluate(side_by_side, x, width=width).reshape(-1, width)
    for k in range(count):
        alone = evaluate(lambda v, k=k: (v * float(k + 1)).total().spread(width), x, width=width)
        np.testing.assert_array_equal(got[:, k], alone.reshape(-1, width)[:, 0])


def test_masked_memory_is_not_touched():
    def write(code, words):
        count, x, y = words.index(0), words.reals(1, DOUBLE), words.reals(2, SINGLE)
        mask = code.lane_numbers(8) < count
        y.store_where(mask, x.load_where(mask).to(SINGLE) * 2.0)

    x, y = np.arange(1.0, 9.0), np.full(8, -1, np.float32)
    frame = np.array([5, x.ctypes.data, y.ctypes.data])
    compiled(write, {"words": Words}, ctypes.c_void_p)(frame.ctypes.data)
    np.testing.assert_array_equal(y, [2, 4, 6, 8, 10, -1, -1, -1])


@pytest.mark.parametrize("width", WIDTHS)
def test_highest_finds_the_largest(evaluate, width):
    x = drawn(np.float32)
    want = np.repeat(x.reshape(-1, width).max(axis=1), width)
    np.testing.assert_array_equal(
        evaluate(lambda v: v.highest().spread(width), x, width=width), want
    )


SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("dtype", DTYPES)
def test_comparisons_and_selection_on_special_numbers(evaluate, dtype):
    a, b = (grid.ravel().astype(dtype) for grid in np.meshgrid(SPECIAL, SPECIAL))
    for ours, theirs in ((maximum, np.maximum), (minimum, np.minimum)):
        np.testing.assert_array_equal(evaluate(ours, a, b), theirs(a, b))
    pairs = (
        (lambda x, y: x < y, a < b),
        (lambda x, y: x <= y, a <= b),
        (lambda x, y: x > y, a > b),
        (lambda x, y: x >= y, a >= b),
        (lambda x, y: x.is_nan() | y.is_nan(), np.isnan(a) | np.isnan(b)),
        (lambda x, y: (x > y) & (x > 0.0), (a > b) & (a > 0)),
        (lambda x, y: ~(x < y), ~(a < b)),
    )
    for test, want in pairs:
        got = evaluate(lambda x, y, test=test: test(x, y).select(x.like(1.0), 0.0), a, b)
        np.testing.assert_array_equal(got, want)


def test_bits_go_there_and_back(evaluate):
    x = drawn(np.float64)
    doubled = evaluate(lambda v: (v.bits() + (1 << 52)).real(), x)
    np.testing.assert_array_equal(doubled, 2 * x)
    cleared = evaluate(lambda v: ((v.bits() >> 20) << 20).real(), x)
    np.testing.assert_array_equal(cleared, ((x.view(np.int64) >> 20) << 20).view(np.float64))


def compiled(write, arguments, *types):
    """Write a single-precision function and make it callable."""
    module = ir.Module("test")
    code = Emitter(module, "kernel", arguments, SINGLE)
    write(code, *code.arguments)
    code.finish()
    text = str(module)
    return jit.library("test", text, lambda: text).function("kernel", *types)


def test_loops_nest_carry_and_may_be_empty():
    def write(code, x, out, rows, columns):
        with code.loop(rows) as row:
            total = code.variable(code.number(0.0))
            with code.loop(columns) as column:
                total.value = total.value + x.load(row * columns + column)
            out.store(total.value, row)

    kinds = {"x": Reals, "out": Reals, "rows": Index, "columns": Index}
    kernel = compiled(write, kinds, *[ctypes.c_void_p] * 2, *[ctypes.c_int64] * 2)
    x = np.arange(12, dtype=np.float32)
    for rows, columns in ((3, 4), (4, 3), (1, 1), (2, 0), (0, 5)):
        out = np.full(5, -1, np.float32)
        kernel(x.ctypes.data, out.ctypes.data, rows, columns)
        want = np.full(5, -1, np.float32)
        want[:rows] = x[: rows * columns].reshape(rows, columns).sum(axis=1)
        np.testing.assert_array_equal(out, want)


def test_when_runs_only_where_the_test_holds():
    def write(code, x, limit):
        with code.loop(6) as k, code.when(k >= limit):
            x.store(k.real(SINGLE) * 10.0, k)

    x = np.zeros(6, np.float32)
    compiled(write, {"x": Reals, "limit": Index}, ctypes.c_void_p, ctypes.c_int64)(x.ctypes.data, 4)
    np.testing.assert_array_equal(x, [0, 0, 0, 0, 40, 50])


@given(st.integers(0, 40), st.integers(0, 40), st.integers(1, 9))
def test_index_arithmetic_is_the_same_now_and_at_run_time(a, b, c):
    def write(code, words):
        x, y, z = (words.index(k) for k in range(3))
        now = (code.index(a) * b + 7 - c) // c
        later = (x * y + 7 - z) // z
        same = now.equals(later) & (later < now + 1) & (later >= now)
        words.set_count(3, code.index(5) | code.flag(same, 2))

    if a * b + 7 < c:
        return
    words = np.array([a, b, c, 0])
    compiled(write, {"words": Words}, ctypes.c_void_p)(words.ctypes.data)
    assert words[3] == 7


def test_lane_numbers_pick_lanes():
    def write(code, out, index):
        one = code.lane_numbers(4, start=4).equals(index)
        below = code.lane_numbers(4) < index - 4
        out.store(one.select(code.number(1.0, width=4), 0.0))
        out.at(4).store(below.select(code.number(1.0, width=4), 0.0))

    out = np.zeros(8, np.float32)
    compiled(write, {"out": Reals, "index": Index}, ctypes.c_void_p, ctypes.c_int64)(
        out.ctypes.data, 6
    )
    np.testing.assert_array_equal(out, [0, 0, 1, 0, 1, 1, 0, 0])


def test_index_variables_swap():
    def write(code, x, steps):
        here, there = code.variable(code.index(0)), code.variable(code.index(1))
        with code.loop(steps):
            x.store(x.load(here.value) + 1.0, there.value)
            here.value, there.value = there.value, here.value

    x = np.zeros(2, np.float32)
    compiled(write, {"x": Reals, "steps": Index}, ctypes.c_void_p, ctypes.c_int64)(x.ctypes.data, 5)
    np.testing.assert_array_equal(x, [4, 5])


FUSED = re.compile(r"vfmadd|fmla|fmadd")


@pytest.mark.parametrize("target", [host(), HASWELL, NEOVERSE_N1, APPLE_M1], ids=lambda t: t.cpu)
def test_only_fma_is_fused_on_any_processor(text_of, target):
    width = target.width(SINGLE)
    plain = text_of(lambda a, b, c: a * b + c, 3, width, False, target)
    fused = text_of(lambda a, b, c: a.fma(b, c), 3, width, False, target)
    assert not FUSED.search(jit.assembly(plain, target))
    assert FUSED.search(jit.assembly(fused, target))
    assert "fast" not in plain and "contract" not in plain


def test_one_number_spreads_over_lanes(evaluate):
    x = drawn(np.float32)
    got = evaluate(lambda v: v * v.lane(3) + v.lane(0), x, width=8)
    rows = x.reshape(-1, 8)
    np.testing.assert_array_equal(got, (rows * rows[:, 3:4] + rows[:, :1]).ravel())


def test_width_and_precision_are_read_from_the_value(evaluate):
    seen: list[Vector] = []
    evaluate(lambda v: seen.append(v) or v, drawn(np.float64), width=4)
    assert (seen[0].width, seen[0].precision.bits) == (4, 64)
