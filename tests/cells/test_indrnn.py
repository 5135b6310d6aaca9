"""IndRNN: rectified units that see only themselves."""

from __future__ import annotations

import numpy as np

from support.values import drawn, groups, stepped
from tidegate.calculus import derive
from tidegate.cells import IndRNN


def test_step_is_equation_2():
    known = drawn(IndRNN(), units=50)
    z, past, par = groups(known).values()
    want = np.maximum(z["n"] + par["u"] * past["h"], 0)
    step = stepped(IndRNN(), known)
    np.testing.assert_allclose(step.h, want, rtol=1e-13)
    assert np.any(want == 0) and np.any(want > 0)


def test_retention_is_u_where_active_with_its_sign():
    eq = derive(IndRNN())
    known = {"z.n": np.array([3.0, -9.0, 3.0]), "past.h": np.ones(3)}
    known["par.u"] = np.array([-0.5, -0.5, 2.0])
    kept = eq.evaluate(eq.log_retention, known)["h"]
    np.testing.assert_allclose(kept, [np.log(0.5), -np.inf, np.log(2)])
    np.testing.assert_array_equal(eq.evaluate(eq.retention_sign, known)["h"][[0, 2]], [-1, 1])
