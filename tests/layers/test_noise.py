"""Zoneout and recurrent dropout against the steps written out by hand."""

from __future__ import annotations

import pytest
import torch

from support.layers import made, sequences
from tidegate import UsageError
from tidegate.layers import LSTM, Recurrent


def lstm_step(layer, x, h, c):
    z = x @ layer.weight_ih_l0.T + h @ layer.weight_hh_l0.T + layer.bias_ih_l0 + layer.bias_hh_l0
    i, f, g, o = z.chunk(4, dim=1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def test_zoneout_is_its_expected_value_without_training():
    """Krueger et al. 2016, equation 5: h comes from the new memory before that is mixed."""
    layer, x = made("lstm", zoneout={"h": 0.2, "c": 0.5}).eval(), sequences()
    h = c = torch.zeros(4, 5, dtype=torch.float64)
    output, _ = layer(x)
    for t in range(7):
        new_h, new_c = lstm_step(layer, x[t], h, c)
        h, c = 0.2 * h + 0.8 * new_h, 0.5 * c + 0.5 * new_c
        torch.testing.assert_close(output[t], h, rtol=1e-12, atol=1e-13)


def test_zoneout_keeps_or_takes_every_unit_while_training():
    torch.manual_seed(0)
    layer = Recurrent("lstm", 3, 400, zoneout={"c": 0.3})
    _, (_, c), trace = layer(torch.randn(1, 1, 3), (torch.zeros(1, 1, 400), torch.ones(1, 1, 400)),
                             trace=True)  # fmt: skip
    kept = (c == 1.0).double().mean().item()
    assert 0.2 < kept < 0.4
    assert torch.equal(c[c != 1.0], trace.memory["c"][c != 1.0])


def test_zoneout_of_everything_stands_still():
    layer, x = made("gru", zoneout=1.0), sequences()
    hx = torch.full((1, 4, 5), 0.25, dtype=torch.float64)
    output, _ = layer(x, hx)
    assert (output == 0.25).all()


@pytest.mark.parametrize("zoneout", [{"d": 0.1}, 1.5, {"h": -0.1}])
def test_impossible_rates_are_refused(zoneout):
    with pytest.raises(UsageError, match="zoneout"):
        made("lstm", zoneout=zoneout)
    with pytest.raises(UsageError, match="recurrent_dropout"):
        made("lstm", recurrent_dropout=2)


def test_recurrent_dropout_draws_once_for_a_sequence():
    """Gal & Ghahramani 2016: the same units are unseen at every step; outputs are not touched."""
    layer, x = made("lstm", recurrent_dropout=0.5), sequences()
    torch.manual_seed(5)
    output, _ = layer(x)
    torch.manual_seed(5)
    mask = torch.nn.functional.dropout(torch.ones(4, 5, dtype=torch.float64), 0.5)
    assert 0 < (mask == 0).sum() < 20
    h = c = torch.zeros(4, 5, dtype=torch.float64)
    for t in range(7):
        h, c = lstm_step(layer, x[t], h * mask, c)
        torch.testing.assert_close(output[t], h, rtol=1e-12, atol=1e-13)


def test_recurrent_dropout_is_silent_without_training():
    noisy, plain, x = made("lstm", recurrent_dropout=0.5).eval(), made("lstm"), sequences()
    assert torch.equal(noisy(x)[0], plain(x)[0])


def test_a_learned_initial_state_is_where_runs_and_resets_begin():
    layer, x = made("lstm", learn_initial_state=True, num_layers=2), sequences()
    with torch.no_grad():
        layer.initial_h.normal_()
        layer.initial_c.normal_()
    hx = tuple(part[:, None].expand(-1, 4, -1) for part in (layer.initial_h, layer.initial_c))
    torch.testing.assert_close(layer(x)[0], layer(x, hx)[0], rtol=1e-12, atol=1e-13)
    reset = torch.zeros(7, 4)
    reset[3] = 1
    got, _ = layer(x, reset=reset)
    torch.testing.assert_close(got[3:], layer(x[3:])[0], rtol=1e-12, atol=1e-13)
    got.sum().backward()
    assert (layer.initial_c.grad != 0).all()


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.float32, torch.uint8], ids=str)
def test_reset_flags_of_any_dtype_mean_the_same(dtype):
    """peers 5: a 0 / 1 tensor must not become an index."""
    layer, x = made("gru"), sequences(3, 3)
    flags = torch.tensor([[0, 0, 0], [0, 1, 0], [1, 0, 0]])
    want, _ = layer(x, reset=flags.bool())
    assert torch.equal(layer(x, reset=flags.to(dtype))[0], want)
    assert torch.equal(want[1:, 1], layer(x[1:, 1:2])[0][:, 0])


def test_resets_in_every_form_of_input():
    layer, x = made("lstm", batch_first=True), sequences().transpose(0, 1)
    reset = torch.zeros(4, 7)
    reset[2, 3] = 1
    output, _ = layer(x, reset=reset)
    torch.testing.assert_close(output[2, 3:], layer(x[2:3, 3:])[0][0], rtol=1e-12, atol=1e-13)
    single, _ = layer(x[2], reset=reset[2])
    torch.testing.assert_close(single, output[2], rtol=1e-12, atol=1e-13)
    pack = torch.nn.utils.rnn.pack_padded_sequence
    lengths = [3, 7, 6, 2]
    packed, flags = (
        pack(a, lengths, batch_first=True, enforce_sorted=False) for a in (x, reset[..., None])
    )
    flags = flags._replace(data=flags.data[:, 0])
    got, _ = torch.nn.utils.rnn.pad_packed_sequence(layer(packed, reset=flags)[0], batch_first=True)
    torch.testing.assert_close(got[2, :6], output[2, :6], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("shape", [(7,), (4, 7), (7, 4, 1)])
def test_flags_that_do_not_fit_are_refused(shape):
    with pytest.raises(
        UsageError, match=r"reset: expected the input's leading dimensions \(7, 4\)"
    ):
        made("lstm")(sequences(), reset=torch.zeros(shape))


@pytest.mark.parametrize("lengths", [torch.ones(3, dtype=torch.int64), torch.ones(4)], ids=str)
def test_lengths_that_do_not_fit_are_refused(lengths):
    with pytest.raises(UsageError, match="lengths"):
        LSTM(3, 5, dtype=torch.float64)(sequences(), lengths=lengths)
