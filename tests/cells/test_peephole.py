"""The peephole LSTM: i and f see c(t-1), o sees c(t), held to finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from support.values import drawn, groups, stepped
from tidegate.calculus import derive
from tidegate.cells import Peephole


def published(z, past, par):
    i = expit(z["i"] + par["p_i"] * past["c"])
    f = expit(z["f"] + par["p_f"] * past["c"])
    c = f * past["c"] + i * np.tanh(z["g"])
    return c, expit(z["o"] + par["p_o"] * c) * np.tanh(c)


def test_step_is_the_published_equations():
    known = drawn(Peephole())
    step, (c, h) = stepped(Peephole(), known), published(**groups(known))
    np.testing.assert_allclose(step.c, c, rtol=1e-13)
    np.testing.assert_allclose(step.h, h, rtol=1e-13)


def difference(known, name, of):
    pieces = []
    for sign in (1, -1):
        moved = known | {name: known[name] + sign * 1e-6}
        pieces.append(published(**groups(moved))[of])
    return (pieces[0] - pieces[1]) / 2e-6


@pytest.mark.parametrize("gate", "ifo")
def test_every_peephole_has_the_slope_of_finite_differences(gate):
    eq, known = derive(Peephole()), drawn(Peephole(), seed=2)
    table, of = (eq.direct, 1) if gate == "o" else (eq.write, 0)
    pair = ("h" if gate == "o" else "c", f"p_{gate}")
    (slope,) = eq.evaluate({pair: table[pair]}, known).values()
    np.testing.assert_allclose(slope, difference(known, f"par.p_{gate}", of), rtol=1e-6, atol=1e-9)


def test_retention_goes_through_the_peepholes():
    eq, known = derive(Peephole()), drawn(Peephole(), seed=3)
    (kept,) = eq.evaluate(eq.keep, known).values()
    np.testing.assert_allclose(kept, difference(known, "past.c", 0), rtol=1e-6)
    assert not np.allclose(kept, expit(known["z.f"] + known["par.p_f"] * known["past.c"]))
