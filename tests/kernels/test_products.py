"""Products in register tiles against NumPy, for every height and width of tile."""

from __future__ import annotations

import ctypes

import llvmlite.ir as ir
import numpy as np
import pytest

from tidegate.kernels.code import jit
from tidegate.kernels.code.cpu import HASWELL, NEOVERSE_N1, Target, host, host_with_avx2
from tidegate.kernels.code.emit import Index
from tidegate.kernels.code.products import COLUMNS, FOLD, PACK, PRODUCT, write_products
from tidegate.kernels.code.tiles import Tiling
from tidegate.kernels.code.vector import DOUBLE, SINGLE

TARGETS = [host()] + [host_with_avx2()] * (host().vector_bits == 512)
DTYPES = {np.float32: SINGLE, np.float64: DOUBLE}


class Machine:
    """The functions of ``write_products``, callable with arrays and numbers."""

    def __init__(self, target: Target, dtype) -> None:
        self.dtype, self.tiling = dtype, Tiling.of(target, DTYPES[dtype])
        module = ir.Module("products")
        functions = write_products(module, self.tiling, DTYPES[dtype])
        for function in vars(functions).values():
            function.linkage = "external"
        text = str(module)
        self.library = jit.library("products", text, lambda: text, target)

    def call(self, name, kinds, *arguments) -> None:
        types = [ctypes.c_int64 if k is Index else ctypes.c_void_p for k in kinds.values()]
        given = [a.ctypes.data if isinstance(a, np.ndarray) else a for a in arguments]
        self.library.function(name, *types)(*given)

    def packed(self, matrix: np.ndarray) -> np.ndarray:
        """A right matrix (k, columns) packed."""
        block = self.tiling.block
        blocks = -(-matrix.shape[1] // block)
        target = np.full(matrix.shape[0] * blocks * block, np.nan, self.dtype)
        columns = np.array(
            [[b * block, min(block, matrix.shape[1] - b * block)] for b in range(blocks)]
        )
        starts = np.array([[0, len(matrix)]])
        self.call(
            "pack", PACK, target, matrix, columns, blocks, 1, 1, len(matrix), starts,
            matrix.shape[1],
        )  # fmt: skip
        return target

    def product(self, left, right) -> np.ndarray:
        """left @ right, the result blocked (blocks, rows, block)."""
        rows, inner = left.shape
        blocks = -(-right.shape[1] // self.tiling.block)
        result = np.full((blocks, rows, self.tiling.block), np.nan, self.dtype)
        self.call(
            "product", PRODUCT, rows, 1, inner, np.zeros(1, np.int64), left, inner,
            self.packed(right), 0, blocks, result, self.tiling.block, rows * self.tiling.block,
        )  # fmt: skip
        return result


@pytest.fixture(scope="module", params=TARGETS, ids=lambda target: target.identity)
def target(request):
    return request.param


@pytest.fixture(scope="module", params=DTYPES, ids=lambda dtype: dtype.__name__)
def machine(request, target, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIDEGATE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield Machine(target, request.param)


def numbers(shape, dtype, seed=0):
    """Small whole numbers, whose products and sums are exact in any order."""
    return np.random.default_rng(seed).integers(-9, 10, shape).astype(dtype)


def in_columns(blocked: np.ndarray) -> np.ndarray:
    blocks, rows, block = blocked.shape
    return np.moveaxis(blocked, 0, 1).reshape(rows, blocks * block)


@pytest.mark.parametrize("columns", [1, 15, 16, 17, 33, 50, 64, 70, 130])
def test_a_product_of_any_height_and_width_is_exact(machine, columns):
    for rows in [*range(14), 25, 40]:
        for inner in (0, 1, 7):
            left = numbers((rows, inner), machine.dtype)
            right = numbers((inner, columns), machine.dtype, seed=1)
            got = in_columns(machine.product(left, right))
            np.testing.assert_array_equal(got[:, :columns], left @ right)
            assert not got[:, columns:].any()


def test_a_result_depends_on_its_row_and_column_alone(machine):
    rng = np.random.default_rng(2)
    left, right = (rng.normal(size=s).astype(machine.dtype) for s in ((31, 50), (50, 90)))
    whole = in_columns(machine.product(left, right))[:, :90]
    for rows in (1, 5, 12):
        part = in_columns(machine.product(left[-rows:].copy(), right[:, :30].copy()))
        np.testing.assert_array_equal(part[:, :30], whole[-rows:, :30])
    np.testing.assert_allclose(whole, left @ right, rtol=0, atol=1e-5)


def test_columns_are_gathered_over_rows_and_added_where_asked(machine):
    block = machine.tiling.block
    for rows in (1, 2, 11, 12, 13, 30):
        for count in (0, 1, 9):
            for blocks in (1, 2, 3):
                left = numbers((count, rows), machine.dtype)
                right = numbers((blocks, count, block), machine.dtype, seed=1)
                exact = np.einsum("kn,bku->bnu", left, right)
                result = np.full((blocks, rows, block), np.nan, machine.dtype)
                for times in (1, 2):
                    machine.call(
                        "columns", COLUMNS, count, rows, left, rows, right, count * block,
                        blocks, result, times - 1,
                    )  # fmt: skip
                    np.testing.assert_array_equal(result, exact * times)


def test_what_is_packed_is_the_matrix_and_zeros(machine):
    block, group = machine.tiling.block, machine.tiling.group
    matrix = numbers((3, group * block + 5), machine.dtype)
    packed = machine.packed(matrix)
    first = packed[: 3 * group * block].reshape(3, group * block)
    rest = packed[3 * group * block :].reshape(3, block)
    np.testing.assert_array_equal(first, matrix[:, : group * block])
    np.testing.assert_array_equal(rest[:, :5], matrix[:, group * block :])
    assert not rest[:, 5:].any()


def test_packing_takes_columns_that_lie_apart_and_rows_that_end_early(machine):
    block = machine.tiling.block
    matrix = numbers((block + 3, 4), machine.dtype)  # its rows become columns
    target = np.full((4 + 2, 2, block), np.nan, machine.dtype)
    columns = np.array([[0, block], [block * 4, 3]])
    starts = np.array([[0, 3], [3, 1]])
    machine.call("pack", PACK, target, matrix, columns, 2, 4, 2, 3, starts, 1)
    flat = target.reshape(-1)
    width = min(2, machine.tiling.group)
    packed = flat.reshape(2 // width, 6, width, block)
    for b, (start, lanes) in enumerate(((0, block), (block, 3))):
        got = packed[b // width, :, b % width]
        wanted = matrix[start : start + lanes]
        np.testing.assert_array_equal(got[[0, 1, 2, 3], :lanes], wanted.T)
        assert not got[[4, 5]].any() and not got[:, lanes:].any()


def test_folding_turns_a_block_and_adds_where_asked(machine):
    block = machine.tiling.block
    source = numbers((7, block), machine.dtype)
    result = np.full((3, 7), np.nan, machine.dtype)
    for add in (0, 1):
        machine.call("fold", FOLD, result, source, 3, 7, add)
        np.testing.assert_array_equal(result, source[:, :3].T * (add + 1))


def test_tiles_leave_registers_for_what_is_loaded():
    assert Tiling.of(NEOVERSE_N1, SINGLE).packed == {1: 6}
    assert Tiling.of(HASWELL, DOUBLE).columns == {1: 6}
    wide = Target("x86_64-unknown-linux-gnu", "znver5", "", 512)
    assert Tiling.of(wide, SINGLE).packed == {1: 12, 2: 12, 3: 8, 4: 6}
    assert Tiling.of(Target("x86_64-unknown-linux-gnu", "x86-64", "", 128), SINGLE).packed == {1: 2}
