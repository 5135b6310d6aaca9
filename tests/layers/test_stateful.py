"""Streams that come in pieces: the state follows the key and is cut off from the past."""

from __future__ import annotations

import gc

import pytest
import torch

from support.layers import made, sequences
from tidegate import UsageError
from tidegate.layers import LSTM, Recurrent, Stateful


def pieces(x, sizes):
    return torch.split(x, sizes)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("sizes", [[1] * 50, [1, 13, 36], [20, 30]], ids=str)
def test_a_stream_in_pieces_is_the_stream(dtype, sizes):
    """troubles 1."""
    layer, x = made("lstm", dtype, num_layers=2), sequences(50, dtype=dtype)
    stateful = Stateful(layer)
    got = torch.cat([stateful(piece, list("abcd")) for piece in pieces(x, sizes)])
    assert torch.equal(got, layer(x)[0])


def test_the_state_follows_the_key_not_the_row():
    """troubles 2: rows shuffled between the pieces."""
    layer, x = made("gru"), sequences(10)
    stateful = Stateful(layer)
    stateful(x[:6], list("abcd"))
    order = [2, 0, 3, 1]
    got = stateful(x[6:, order], [list("abcd")[row] for row in order])
    torch.testing.assert_close(got, layer(x)[0][6:, order], rtol=1e-12, atol=1e-13)
    wrong = layer(x[6:, order], layer(x[:6])[1])[0]
    assert (wrong - got).abs().max() > 1e-3


def test_interleaved_streams_are_each_the_stream_alone():
    """troubles 6: eight streams, fed now together, now apart; not a bit of one reaches another."""
    layer, x = made("lstm", torch.float32), sequences(12, 8, torch.float32)
    stateful, got = Stateful(layer), {key: [] for key in range(8)}
    order = [(0, 5, [*range(8)]), (5, 9, [7, 1]), (5, 9, [0, 2, 3]), (5, 9, [6]), (5, 9, [4, 5]),
             (9, 12, [3, 5, 0, 1]), (9, 12, [2, 7, 6, 4])]  # fmt: skip
    for first, stop, keys in order:
        output = stateful(x[first:stop, keys], keys)
        for row, key in enumerate(keys):
            got[key].append(output[:, row])
    for key in range(8):
        assert torch.equal(torch.cat(got[key]), layer(x[:, key : key + 1])[0][:, 0])


def test_a_forgotten_stream_begins_anew():
    layer, x = made("peephole"), sequences()
    stateful = Stateful(layer)
    first = stateful(x, list("abcd"))
    stateful.forget("a", "c")
    assert set(stateful.keys) == {"b", "d"}
    again = stateful(x, list("abcd"))
    assert torch.equal(again[:, [0, 2]], first[:, [0, 2]])
    assert not torch.equal(again[:, [1, 3]], first[:, [1, 3]])
    stateful.forget()
    assert torch.equal(stateful(x, list("abcd")), first)


def nodes_behind(tensor: torch.Tensor) -> int:
    found, waiting = set(), [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found.add(node)
            waiting += [parent for parent, _ in node.next_functions]
    return len(found)


def test_the_graph_behind_a_state_does_not_grow():
    """troubles 11, 12, 14: 100 pieces, each learned from, without retain_graph."""
    layer, x = made("lstm"), sequences(300)
    stateful, sizes = Stateful(layer), []
    for piece in pieces(x, [3] * 100):
        output = stateful(piece, list("abcd"))
        sizes.append(nodes_behind(output))
        output.square().sum().backward()
    assert len(set(sizes)) == 1
    assert not any(part.requires_grad for part in stateful.state("a").values())


def test_error_flows_to_the_beginning_of_the_piece_and_no_further():
    """troubles 14: a window of 20."""
    stateful, x = Stateful(made("lstm")), sequences(40).requires_grad_()
    stateful(x[:20], list("abcd"))
    output = stateful(x[20:], list("abcd"))
    (slope,) = torch.autograd.grad(output[-1].sum(), x)
    assert not slope[:20].any()
    assert (slope[20:].abs().sum(dim=(1, 2)) > 0).all()


def live_tensors() -> int:
    gc.collect()
    return sum(issubclass(type(o), torch.Tensor) for o in gc.get_objects())


def test_memory_stays_flat_over_many_steps():
    """troubles 9, 13: what is kept is one state for every key."""
    stateful, x, counts = Stateful(LSTM(3, 4)), torch.zeros(1, 2, 3), []
    with torch.no_grad():
        for _ in range(3):
            for _ in range(100):
                stateful(x, ["a", "b"])
            counts.append(live_tensors())
    assert counts[2] <= counts[1]


def test_one_stream_without_a_batch_and_packed_rows():
    layer, x = made("slstm"), sequences(10)
    stateful = Stateful(layer)
    got = [stateful(x[:4, 0], ["a"]), stateful(x[4:, 0], ["a"])]
    torch.testing.assert_close(torch.cat(got), layer(x[:, 0])[0], rtol=1e-12, atol=1e-13)
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, [2, 9, 5, 1], enforce_sorted=False)
    stateful.forget()
    stateful(packed, list("abcd"))
    for row, steps in enumerate([2, 9, 5, 1]):
        _, state = layer(x[:steps, row])
        for got_part, want in zip(stateful.state("abcd"[row]).values(), state, strict=True):
            torch.testing.assert_close(got_part, want, rtol=1e-12, atol=1e-13)


def test_a_learned_initial_state_begins_every_stream():
    layer = Recurrent("gru", 3, 5, learn_initial_state=True)
    torch.nn.init.constant_(layer.initial_h, 0.5)
    stateful, x = Stateful(layer), torch.zeros(2, 1, 3)
    torch.testing.assert_close(stateful(x, ["a"]), layer(x)[0])
    stateful(x, ["b"]).sum().backward()
    assert layer.initial_h.grad.abs().sum() > 0


@pytest.mark.parametrize(
    ("keys", "message"),
    [(["a"], "4 keys"), (list("aabc"), "'a' twice"), ("abcd", "4 keys")],
)
def test_keys_that_cannot_be_are_refused(keys, message):
    with pytest.raises(UsageError, match=message):
        Stateful(made("lstm"))(sequences(), keys)


def test_a_stream_nobody_fed_has_no_state():
    with pytest.raises(UsageError, match="has begun"):
        Stateful(made("lstm")).state("a")
