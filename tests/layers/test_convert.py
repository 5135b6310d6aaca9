"""Weights from and to torch.nn and Keras."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import expit
from torch import nn

from support.layers import made, sequences
from tidegate import UsageError, cells
from tidegate.layers import (
    LSTM,
    Recurrent,
    from_torch,
    gru_from_keras,
    lstm_from_keras,
    to_torch,
    to_torch_cell,
)

MODULES = [
    nn.LSTM(3, 5, num_layers=2, bidirectional=True, dtype=torch.float64),
    nn.LSTM(3, 5, proj_size=2, batch_first=True, dtype=torch.float64),
    nn.GRU(3, 5, bias=False, dtype=torch.float64),
    nn.RNN(3, 5, nonlinearity="relu", num_layers=2, dtype=torch.float64).eval(),
    nn.RNN(3, 5, bidirectional=True, dtype=torch.float64),
]


@pytest.mark.parametrize("theirs", MODULES, ids=repr)
def test_there_and_back(theirs):
    ours = from_torch(theirs)
    x = sequences()
    torch.testing.assert_close(ours(x)[0], theirs(x)[0], rtol=1e-11, atol=1e-12)
    back = to_torch(ours)
    assert type(back) is type(theirs) and repr(back) == repr(theirs)
    assert back.training == theirs.training == ours.training
    for name, value in theirs.state_dict().items():
        assert torch.equal(back.state_dict()[name], value)
        assert back.state_dict()[name].data_ptr() != value.data_ptr()


CELLS = [
    nn.LSTMCell(3, 5, dtype=torch.float64),
    nn.GRUCell(3, 5, bias=False, dtype=torch.float64),
    nn.RNNCell(3, 5, nonlinearity="relu", dtype=torch.float64),
]


@pytest.mark.parametrize("cell", CELLS, ids=repr)
def test_cells_run_over_sequences(cell):
    ours, x, state = from_torch(cell), sequences(), None
    output, _ = ours(x)
    for t in range(7):
        state = cell(x[t], state)
        h = state[0] if isinstance(state, tuple) else state
        torch.testing.assert_close(output[t], h, rtol=1e-11, atol=1e-12)
    back = to_torch_cell(ours)
    assert repr(back) == repr(cell)
    assert all(map(torch.equal, back.state_dict().values(), cell.state_dict().values()))


def test_a_layer_over_a_cell_of_torch_goes_to_torch():
    layer = made(cells.LSTM())
    torch.testing.assert_close(to_torch(layer)(sequences())[0], layer(sequences())[0])


@pytest.mark.parametrize(
    "layer",
    [made("peephole"), made("gru2014"), made("lstm", zoneout=0.1),
     made("gru", recurrent_dropout=0.1), made("lstm", learn_initial_state=True)],
    ids=repr,
)  # fmt: skip
def test_what_torch_has_not_is_refused(layer):
    """peers 19, troubles 25: never dropped in silence."""
    with pytest.raises(UsageError, match="what torch.nn has"):
        to_torch(layer)


def test_no_recurrent_module_is_refused():
    with pytest.raises(UsageError, match="Linear"):
        from_torch(nn.Linear(3, 4))
    with pytest.raises(UsageError, match="one layer, one direction"):
        to_torch_cell(LSTM(3, 4, num_layers=2))


def keras_arrays(rng, gates, bias):
    kernel, recurrent = rng.normal(size=(3, gates * 5)), rng.normal(size=(5, gates * 5))
    return [kernel, recurrent, *bias]


def keras_lstm(x, kernel, recurrent, bias):
    """As Keras prints it: gates i, f, c, o side by side in the columns."""
    h = c = np.zeros((len(x), 5))
    for t in range(x.shape[1]):
        i, f, g, o = np.split(x[:, t] @ kernel + h @ recurrent + bias, 4, axis=1)
        c = expit(f) * c + expit(i) * np.tanh(g)
        h = expit(o) * np.tanh(c)
        yield h


def keras_gru(x, kernel, recurrent, bias, reset_after):
    """As Keras prints it: z, r, h; the reset gate after or before the product."""
    h = np.zeros((len(x), 5))
    before, after = bias if reset_after else (bias, 0 * bias)
    for t in range(x.shape[1]):
        xz, xr, xn = np.split(x[:, t] @ kernel + before, 3, axis=1)
        rz, rr, rn = np.split(recurrent, 3, axis=1)
        bz, br, bn = np.split(after, 3)
        z, r = expit(xz + h @ rz + bz), expit(xr + h @ rr + br)
        n = np.tanh(xn + (r * (h @ rn + bn) if reset_after else (r * h) @ rn))
        h = z * h + (1 - z) * n
        yield h


@pytest.fixture
def x():
    return np.random.default_rng(1).normal(size=(4, 7, 3))


def ran(layer, x):
    return layer.double()(torch.as_tensor(x))[0].detach().numpy()


def test_an_lstm_from_keras(x):
    arrays = keras_arrays(np.random.default_rng(0), 4, [np.linspace(-1, 1, 20)])
    got = ran(lstm_from_keras(arrays), x)
    np.testing.assert_allclose(got, np.stack(list(keras_lstm(x, *arrays)), axis=1), atol=2e-6)


@pytest.mark.parametrize("reset_after", [True, False])
def test_a_gru_from_keras_in_both_forms(x, reset_after):
    """peers 16, troubles 29: z and r change places, and the variant is named."""
    rng = np.random.default_rng(0)
    bias = rng.normal(size=(2, 15) if reset_after else 15)
    arrays = keras_arrays(rng, 3, [bias])
    layer = gru_from_keras(arrays, reset_after=reset_after)
    assert type(layer.cell) is (cells.GRU if reset_after else cells.GRU2014)
    want = np.stack(list(keras_gru(x, *arrays, reset_after)), axis=1)
    np.testing.assert_allclose(ran(layer, x), want, atol=2e-6)


def test_both_directions_from_keras(x):
    rng = np.random.default_rng(0)
    one, two = (keras_arrays(rng, 4, [rng.normal(size=20)]) for _ in range(2))
    got = ran(lstm_from_keras([*one, *two]), x)
    backwards = np.stack(list(keras_lstm(x[:, ::-1], *two)), axis=1)[:, ::-1]
    np.testing.assert_allclose(got[..., 5:], backwards, atol=2e-6)


def test_biases_of_keras_are_counted_once():
    """troubles 24: the unit forget bias of Keras is 1, not 2."""
    bias = np.concatenate([np.zeros(5), np.ones(5), np.zeros(10)])
    layer = lstm_from_keras([np.zeros((3, 20)), np.zeros((5, 20)), bias])
    assert (layer.bias_ih_l0 + layer.bias_hh_l0)[5:10].tolist() == [1.0] * 5


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: lstm_from_keras([np.zeros((3, 20))]),
        lambda: lstm_from_keras([np.zeros((3, 15)), np.zeros((5, 15))]),
        lambda: lstm_from_keras([np.zeros((3, 20)), np.zeros((5, 20)), np.zeros(5)]),
        lambda: lstm_from_keras([np.zeros((3, 20)), np.zeros((6, 20))]),
        lambda: gru_from_keras([np.zeros((3, 15)), np.zeros((5, 15)), np.zeros(15)]),
        lambda: gru_from_keras(
            [np.zeros((3, 15)), np.zeros((5, 15)), np.zeros((2, 15))], reset_after=False
        ),
    ],
)
def test_arrays_that_do_not_fit_are_refused(wrong):
    with pytest.raises(UsageError):
        wrong()


def test_another_activation_is_another_cell():
    """troubles 28: sigmoid against hard sigmoid."""
    with pytest.raises(UsageError, match="hard_sigmoid"):
        lstm_from_keras([np.ones((1, 4)), np.ones((1, 4))], recurrent_activation="hard_sigmoid")


def test_the_variant_is_in_the_name():
    """troubles 26, 29: whoever prints a layer sees which form it is."""
    assert repr(Recurrent("gru2014", 3, 4)) == "Recurrent(GRU2014(), 3, 4)"
    assert repr(Recurrent("gru", 3, 4)) == "Recurrent(GRU(), 3, 4)"
    assert repr(Recurrent("layer_norm_lstm", 3, 4)) == "Recurrent(LayerNormLSTM(), 3, 4)"
