"""Functions against exact values: units of the last place, special numbers, and the fits."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from mpmath import mp, mpf

from tidegate.cells import functions as cell_functions
from tidegate.kernels.code import functions
from tidegate.kernels.code.cpu import APPLE_M1, NEOVERSE_N1, host, host_with_avx2
from tidegate.kernels.code.jit import assembly

BOUNDS = {
    "exp": (1.1, 1.1),
    "log": (0.9, 0.9),
    "sigmoid": (2.0, 2.0),
    "tanh": (1.9, 2.2),
    "log_sigmoid": (1.7, 1.7),
    "sqrt": (0.5, 0.5),
}
DTYPES = (np.float32, np.float64)
EXACT = {
    "exp": mp.exp,
    "log": mp.log,
    "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
    "tanh": mp.tanh,
    "log_sigmoid": lambda x: -mp.log1p(mp.exp(-x)),
    "sqrt": mp.sqrt,
}
X86 = pytest.mark.skipif(host().architecture != "x86_64", reason="needs an x86-64 processor")
TARGETS = [host(), pytest.param(host_with_avx2(), marks=X86)]


def wide(x):
    return x.astype(np.longdouble)


def softplus(x):
    return np.maximum(wide(x), 0) + np.log1p(np.exp(-np.abs(wide(x))))


EXTENDED = {
    "exp": lambda x: np.exp(wide(x)),
    "log": lambda x: np.log(wide(x)),
    "sigmoid": lambda x: 1 / (1 + np.exp(-wide(x))),
    "tanh": lambda x: np.tanh(wide(x)),
    "log_sigmoid": lambda x: -softplus(-x),
    "sqrt": lambda x: np.sqrt(wide(x)),
}


def arguments(name, dtype):
    """Dense, random, tiny and huge arguments of a function."""
    rng, edge = np.random.default_rng(3), 95 if dtype == np.float32 else 720
    tiny = -30 if dtype == np.float32 else -290
    x = np.concatenate(
        [
            np.linspace(-edge, edge, 40_001),
            np.linspace(-3, 3, 40_001),
            rng.uniform(-20, 20, 40_000),
            rng.normal(size=20_000) * 10.0 ** rng.uniform(tiny, 1, 20_000),
        ]
    )
    if name in ("log", "sqrt"):
        x = np.concatenate([np.abs(x), 10.0 ** rng.uniform(tiny, -tiny, 20_000)])
        x = x[x >= np.finfo(dtype).tiny]
    return x.astype(dtype)


def ulps(got, want):
    """Error in units of the last place of the exact value; 0 where that is out of range."""
    finfo = np.finfo(got.dtype)
    size = np.clip(np.abs(want), finfo.tiny, finfo.max).astype(got.dtype)
    error = np.abs(got.astype(want.dtype) - want) / np.spacing(size)
    inside = (np.abs(want) >= finfo.tiny) & (np.abs(want) <= finfo.max)
    return np.where(inside, error, 0)


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="needs an 80-bit long double")
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.cpu)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EXACT)
def test_error_is_within_the_stated_bound(evaluate, name, dtype, target):
    x = arguments(name, dtype)
    with np.errstate(all="ignore"):
        want = EXTENDED[name](x)
    full = host().width(functions.SINGLE) if dtype == np.float32 else 8
    for width in (4, full):
        with np.errstate(all="ignore"):
            error = ulps(evaluate(getattr(functions, name), x, width=width, target=target), want)
        assert error.max() <= BOUNDS[name][DTYPES.index(dtype)], x[error.argmax()]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EXACT)
def test_error_against_sixty_digits(evaluate, name, dtype):
    x = arguments(name, dtype)[::700]
    got = evaluate(getattr(functions, name), x)
    with mp.workdps(60):
        exact = [EXACT[name](mpf(float(value))) for value in x]
        finfo = np.finfo(dtype)
        for value, result, true in zip(x, got, exact, strict=True):
            if finfo.tiny <= abs(true) <= finfo.max:
                unit = float(np.spacing(dtype(abs(float(true)))))
                error = abs(mpf(float(result)) - true) / unit
                assert error <= BOUNDS[name][DTYPES.index(dtype)], value


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EXACT)
def test_bits_depend_on_neither_width_nor_target(evaluate, name, dtype):
    x = arguments(name, dtype)[::50]
    first, *rest = (
        evaluate(getattr(functions, name), x, width=width, target=target)
        for target in (host(), *([host_with_avx2()] if host().architecture == "x86_64" else []))
        for width in (1, 4, 8, 16)
    )
    for other in rest:
        np.testing.assert_array_equal(first, other)


inf, nan = np.inf, np.nan
SPECIAL = {
    "exp": ([0, -0.0, inf, -inf, 1e4, -1e4, 1e38], [1, 1, inf, 0, inf, 0, inf]),
    "log": ([1, 0, -0.0, inf, -1, -inf], [0, -inf, -inf, inf, nan, nan]),
    "sigmoid": ([0, inf, -inf, 1e30, -1e30], [0.5, 1, 0, 1, 0]),
    "tanh": ([0, -0.0, inf, -inf, 1e30, 1e-30, -1e-30], [0, -0.0, 1, -1, 1, 1e-30, -1e-30]),
    "log_sigmoid": ([inf, -inf, -1e30, 1e30], [0, -inf, -1e30, 0]),
    "sqrt": ([4, 0, -0.0, inf, -1], [2, 0, -0.0, inf, nan]),
    "absolute": ([-2, -0.0, -inf], [2, 0, inf]),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SPECIAL)
def test_special_numbers(evaluate, name, dtype):
    x, want = (np.array([*numbers, nan], dtype) for numbers in SPECIAL[name])
    got = evaluate(getattr(functions, name), x)
    np.testing.assert_array_equal(got, want)
    if name in ("tanh", "sqrt", "absolute"):
        zeros = want == 0
        np.testing.assert_array_equal(np.signbit(got[zeros]), np.signbit(want[zeros]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_tanh_is_odd_and_sigmoids_add_to_one(evaluate, dtype):
    x = arguments("tanh", dtype)
    np.testing.assert_array_equal(evaluate(functions.tanh, -x), -evaluate(functions.tanh, x))
    both = evaluate(lambda v: functions.sigmoid(v) + functions.sigmoid(-v), x)
    np.testing.assert_allclose(both, 1, atol=3 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES)
def test_ends_of_the_range_of_exp(evaluate, dtype):
    finfo = np.finfo(dtype)
    edges = np.log(np.array([finfo.tiny, finfo.max], np.float64)).astype(dtype)
    x = np.concatenate(
        [np.linspace(edge * dtype(0.999), edge * dtype(1.001), 5001) for edge in edges]
    )
    x = x.astype(dtype)
    got = evaluate(functions.exp, x)
    with np.errstate(over="ignore"):
        want = np.exp(x)
    normal = (want >= finfo.tiny) & np.isfinite(want)
    np.testing.assert_allclose(got[normal], want[normal], rtol=2 * finfo.eps)
    assert (got[want < finfo.tiny] <= finfo.tiny).all()
    assert (got[np.isinf(want)] >= finfo.max * (1 - finfo.eps)).all()


def test_cells_functions_mean_these_on_vectors(evaluate):
    x, y = (np.random.default_rng(k).normal(size=64) for k in (0, 1))
    for name in ("exp", "sigmoid", "tanh", "log_sigmoid", "absolute", "fixed"):
        form = getattr(cell_functions, name)
        np.testing.assert_allclose(evaluate(form, x), form(x), rtol=1e-15)
    for name in ("maximum", "minimum"):
        form = getattr(cell_functions, name)
        np.testing.assert_array_equal(evaluate(form, x, y), form(x, y))
        np.testing.assert_array_equal(evaluate(partial(form, 0.3), x), form(0.3, x))
    choose = cell_functions.choose
    np.testing.assert_array_equal(
        evaluate(lambda a, b: choose(a, 0.2, b, -1.0), x, y), choose(x, 0.2, y, -1.0)
    )
    np.testing.assert_array_equal(
        evaluate(lambda a, b: choose(0.2, a, 2.0, b), x, y), choose(0.2, x, 2.0, y)
    )


@pytest.mark.parametrize("target", [host(), NEOVERSE_N1, APPLE_M1], ids=lambda target: target.cpu)
@pytest.mark.parametrize("name", EXACT)
def test_no_function_leaves_vector_code(text_of, name, target):
    text = text_of(getattr(functions, name), 1, target.width(functions.SINGLE), False, target)
    kernel = assembly(text, target).partition("kernel:")[0]
    assert "call" not in kernel and "\tbl\t" not in kernel


def remez(function, weight, low, high, degree):
    """Minimax polynomial of weight * (p - function) by exchange of its extrema."""
    count = degree + 2
    points = [
        (low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * k / (count - 1)) for k in range(count)
    ]
    grid = [
        (low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * k / (24 * count))
        for k in range(24 * count + 1)
    ]
    for _ in range(6):
        system, right = mp.matrix(count, count), mp.matrix(count, 1)
        for row, x in enumerate(points):
            for k in range(count - 1):
                system[row, k] = x**k * weight(x)
            system[row, count - 1] = (-1) ** row
            right[row] = function(x) * weight(x)
        p = list(mp.lu_solve(system, right))[:-1]
        error = [(mp.polyval(p[::-1], x) - function(x)) * weight(x) for x in grid]
        points = [grid[k] for k in extrema(error, count)]
    return p


def extrema(error, count):
    """The place of the largest error in each run of one sign, ``count`` of them."""
    runs = [[0]]
    for k in range(1, len(error)):
        if (error[k] > 0) == (error[k - 1] > 0):
            runs[-1].append(k)
        else:
            runs.append([k])
    peaks = [max(run, key=lambda k: abs(error[k])) for run in runs]
    while len(peaks) > count:
        peaks.pop(0 if abs(error[peaks[0]]) < abs(error[peaks[-1]]) else -1)
    return peaks


def largest_error(p, function, weight, low, high):
    points = [low + (high - low) * mpf(k) / 500 for k in range(501)]
    return max(abs((mp.polyval(p[::-1], x) - function(x)) * weight(x)) for x in points)


@pytest.mark.parametrize("constants", [functions._SINGLE, functions._DOUBLE], ids=["32", "64"])
def test_polynomials_are_minimax_fits(constants):
    """The constants are as good as a fit made here, up to the rounding of coefficients."""
    unit = mpf(2) ** -(24 if constants is functions._SINGLE else 53)
    with mp.workdps(60):
        half, root = mp.log(2) / 2, mp.sqrt(2)
        fits = (
            (
                constants.expm1,
                lambda r: (mp.expm1(r) - r) / r**2 if r else mpf(1) / 2,
                2,
                -half,
                half,
            ),
            (
                constants.log1p,
                lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3 if f else mpf(1) / 3,
                2,
                1 / root - 1,
                root - 1,
            ),
        )
        for ours, function, power, low, high in fits:
            case = (function, lambda x, power=power: x**power, low, high)
            best = largest_error(remez(*case, len(ours) - 1), *case)
            assert largest_error([mpf(c) for c in ours], *case) < best + unit / 8
            assert best < unit / 8
