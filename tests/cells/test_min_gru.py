"""minGRU: a linear candidate under a gate that does not look back."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from support.values import drawn, groups, stepped
from tidegate.calculus import derive
from tidegate.cells import MinGRU


@pytest.mark.parametrize("past", [0.0, -3.0, 2.0])
def test_step_is_the_published_equations(past):
    known = drawn(MinGRU()) | {"past.h": np.full(7, past)}
    z, before, _ = groups(known).values()
    u = expit(z["z"])
    want = (1 - u) * before["h"] + u * z["n"]
    np.testing.assert_allclose(stepped(MinGRU(), known).h, want, rtol=1e-13)


def test_retention_is_what_the_gate_leaves():
    eq = derive(MinGRU())
    (kept,) = eq.evaluate(eq.log_retention, {"z.z": np.array([-120.0])}).values()
    assert kept[0] == pytest.approx(-7.66764807372200e-53, rel=1e-12)
