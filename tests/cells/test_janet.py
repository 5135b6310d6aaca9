"""JANET: the LSTM with only its forget gate."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from support.values import drawn, groups, stepped
from tidegate.calculus import derive
from tidegate.cells import JANET


@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_step_is_the_published_equations(beta):
    known = drawn(JANET(beta=beta))
    z, past, _ = groups(known).values()
    c = expit(z["f"]) * past["h"] + (1 - expit(z["f"] - beta)) * np.tanh(z["g"])
    np.testing.assert_allclose(stepped(JANET(beta=beta), known).h, c, rtol=1e-13)


def test_forget_biases_start_by_the_chrono_law():
    (law,) = JANET(longest=50.0).biases().values()
    drawn_biases = law(np.random.default_rng(0), 500)
    assert np.all((drawn_biases >= 0) & (drawn_biases <= np.log(49)))
    assert abs(np.exp(drawn_biases).mean() - 25) < 1.5
    assert derive(JANET()).memory.keys() == {"h"}
