"""The LSTM with coupled gates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from support.values import drawn, groups, stepped
from tidegate.calculus import derive
from tidegate.cells import Coupled


def test_step_is_the_published_equations():
    known = drawn(Coupled())
    z, past, _ = groups(known).values()
    f = expit(z["f"])
    c = f * past["c"] + (1 - f) * np.tanh(z["g"])
    step = stepped(Coupled(), known)
    np.testing.assert_allclose(step.c, c, rtol=1e-13)
    np.testing.assert_allclose(step.h, expit(z["o"]) * np.tanh(c), rtol=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_the_memory_stays_between_what_it_held_and_what_is_written(seed):
    known = drawn(Coupled(), seed)
    old, new, c = known["past.c"], np.tanh(known["z.g"]), stepped(Coupled(), known).c
    assert np.all((np.minimum(old, new) <= c) & (c <= np.maximum(old, new)))


def test_retention_is_f_exactly():
    eq = derive(Coupled())
    (log_f,) = eq.evaluate(eq.log_retention, {"z.f": np.array([120.0])}).values()
    assert log_f[0] == pytest.approx(-7.66764807372200e-53, rel=1e-12)
