"""The GRU of 2014: the reset gate multiplies h before the product, torch's after it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from support.values import drawn, groups, stepped
from tidegate import Learner, Network, UsageError
from tidegate.calculus import derive
from tidegate.cells import GRU, GRU2014
from tidegate.kernels.plan import LayerPlan
from tidegate.kernels.reference import layer_step


def published(weights, h, x):
    """Equations 5 to 8 for one layer; weights: (W, U, b) by gate."""
    pre = {s: W @ x + b for s, (W, U, b) in weights.items()}
    r = expit(pre["r"] + weights["r"][1] @ h)
    u = expit(pre["z"] + weights["z"][1] @ h)
    n = np.tanh(pre["n"] + weights["n"][1] @ (r * h))
    return u * h + (1 - u) * n


def test_a_layer_is_equations_5_to_8():
    rng = np.random.default_rng(0)
    weights = {
        s: (rng.normal(size=(5, 3)), rng.normal(size=(5, 5)), rng.normal(size=5)) for s in "rzn"
    }
    stacked = {
        "input": np.stack([weights[s][0].T for s in "rzn"], axis=1),
        "hidden": np.stack([weights[s][1].T for s in "rzn"], axis=1),
        "bias": np.stack([weights[s][2] for s in "rzn"])[None],
        "unit": np.zeros((0, 5)),
    }
    layer, h = LayerPlan(derive(GRU2014()), 5, 3), np.zeros((1, 5))
    for x in rng.normal(size=(6, 3)):
        want = published(weights, h[0], x)
        h = layer_step(layer, stacked, h, h, x).hidden
        np.testing.assert_allclose(h[0], want, rtol=1e-12)


def test_it_is_not_the_gru_of_torch():
    known = drawn(GRU2014())
    z, past, _ = groups(known).values()
    assert derive(GRU2014()).second_product == {"n": "r"} and not derive(GRU()).second_product
    u = expit(z["z"])
    want = u * past["h"] + (1 - u) * np.tanh(z["n"])
    np.testing.assert_allclose(stepped(GRU2014(), known).h, want, rtol=1e-13)


def test_online_learning_refuses_it():
    with pytest.raises(UsageError, match=r"GRU2014: expected .* one product with h"):
        Learner(Network(inputs=2, outputs=1, cell="gru2014", units=3))
