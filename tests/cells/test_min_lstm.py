"""minLSTM: the normalised gates, also where both are shut."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from support.values import drawn, groups, stepped
from tidegate.calculus import derive
from tidegate.cells import MinLSTM


def test_step_is_the_published_equations():
    known = drawn(MinLSTM())
    z, past, _ = groups(known).values()
    f, i = expit(z["f"]), expit(z["i"])
    want = f / (f + i) * past["h"] + i / (f + i) * z["n"]
    np.testing.assert_allclose(stepped(MinLSTM(), known).h, want, rtol=1e-12)


def test_two_shut_gates_share_by_their_ratio():
    """0 / 0 in the plain form; the limit is exp(net_f) / (exp(net_f) + exp(net_i))."""
    known = {"z.f": np.array([-800.0]), "z.i": np.array([-801.0]), "z.n": np.zeros(1)}
    step = stepped(MinLSTM(), known | {"past.h": np.ones(1)})
    np.testing.assert_allclose(step.h, expit(1.0), rtol=1e-12)


@pytest.mark.parametrize("past", [0.0, -3.0])
def test_any_state_may_come_in(past):
    """Forms in log space give NaN here."""
    known = drawn(MinLSTM()) | {"past.h": np.full(7, past)}
    eq = derive(MinLSTM())
    assert np.all(np.isfinite(stepped(MinLSTM(), known).h))
    assert np.all(np.isfinite(list(eq.evaluate(eq.keep, known).values())))
