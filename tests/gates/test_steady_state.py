"""Constantly driven memories against a loop and against mpmath."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate import gates

mp = mpmath.mp


@given(st.floats(-20, 700), st.floats(-100, 100))
def test_steady_state_from_preactivation(z: float, write: float) -> None:
    with mp.workdps(400):
        exact = float(mp.mpf(write) * (1 + mp.exp(mp.mpf(z))))
    assert gates.steady_state_from_preactivation(z, write) == pytest.approx(exact, rel=1e-14)
    kept = gates.log_retention_from_preactivation(z)
    assert gates.steady_state(kept, write) == pytest.approx(exact, rel=1e-14)


def test_a_bucket_with_a_leak_ends_at_ten_and_without_goes_on() -> None:
    """Trouble 17: write 0.1 for 1e5 steps."""
    c = 0.0
    for _ in range(3000):
        c = 0.99 * c + 0.1
    assert c == pytest.approx(gates.steady_state(np.log(0.99), 0.1), rel=1e-10)
    assert gates.driven_memory(1e5, np.log(0.99), 0.1) == pytest.approx(10.0, rel=1e-12)
    assert gates.driven_memory(1e5, 0.0, 0.1) == pytest.approx(1e4, rel=1e-12)
    assert np.isinf(gates.steady_state(0.0, 0.1)) and np.isnan(gates.steady_state(0.1, 0.1))


@given(st.integers(0, 60), st.floats(0.01, 1.2), st.floats(-5, 5), st.floats(-5, 5))
def test_driven_memory_is_the_loop(steps: int, f: float, write: float, start: float) -> None:
    c = start
    for _ in range(steps):
        c = f * c + write
    assert gates.driven_memory(steps, np.log(f), write, start) == pytest.approx(
        c, rel=1e-9, abs=1e-9
    )


def test_one_time_constant_is_all_but_one_eth_of_the_way() -> None:
    kept = gates.log_retention_from_preactivation(9.0)
    tau = gates.time_constant(kept)
    assert gates.time_constant_from_preactivation(9.0) == pytest.approx(tau, rel=1e-15)
    way = gates.driven_memory(tau, kept) / gates.steady_state(kept)
    assert way == pytest.approx(1 - np.exp(-1), rel=1e-12)
    assert gates.steady_state_from_preactivation(120.0) == pytest.approx(1.304e52, rel=1e-3)
