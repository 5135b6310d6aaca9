"""The straight way through a layer gives what the general way gives, and stands aside in time."""

from __future__ import annotations

import pytest
import torch
import torch.utils.checkpoint
from torch.nn import Parameter

from support.layers import assert_same, eagerly, gradients, made, sequences, some_state
from tidegate import cells
from tidegate._core.errors import UsageError
from tidegate.layers import GRU, LSTM, Recurrent, in_place, plain
from tidegate.layers.straight import straight

NOWHERE = torch.zeros(7, 4, dtype=torch.bool)


@pytest.mark.parametrize("stated", [False, True])
@pytest.mark.parametrize("cell", cells.names())
def test_it_is_the_general_way_to_the_bit(cell, stated):
    """Flags that are never set lead the general way through every step."""
    layer, x = made(cell), sequences()
    hx = some_state(layer) if stated else None
    assert straight(layer, x, hx, False) is not None
    assert_same(gradients(layer, x, hx), gradients(layer, x, hx, reset=NOWHERE), 0.0)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("kind", [LSTM, GRU])
def test_batch_first_and_without_bias(kind, bias):
    layer, x = kind(3, 5, bias=bias, batch_first=True, dtype=torch.float64), sequences(4, 7)
    assert straight(layer, x, None, False) is not None
    got = gradients(layer, x)
    with eagerly():
        assert_same(got, gradients(layer, x), 1e-11)


def test_a_weight_that_lies_otherwise_is_taken_the_general_way():
    layer, x = made("lstm"), sequences()
    want = gradients(layer, x)
    layer.weight_hh_l0 = Parameter(layer.weight_hh_l0.detach().t().contiguous().t())
    assert straight(layer, x, None, False) is None
    assert_same(gradients(layer, x), want, 1e-12)


def test_a_weight_of_another_size_is_refused():
    layer, x = made("lstm"), sequences()
    layer.weight_hh_l0 = Parameter(torch.zeros(4, 4, dtype=torch.float64))
    with pytest.raises(UsageError, match="weights.hidden"):
        layer(x)


@pytest.mark.parametrize(
    "options",
    [
        {"num_layers": 2},
        {"bidirectional": True},
        {"zoneout": 0.1},
        {"recurrent_dropout": 0.1},
        {"learn_initial_state": True},
        {"proj_size": 2},
    ],
    ids=lambda options: next(iter(options)),
)
def test_more_than_one_plain_layer_goes_the_general_way(options):
    assert straight(made("lstm", **options), sequences(), None, False) is None


def test_what_no_kernel_takes_goes_the_general_way():
    layer, x = made("lstm", torch.float32), sequences(dtype=torch.float32)
    assert straight(layer, x, None, False) is not None
    for other in (x.double(), x[0], x[:0], x[:, :0], x[..., :2], x.to_sparse(), x.to("meta")):
        assert straight(layer, other, None, False) is None
    assert straight(layer, x, (torch.zeros(1, 3, 5),) * 2, False) is None
    assert straight(layer, x, torch.zeros(1, 4, 5), False) is None
    with eagerly():
        assert straight(layer, x, None, False) is None


def test_it_is_not_gone_under_transforms():
    layer, x = made("lstm"), sequences()
    found = []
    torch.func.vmap(lambda one: found.append(straight(layer, one, None, False)) or one)(x[None])
    assert found == [None]


def test_several_hidden_values_and_memories_come_one_by_one():
    layer, x = Recurrent("block2000", 3, 5, dtype=torch.float64), sequences()
    _, state = layer(x)
    assert [value.shape for value in state] == [(1, 4, 5)] * 4
    _, want = layer(x, reset=NOWHERE)
    assert all(map(torch.equal, state, want))


def test_memory_of_a_call_is_not_shared_with_its_last_state():
    layer, x = made("lstm"), sequences()
    with torch.no_grad():
        output, (h, _) = layer(x)
        kept = output.clone()
        h.zero_()
    assert torch.equal(output, kept)


@pytest.mark.parametrize("options", [{}, {"bidirectional": True}], ids=["one way", "both ways"])
@pytest.mark.parametrize("cell", ["lstm", "gru", "block2000", "layer_norm_lstm"])
def test_a_run_that_keeps_nothing_gives_the_same_bits(cell, options):
    """Its memories go round in two blocks, forwards and backwards."""
    layer, x = made(cell, torch.float32, **options), sequences(dtype=torch.float32)
    output, state = layer(x)
    with torch.no_grad():
        bare, last = layer(x)
    assert output.requires_grad and not bare.requires_grad
    assert torch.equal(bare, output) and all(map(torch.equal, last, state))


def test_large_parts_lie_apart_and_give_the_same(monkeypatch):
    layer, x = made("lstm", seed=11), sequences(9)
    want, *_, trace = gradients(layer, x), *layer(x, trace=True)
    monkeypatch.setattr(in_place, "_MAPPED_BYTES", 64)
    monkeypatch.setattr(in_place, "_HUGE_BYTES", 64)
    in_place.sized.cache_clear()
    plain.plain.cache_clear()
    assert_same(gradients(layer, x), want, 0.0)
    *_, apart = layer(x, trace=True)
    for part in ("gates", "memory", "slots", "hidden"):
        assert_same(getattr(apart, part), getattr(trace, part), 0.0)
    in_place.sized.cache_clear()
    plain.plain.cache_clear()


def test_what_is_kept_may_be_moved_and_made_anew():
    """Hooks on saved tensors bring copies back; a checkpoint runs a layer twice."""
    layer, x = made("lstm"), sequences()
    want = gradients(layer, x)
    with torch.autograd.graph.save_on_cpu():
        assert_same(gradients(layer, x), want, 0.0)
    again = made("lstm")
    given = x.clone().requires_grad_()
    output, _ = torch.utils.checkpoint.checkpoint(again, given, use_reentrant=False)
    output.sum().backward()
    plain = x.clone().requires_grad_()
    layer(plain)[0].sum().backward()
    assert torch.equal(given.grad, plain.grad)
