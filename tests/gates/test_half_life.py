"""Every direction against 60 digits of mpmath, over all floats, and at the ends."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tidegate import gates
from tidegate._core.errors import UsageError

LARGEST, LEAST_NORMAL = np.finfo(float).max, np.finfo(float).tiny
anything = st.floats(allow_nan=False, allow_infinity=False)
near_zero = st.floats(-60, 60)
shares = st.floats(0, 1, exclude_min=True, exclude_max=True)
mp = mpmath.mp.clone() if hasattr(mpmath.mp, "clone") else mpmath.mp
mp.dps = 700  # exp(-750) beside 1 needs 326 digits


def agrees(got: float, exact: mpmath.mpf, ulps: float = 8) -> bool:
    """Within ``ulps``, where the value is a normal float; else as near as subnormals are."""
    if abs(exact) > LARGEST:
        return math.isinf(got) or abs(got) >= LARGEST * (1 - 1e-15)
    if abs(exact) < LEAST_NORMAL:
        return abs(mp.mpf(float(got)) - exact) <= 4 * 5e-324
    return abs(mp.mpf(float(got)) - exact) <= ulps * 2.0**-53 * abs(exact)


def softplus(x: mpmath.mpf) -> mpmath.mpf:
    # mpmath's log1p keeps its digits where exp(x) is far below 1.
    return mp.log1p(mp.exp(x)) if x < 2000 else x


def small(z: float) -> mpmath.mpf:
    """softplus(-z)."""
    return softplus(-mp.mpf(z))


@pytest.mark.parametrize("case", [(0.9, "6.579"), (0.95, "13.513"), (0.999, "692.801")])
def test_known_half_lives(case: tuple[float, str]) -> None:
    assert f"{gates.half_life_from_retention(case[0]):.3f}" == case[1]


def test_a_preactivation_of_120_is_no_infinity() -> None:
    got = gates.half_life_from_preactivation(120.0)
    assert agrees(got, mp.log(2) / small(120.0), 4)
    assert f"{got:.1e}" == "9.0e+51"
    assert math.isinf(gates.half_life_from_retention(gates.retention_from_preactivation(120.0)))


@given(st.one_of(near_zero, st.floats(-800, 800), st.floats(-1e4, 720)))
@example(30.5)
@example(36.7)
@example(40.0)
@example(40.00000001)
@example(709.9)
@example(-1e4)
def test_half_life_from_preactivation(z: float) -> None:
    assert agrees(gates.half_life_from_preactivation(z), mp.log(2) / small(z))


@given(st.one_of(near_zero, st.floats(-1e4, 744)))
def test_log_retention_from_preactivation(z: float) -> None:
    assert agrees(gates.log_retention_from_preactivation(z), -small(z))


@given(st.one_of(near_zero, st.floats(-740, 740)))
def test_retention_from_preactivation(z: float) -> None:
    assert agrees(gates.retention_from_preactivation(z), 1 / (1 + mp.exp(-mp.mpf(z))))


@given(st.one_of(shares, st.floats(0.4999, 0.5001)))
@example(0.5 + 2.0**-52)
@example(0.25)
@example(0.75)
@example(5e-324)
@example(1 - 2.0**-53)
def test_preactivation_from_retention(f: float) -> None:
    exact = mp.log(mp.mpf(f) / (1 - mp.mpf(f)))
    assert agrees(gates.preactivation_from_retention(f), exact)


@given(st.one_of(st.floats(-1e308, -1e-308), st.floats(-3, -1e-3), st.floats(-0.6932, -0.6931)))
@example(-math.log(2))
@example(-0.3)
@example(-0.31)
@example(-0.9931)
@example(-5e-324)
def test_preactivation_from_log_retention(kept: float) -> None:
    x = -mp.mpf(kept)
    exact = -mp.log(mp.expm1(x)) if x < 1500 else -x
    assert agrees(gates.preactivation_from_log_retention(kept), exact)


@given(
    st.one_of(
        st.floats(1e-305, LARGEST), st.floats(0.3, 3), st.floats(0.999, 1.001), st.floats(1, 1e12)
    )
)
@example(0.5)
@example(2.0)
@example(1e8)
@example(LARGEST)
@example(math.nextafter(1, 2))
def test_preactivation_from_half_life(h: float) -> None:
    x = mp.log(2) / mp.mpf(h)
    exact = -mp.log(mp.expm1(x)) if x < 1500 else -x
    assert agrees(gates.preactivation_from_half_life(h), exact)


@given(shares)
def test_half_life_from_retention(f: float) -> None:
    assert agrees(gates.half_life_from_retention(f), -mp.log(2) / mp.log(mp.mpf(f)))
    assert gates.half_life_from_retention(-f) == gates.half_life_from_retention(f)


@given(st.floats(1e-3, LARGEST))
def test_retention_from_half_life(h: float) -> None:
    exact = mp.power(2, -1 / mp.mpf(h))
    # 1/h is rounded before it becomes an exponent: as many ulps more as the exponent is large.
    assert agrees(gates.retention_from_half_life(h), exact, 4 + 2 / h)
    assert agrees(gates.log_retention_from_half_life(h), -mp.log(2) / mp.mpf(h))


ROUND_TRIPS = [
    (gates.half_life_from_preactivation, gates.preactivation_from_half_life, (-1e5, 700.0)),
    (gates.log_retention_from_preactivation, gates.preactivation_from_log_retention, (-1e5, 700.0)),
    (gates.half_life_from_log_retention, gates.log_retention_from_half_life, (-1e300, -1e-300)),
]


@pytest.mark.parametrize(("there", "back", "ends"), ROUND_TRIPS)
@given(share=st.floats(0, 1))
def test_there_and_back(there: Callable, back: Callable, ends: tuple, share: float) -> None:
    x = ends[0] + share * (ends[1] - ends[0])
    assert back(there(x)) == pytest.approx(x, rel=1e-14, abs=1e-14)


@settings(max_examples=300)
@given(st.floats())
@pytest.mark.filterwarnings("error")
def test_no_float_is_too_much(x: float) -> None:
    """No warning, no exception, the right shape; a number only where it can be one."""
    for name in gates.__all__:
        if "_from_" in name:
            value = np.asarray(getattr(gates, name)(x))
            assert value.shape == () and value.dtype == np.float64
    half_life = float(gates.half_life_from_log_retention(x))
    words = gates.half_life_words(x)
    assert math.isnan(half_life) == (words in ("none", "grows"))
    assert (words == "forever") == (x == 0)
    assert words.endswith("steps") == (-math.inf < x < 0)


@given(anything, anything)
def test_a_larger_preactivation_never_forgets_sooner(one: float, other: float) -> None:
    low, high = sorted((one, other))
    half_lives = gates.half_life_from_preactivation([low, high])
    assert half_lives[0] <= half_lives[1]
    assert np.all(np.diff(gates.log_retention_from_preactivation([low, high])) >= 0)


def test_where_there_is_no_half_life_words_say_why() -> None:
    cases = {0.0: "forever", 1e-9: "grows", -math.inf: "none", math.nan: "none"}
    assert {kept: gates.half_life_words(kept) for kept in cases} == cases
    assert gates.half_life_words(-5e-324) == "more than 1.8e+308 steps"
    assert gates.half_life_words(math.log(0.9)) == "6.579 steps"
    np.testing.assert_array_equal(
        gates.half_life_from_retention([0.0, 1.0, 1.5, -1.0]), [np.nan, np.inf, np.nan, np.inf]
    )
    np.testing.assert_array_equal(
        gates.preactivation_from_retention([-0.1, 0.0, 1.0, 1.1]), [np.nan, -np.inf, np.inf, np.nan]
    )
    for back in (gates.preactivation_from_half_life, gates.retention_from_half_life):
        assert np.isnan(back([0.0, -1.0])).all()
    np.testing.assert_array_equal(
        gates.preactivation_from_log_retention([0.0, 1.0, -np.inf]), [np.inf, np.nan, -np.inf]
    )


def test_arrays_keep_their_shape() -> None:
    f = np.array([[0.9, 0.5], [0.1, 0.99]], np.float32)
    assert gates.half_life_from_retention(f).shape == (2, 2)
    assert gates.half_life_from_retention([0.5, 1]).tolist() == [1.0, math.inf]


def test_half_precision_is_refused() -> None:
    """Trouble 18: in float16 every half-life above 1,419 steps reads as forever."""
    with pytest.raises(UsageError, match="float16"):
        gates.half_life_from_retention(np.float16(0.999))
    with pytest.raises(UsageError, match="expected numbers"):
        gates.half_life_from_retention("long")  # type: ignore[arg-type]
