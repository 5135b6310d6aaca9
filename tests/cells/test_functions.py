"""What cells may use in ``step``: exact at the ends, without a warning, in the dtype it came in."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, log_expit

from tidegate.cells import functions as f

ENDS = [0.0, -0.0, 1e-30, -1e-30, 1.0, -1.0, 80.0, -80.0, 700.0, -700.0, np.inf, -np.inf, np.nan]
DTYPES = [np.float32, np.float64]
ONE = {
    "sigmoid": expit,
    "tanh": np.tanh,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "log_sigmoid": log_expit,
    "absolute": np.abs,
    "fixed": lambda x: x,
}


def true_values(name: str, x: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return ONE[name](x.astype(np.float64)).astype(x.dtype)


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("dtype", DTYPES)
def test_one_argument_at_the_ends(name, dtype):
    x = np.array(ENDS, dtype)
    got = getattr(f, name)(x)
    assert got.dtype == dtype
    np.testing.assert_allclose(got, true_values(name, x), rtol=4 * np.finfo(dtype).eps, atol=0)


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("value", ENDS)
def test_plain_numbers_are_taken(name, value):
    got = getattr(f, name)(value)
    np.testing.assert_allclose(got, true_values(name, np.array(value)), rtol=1e-15)
    assert np.ndim(got) == 0


@pytest.mark.parametrize("name", ["sigmoid", "log_sigmoid", "exp", "tanh"])
def test_one_number_of_single_precision_stays_one(name):
    assert getattr(f, name)(np.float32(0.3)).dtype == np.float32


@pytest.mark.parametrize("name", ["maximum", "minimum"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_larger_and_smaller_keep_nan_and_dtype(name, dtype):
    x, y = (grid.ravel().astype(dtype) for grid in np.meshgrid(ENDS, ENDS))
    got = getattr(f, name)(x, y)
    want = [
        float("nan") if a != a or b != b else (max if name == "maximum" else min)(a, b)
        for a, b in zip(x.tolist(), y.tolist(), strict=True)
    ]
    np.testing.assert_array_equal(got, want)
    assert got.dtype == dtype and getattr(f, name)(x, 0.5).dtype == dtype


@pytest.mark.parametrize("dtype", DTYPES)
def test_choose_takes_the_first_at_a_tie_and_the_second_at_nan(dtype):
    x = np.array([1.0, 2.0, 3.0, np.nan, np.inf], dtype)
    got = f.choose(x, 2.0, 1.0, -1.0)
    np.testing.assert_array_equal(got, [-1, 1, 1, -1, 1])
    assert got.dtype == dtype
    assert f.choose(1.0, 2.0, x, 0.25).dtype == dtype
    np.testing.assert_array_equal(f.choose(1.0, 2.0, x, 0.25), np.full(5, 0.25))
    assert float(f.choose(2, 1, 3.0, 4.0)) == 3.0


def test_log_sigmoid_is_exact_where_the_gate_rounds_to_1():
    assert f.sigmoid(120.0) == 1.0
    for z in (120.0, 37.0, 1.0, -3.0, -750.0):
        with mpmath.workdps(80):
            exact = float(-mpmath.log1p(mpmath.exp(-mpmath.mpf(z))))
        assert float(f.log_sigmoid(z)) == pytest.approx(exact, rel=1e-15, abs=0)


@given(st.floats(-745, 745))
def test_sigmoid_has_full_relative_accuracy_everywhere(x):
    with mpmath.workdps(50):
        exact = float(1 / (1 + mpmath.exp(-mpmath.mpf(x))))
    assert float(f.sigmoid(x)) == pytest.approx(exact, rel=1e-15, abs=5e-324)


def test_a_registered_kind_is_met_at_any_place_and_by_its_subclasses():
    class Kind:
        pass

    class Special(Kind):
        pass

    f.register(Kind, {"maximum": lambda x, y: "ours"})
    assert f.maximum(1.0, Special()) == f.maximum(Kind(), 2.0) == "ours"
