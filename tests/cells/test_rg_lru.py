"""RG-LRU: the gated decay of Griffin."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from support.values import drawn, groups, stepped
from tidegate.calculus import derive
from tidegate.cells import RGLRU


def test_step_is_the_published_equations():
    known = drawn(RGLRU())
    z, past, par = groups(known).values()
    a = np.exp(-8 * expit(z["r"]) * np.log1p(np.exp(par["rate"])))
    want = a * past["h"] + np.sqrt(1 - a**2) * expit(z["i"]) * z["x"]
    np.testing.assert_allclose(stepped(RGLRU(), known).h, want, rtol=1e-12)


def test_the_decay_starts_in_the_ring():
    rate = RGLRU.parameters["rate"](np.random.default_rng(0), 2000)
    radius = np.exp(-np.log1p(np.exp(rate)))
    assert 0.9 <= radius.min() < 0.902 and 0.998 < radius.max() <= 0.999
    assert abs((radius**2).mean() - (0.9**2 + 0.999**2) / 2) < 0.003


@pytest.mark.parametrize("net", [-800.0, -40.0])
def test_a_decay_of_1_has_finite_slopes(net):
    eq, known = derive(RGLRU()), drawn(RGLRU()) | {"z.r": np.full(7, net)}
    slopes = eq.evaluate(eq.write, known)
    assert all(np.all(np.isfinite(slope)) for slope in slopes.values())
    np.testing.assert_allclose(stepped(RGLRU(), known).h, known["past.h"], atol=1e-5)


def test_log_retention_is_exact():
    eq = derive(RGLRU())
    known = {"z.r": np.array([-40.0]), "par.rate": np.array([-40.0])}
    (kept,) = eq.evaluate(eq.log_retention, known).values()
    assert kept[0] == pytest.approx(-8 * np.exp(-80.0), rel=1e-12)
