"""The minimal gated unit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, log_expit

from tidegate.calculus import derive
from tidegate.cells import MGU
from tidegate.kernels.plan import LayerPlan
from tidegate.kernels.reference import layer_step


def test_a_layer_is_the_published_equations():
    rng = np.random.default_rng(0)
    w, u, b = rng.normal(size=(2, 4, 3)), rng.normal(size=(2, 4, 4)), rng.normal(size=(2, 4))
    weights = {
        "input": w.transpose(2, 0, 1),
        "hidden": u.transpose(2, 0, 1),
        "bias": b[None],
        "unit": np.zeros((0, 4)),
    }
    layer, h = LayerPlan(derive(MGU()), 4, 3), np.zeros(4)
    for x in rng.normal(size=(6, 3)):
        f = expit(w[0] @ x + u[0] @ h + b[0])
        n = np.tanh(w[1] @ x + u[1] @ (f * h) + b[1])
        got = layer_step(layer, weights, h[None], h[None], x).hidden[0]
        h = (1 - f) * h + f * n
        np.testing.assert_allclose(got, h, rtol=1e-12)


@pytest.mark.parametrize("net", [-40.0, 0.0, 3.0, 120.0])
def test_retention_is_what_the_gate_leaves(net):
    eq = derive(MGU())
    (kept,) = eq.evaluate(eq.log_retention, {"z.f": np.array([net])}).values()
    np.testing.assert_allclose(kept, log_expit(-net), rtol=1e-13)
