"""Compiled sequences against the NumPy truth, and the promises about their bits."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from support.batch import problem
from support.cells import EVERY, name
from tidegate.cells import GRU, LSTM, RNN
from tidegate.kernels import batch, batch_reference
from tidegate.kernels.cpu import host, host_with_avx2

TOLERANCE = {np.float32: 1e-5, np.float64: 1e-11}
NONE = (None, None)


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory):
    """One cache for all tests here, and an empty one: what they see was compiled now."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIDEGATE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def given(p, masked: bool):
    return {"reset": p.reset, "lengths": p.lengths} if masked else {}


def run(module, cell, p, **options):
    return module.forward(cell, p.weights, p.x, p.hidden0, p.memory0, **options)


def assert_close(got, expected, dtype, what):
    assert got.shape == expected.shape and got.dtype == expected.dtype == dtype, what
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    assert np.max(np.abs(got - expected), initial=0.0) <= TOLERANCE[dtype] * scale, what


def values(result) -> dict[str, np.ndarray]:
    found = {n: getattr(result, n) for n in ("hidden", "last_hidden", "last_memory")}
    for kind in ("gates", "slots", "memories"):
        found |= {f"{kind} {n}": v for n, v in getattr(result, kind).items()}
    return found


def gradients(back) -> dict[str, np.ndarray]:
    return {n: getattr(back, n) for n in ("x", "hidden0", "memory0")} | back.weights._asdict()


def assert_same(got, expected):
    assert got.keys() == expected.keys()
    for n in got:
        np.testing.assert_array_equal(got[n], expected[n], err_msg=n)


def check(cell, steps, rows, inputs, units, dtype, masked, reverse, **options):
    p = problem(cell, steps, rows, inputs, units, dtype)
    expected = run(batch_reference, cell, p, reverse=reverse, trace=True, **given(p, masked))
    got = run(batch, cell, p, reverse=reverse, trace=True, **given(p, masked), **options)
    wanted = values(expected)
    assert values(got).keys() == wanted.keys()
    inside = np.ones((steps, rows), bool)
    if masked:
        inside = np.arange(steps)[:, None] < p.lengths
    for n, value in values(got).items():
        traced = " " in n
        here = (value[inside], wanted[n][inside]) if traced else (value, wanted[n])
        assert_close(*here, dtype, n)
    back = gradients(batch.backward(got.saved, *p.errors, **options))
    for n, value in gradients(batch_reference.backward(expected.saved, *p.errors)).items():
        assert_close(back[n], value, dtype, n)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("cell", EVERY, ids=name)
def test_every_cell_is_the_reference_at_odd_sizes(cell, dtype):
    sizes = [(1, 1, 1, 1), (7, 5, 5, 3), (7, 33, 1, 17), (4, 5, 5, 33), (7, 1, 5, 17)]
    for n, size in enumerate(sizes):
        check(cell, *size, dtype, masked=n % 2 == 1, reverse=n in (2, 3))


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_wide_layers_fill_several_strips_and_chunks(masked, reverse):
    check(LSTM(), 70, 9, 80, 96, np.float32, masked, reverse)
    check(GRU(), 300, 2, 16, 112, np.float64, masked, reverse)
