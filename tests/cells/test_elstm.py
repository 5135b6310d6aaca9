"""eLSTM: units alone, and the influence recursion of exact RTRL."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from support.values import drawn, groups, stepped
from tidegate.calculus import derive
from tidegate.cells import ELSTM


def published(z, past, par):
    f = expit(z["f"] + par["w_f"] * past["c"])
    g = np.tanh(z["g"] + par["w_z"] * past["c"])
    c = f * past["c"] + (1 - f) * g
    return f, g, c, expit(z["o"] + par["w_o"] * c) * c


def test_step_is_the_published_equations():
    known = drawn(ELSTM())
    step, (_, _, c, h) = stepped(ELSTM(), known), published(**groups(known))
    np.testing.assert_allclose(step.c, c, rtol=1e-13)
    np.testing.assert_allclose(step.h, h, rtol=1e-13)


def test_retention_and_writes_are_those_of_the_papers_recursion():
    """A = f + (1 - f)(1 - z^2) w_z + (c - z) f (1 - f) w_f; dZ gets (1 - f)(1 - z^2) x ..."""
    eq, known = derive(ELSTM()), drawn(ELSTM(), seed=1)
    f, g, _, _ = published(**groups(known))
    c, w_f, w_z = known["past.c"], known["par.w_f"], known["par.w_z"]
    a = f + (1 - f) * (1 - g**2) * w_z + (c - g) * f * (1 - f) * w_f
    np.testing.assert_allclose(eq.evaluate(eq.keep, known)["c", "c"], a, rtol=1e-12)
    writes = eq.evaluate(eq.write, known)
    np.testing.assert_allclose(writes["c", "g"], (1 - f) * (1 - g**2), rtol=1e-12)
    np.testing.assert_allclose(writes["c", "f"], (c - g) * f * (1 - f), rtol=1e-12)
    np.testing.assert_allclose(writes["c", "w_z"], (1 - f) * (1 - g**2) * c, rtol=1e-12)


def test_no_unit_sees_another():
    assert derive(ELSTM()).fed_by("hidden") == ()
