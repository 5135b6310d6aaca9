"""The layer-normalised LSTM: where its norm stands."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from support.values import drawn, groups, stepped
from tidegate import Learner, Network, UsageError
from tidegate.calculus import derive, latex
from tidegate.cells import LayerNormLSTM


def test_step_is_an_lstm_behind_gain_and_shift():
    known = drawn(LayerNormLSTM())
    z, past, par = groups(known).values()
    pre = {s: par[f"k_{s}"] * z[s] + par[f"b_{s}"] for s in "ifgo"}
    c = expit(pre["f"]) * past["c"] + expit(pre["i"]) * np.tanh(pre["g"])
    step = stepped(LayerNormLSTM(), known)
    np.testing.assert_allclose(step.c, c, rtol=1e-13)
    np.testing.assert_allclose(step.h, expit(pre["o"]) * np.tanh(c), rtol=1e-13)


def test_the_norm_stands_on_all_slots_before_gain_and_bias():
    eq = derive(LayerNormLSTM())
    assert eq.normalised == ("i", "f", "g", "o") and eq.fed_by("bias") == ()
    assert latex(LayerNormLSTM()).count("norm") == 4


def test_online_learning_refuses_it():
    with pytest.raises(UsageError, match=r"LayerNormLSTM: expected .* not normalised .* online"):
        Learner(Network(inputs=2, outputs=1, cell="layer_norm_lstm", units=3))
