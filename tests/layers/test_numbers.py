"""Half precision, autocast, NaN and infinity; the numbers that decide which cell it is."""

from __future__ import annotations

import pytest
import torch

from support.layers import made, sequences
from tidegate import cells
from tidegate.layers import LSTM, Recurrent, start_biases


def all_ones() -> LSTM:
    layer = LSTM(1, 1, bias=False, dtype=torch.float64)
    for parameter in layer.parameters():
        torch.nn.init.ones_(parameter)
    return layer


def test_the_cell_has_logistic_gates_and_tanh_on_its_memory():
    """troubles 23, 28, 30: hard sigmoids would give .7629154 and 1.6458431."""
    _, (h, c) = all_ones()(torch.ones(3, 1, 1, dtype=torch.float64))
    assert h.item() == pytest.approx(0.7887658, abs=5e-8)
    assert c.item() == pytest.approx(1.7394875, abs=5e-8)
    sigmoid_of_3 = torch.sigmoid(torch.tensor(3.0)).item()
    _, _, trace = all_ones()(torch.full((1, 1, 1), 3.0, dtype=torch.float64), trace=True)
    assert trace.gates["f"].item() == pytest.approx(sigmoid_of_3, abs=1e-7)
    assert sigmoid_of_3 == pytest.approx(0.95257, abs=1e-5)


def counted(dtype, first: float, input_dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Output and memory of a unit that keeps everything and adds 1, 20 times, from ``first`` on."""
    layer = Recurrent("lstm", 1, 1, dtype=dtype)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.zero_()
    start_biases(layer, {s: cells.constant(30.0) for s in "ifgo"})
    hx = (torch.zeros(1, 1, 1), torch.full((1, 1, 1), first))
    output, (_, c) = layer(torch.zeros(20, 1, 1, dtype=input_dtype), hx)
    return output, c


@pytest.mark.parametrize(("dtype", "stall"), [(torch.float16, 2048), (torch.bfloat16, 256)])
def test_a_memory_in_half_precision_counts_past_where_halves_stall(dtype, stall):
    """troubles 18, peers 24."""
    assert torch.tensor(stall, dtype=dtype) + 1 == stall
    output, c = counted(dtype, stall - 6.0, dtype)
    assert c.dtype == torch.float32 and output.dtype == dtype
    assert c.item() == pytest.approx(stall + 14, rel=1e-6)


@pytest.mark.parametrize("name", ["gru", "lstm", "slstm"])
@pytest.mark.parametrize("input_dtype", [torch.float32, torch.bfloat16], ids=str)
def test_under_autocast_states_stay_in_single_precision(name, input_dtype):
    """troubles 18, peers 24: torch gives the memory in bfloat16 here."""
    layer, x = made(name, torch.float32), sequences(dtype=input_dtype)
    with torch.autocast("cpu", torch.bfloat16):
        _, state = layer(x)
        _, c = counted(torch.float32, 250.0, input_dtype)
    assert all(part.dtype == torch.float32 for part in state)
    assert c.item() == pytest.approx(270, rel=1e-6)
    want = layer(x.float())[1]
    for got, exact in zip(state, want, strict=True):
        torch.testing.assert_close(got, exact, rtol=0.05, atol=0.05)


def test_half_precision_learns():
    layer = made("lstm", torch.bfloat16)
    output, _ = layer(sequences(dtype=torch.bfloat16))
    output.float().square().sum().backward()
    assert layer.weight_hh_l0.grad.dtype == torch.bfloat16
    assert torch.isfinite(layer.weight_hh_l0.grad).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", cells.names())
def test_nan_is_not_swallowed(name, dtype):
    layer, x = made(name, dtype), sequences(rows=2, dtype=dtype)
    x[3, 1] = float("nan")
    output, _ = layer(x)
    assert output[3, 1].isnan().any()
    assert torch.isfinite(output[:, 0]).all() and torch.isfinite(output[:3]).all()


def test_infinity_is_not_swallowed():
    layer, x = Recurrent("min_gru", 3, 5), sequences(rows=1, dtype=torch.float32)
    torch.nn.init.ones_(layer.weight_ih_l0)
    x[3] = float("inf")
    output, _ = layer(x)
    assert torch.isposinf(output[3]).all()


@pytest.mark.parametrize("name", cells.names())
def test_weights_that_are_nan_are_seen(name):
    layer = made(name, torch.float32)
    with torch.no_grad():
        layer.weight_ih_l0.fill_(float("nan"))
    assert layer(sequences(dtype=torch.float32))[0].isnan().all()


def test_a_constant_on_all_pre_activations_changes_nothing_in_a_normalised_cell():
    """troubles 26: the constant falls on every unit of a gate, as a bias of x would bring it."""
    layer, x = made("layer_norm_lstm"), sequences()
    x[..., 0] = 1.0
    want, _ = layer(x)
    with torch.no_grad():
        layer.weight_ih_l0[:, 0] += 3.0
    torch.testing.assert_close(layer(x)[0], want, rtol=1e-10, atol=1e-12)
    assert "normalised over the units" in type(layer.cell).__doc__


@pytest.mark.parametrize("name", ["min_gru", "min_lstm"])
@pytest.mark.parametrize("before", [0.0, -0.7])
def test_a_minimal_cell_goes_on_from_any_state(name, before):
    """peers 17: by logarithms a cut moves the output by .37, and states of 0 or below give NaN."""
    layer, x = made(name), sequences(steps=12)
    hx = torch.full((1, 4, 5), before, dtype=torch.float64, requires_grad=True)
    whole, last = layer(x, hx)
    first, state = layer(x[:5], hx)
    then, end = layer(x[5:], state)
    assert torch.equal(torch.cat([first, then]), whole) and all(map(torch.equal, end, last))
    (slope,) = torch.autograd.grad(whole.sum(), hx)
    assert slope.isfinite().all() and (slope > 0).all()
