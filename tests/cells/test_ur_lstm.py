"""UR-LSTM: the refine gate and the uniform start."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from support.values import drawn, groups, stepped
from tidegate.calculus import derive
from tidegate.cells import URLSTM


def test_step_is_the_published_equations():
    known = drawn(URLSTM())
    z, past, par = groups(known).values()
    f, r = expit(z["f"] + par["b"]), expit(z["r"] - par["b"])
    k = f + f * (1 - f) * (2 * r - 1)
    c = k * past["c"] + (1 - k) * np.tanh(z["g"])
    step = stepped(URLSTM(), known)
    np.testing.assert_allclose(step.c, c, rtol=1e-12)
    np.testing.assert_allclose(step.h, expit(z["o"]) * np.tanh(c), rtol=1e-12)


def test_the_refined_gate_stays_within_the_band_round_f():
    step = stepped(URLSTM(), drawn(URLSTM(), units=200))
    f, k = step.gates["f"], step.gates["k"]
    assert np.all(abs(k - f) <= f * (1 - f) + 1e-15) and np.any(k > f) and np.any(k < f)


@pytest.mark.parametrize("units", [1, 2, 64])
def test_gates_start_uniform(units):
    b = URLSTM.parameters["b"](np.random.default_rng(0), units)
    assert np.all(np.isfinite(b)) and np.all((expit(b) >= 1 / (2 * units)) & (expit(b) <= 1))
    if units == 64:
        assert np.all(abs(np.sort(expit(b)) - np.linspace(0, 1, 64)) < 0.2)
    assert {"c"} == set(derive(URLSTM()).log_retention)
