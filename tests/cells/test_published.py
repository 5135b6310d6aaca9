"""Every cell's ``step`` against its equations as published, and against torch's own cells."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from support.cells import EVERY, name
from support.equations import PUBLISHED
from support.values import drawn, groups, stepped
from tidegate.calculus import derive
from tidegate.cells import GRU, LSTM, LSTM1997, RNN
from tidegate.kernels.plan import LayerPlan
from tidegate.kernels.reference import layer_step


@pytest.mark.parametrize("cell", EVERY, ids=name)
@pytest.mark.parametrize("seed", range(3))
def test_step_is_the_published_equations(cell, seed):
    known = drawn(cell, seed, units=50)
    step = stepped(cell, known)
    expected = PUBLISHED[name(cell)](**groups(known))
    assert set(expected) == {*cell.memory, *cell.hidden}
    for value, want in expected.items():
        np.testing.assert_allclose(getattr(step, value), want, rtol=1e-12, atol=1e-15)


def packed(layer: LayerPlan, theirs: torch.nn.Module) -> dict[str, np.ndarray]:
    """torch's weights of a cell in the order of the reference: (rows, slots fed, units)."""
    units, slots = layer.units, len(theirs.bias_ih) // layer.units

    def zone(weight):
        return weight.detach().numpy().reshape(slots, units, -1).transpose(2, 0, 1)

    b_x, b_h = (zone(b) for b in (theirs.bias_ih, theirs.bias_hh))
    bias = b_x + b_h
    if layer.equations.slots[-1] == "n_h":  # the candidate's two biases stay apart
        bias = np.concatenate([bias[:, :2], b_x[:, 2:], b_h[:, 2:]], axis=1)
    return {
        "hidden": zone(theirs.weight_hh),
        "input": zone(theirs.weight_ih),
        "bias": bias,
        "unit": np.zeros((0, units)),
    }


def states(theirs: torch.nn.Module, xs: torch.Tensor):
    """(h,) or (h, c) after every step, from zeros."""
    state = None
    for x in xs:
        state = theirs(x, state)
        yield [s.detach().numpy() for s in (state if isinstance(state, tuple) else (state,))]


@pytest.mark.parametrize(
    ("cell", "kind"),
    [(LSTM(), torch.nn.LSTMCell), (GRU(), torch.nn.GRUCell), (RNN(), torch.nn.RNNCell)],
    ids=["lstm", "gru", "rnn"],
)
def test_the_same_weights_give_torchs_outputs(cell, kind):
    torch.manual_seed(0)
    theirs = kind(3, 5, dtype=torch.float64)
    layer = LayerPlan(derive(cell), 5, 3)
    weights = packed(layer, theirs)
    memory, hidden = np.zeros((len(cell.memory), 5)), np.zeros((1, 5))
    xs = np.random.default_rng(1).normal(size=(20, 3))
    for x, state in zip(xs, states(theirs, torch.tensor(xs)), strict=True):
        moment = layer_step(layer, weights, memory, hidden, x)
        memory, hidden = moment.memory, moment.hidden
        np.testing.assert_allclose(hidden[0], state[0], rtol=0, atol=1e-14)
        if cell.memory == ("c",):
            np.testing.assert_allclose(memory[0], state[1], rtol=0, atol=1e-14)


def test_all_weights_1_give_the_numbers_of_the_logistic_gates():
    """troubles 23: 1, 1, 1 with unit weights; hard sigmoids would give .7629154, 1.6458431."""
    layer = LayerPlan(derive(LSTM()), 1, 1)
    ones = {"hidden": np.ones((1, 4, 1)), "input": np.ones((1, 4, 1)), "bias": np.zeros((1, 4, 1))}
    memory, hidden = np.zeros((1, 1)), np.zeros((1, 1))
    for _ in range(3):
        moment = layer_step(layer, ones | {"unit": np.zeros((0, 1))}, memory, hidden, np.ones(1))
        memory, hidden = moment.memory, moment.hidden
    assert hidden[0, 0] == pytest.approx(0.7887658, abs=5e-8)
    assert memory[0, 0] == pytest.approx(1.7394875, abs=5e-8)


def test_a_shut_input_gate_leaves_the_cell_of_1997_as_it_was():
    """troubles 27: gate and candidate are multiplied, not added."""
    known = drawn(LSTM1997()) | {"z.i": np.full(7, -np.inf)}
    np.testing.assert_array_equal(stepped(LSTM1997(), known).c, known["past.c"])


@pytest.mark.parametrize(("bias", "gate"), [(0.0, 0.5), (1.0, 0.7310585786), (5.0, 0.9933071491)])
def test_the_forget_bias_is_there_once(bias, gate):
    """troubles 24: asked for 1, f(0) is .7311."""
    (law,) = LSTM(forget_bias=bias).biases().values()
    start = law(np.random.default_rng(0), 3)
    known = drawn(LSTM(), units=3) | {"z.f": start}
    np.testing.assert_allclose(stepped(LSTM(), known).gates["f"], gate, rtol=1e-9)
