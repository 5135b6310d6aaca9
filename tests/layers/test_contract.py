"""What every cell keeps as a layer, found by name."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from support.layers import (
    assert_same,
    eagerly,
    flags,
    gradients,
    made,
    sequences,
    some_state,
)
from tidegate import cells
from tidegate.calculus import derive
from tidegate.kernels.batch import reference as batch_reference
from tidegate.kernels.batch.plan import Weights, kept

EVERY = cells.names()
SCALED = {"slstm"}  # its memories are in units that pass no error; its output is in no unit
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-11}
DEEP = {"num_layers": 2, "bidirectional": True}


@pytest.fixture(params=EVERY)
def cell(request):
    return request.param


@pytest.mark.parametrize(
    ("dtype", "shape"), [(torch.float64, {}), (torch.float32, DEEP)], ids=["double", "deep"]
)
def test_eager_and_compiled_are_the_same(cell, dtype, shape):
    layer, x = made(cell, dtype, **shape), sequences(dtype=dtype)
    hx, reset = some_state(layer), flags()
    for options in ({}, {"reset": reset}, {"reset": reset, "lengths": torch.tensor([7, 2, 5, 1])}):
        got = gradients(layer, x, hx, **options)
        with eagerly():
            want = gradients(layer, x, hx, **options)
        assert_same(got, want, TOLERANCE[dtype])
        assert any(value.abs().max() > 1e-3 for value in got.values() if value is not None)


def reference(layer, x, reset):
    """Outputs and gradients of the sum of outputs by the NumPy reference."""
    place = layer.places[0]
    w = place.layout.weights({name: getattr(layer, full) for name, full in place.names.items()})
    arrays = Weights(*(t.detach().numpy() for t in (w.input, w.hidden, w.bias, w.unit)))
    start = [part.detach().numpy() for part in layer.initial_state(x.shape[1])]
    by_name = dict(zip(layer.states, start, strict=True))
    own = kept(derive(layer.cell))
    hidden = np.concatenate([by_name[n] for n in layer.cell.hidden])
    memory = np.concatenate([by_name[n] for n in own]) if own else hidden[:0]
    done = batch_reference.forward(
        layer.cell, arrays, x.numpy(), hidden, memory, reset=reset.numpy().astype(np.uint8)
    )
    back = batch_reference.backward(done.saved, np.ones_like(done.hidden), None, None)
    return done.hidden, back


def test_the_numpy_reference_agrees(cell):
    layer, x, reset = made(cell), sequences(), flags()
    x.requires_grad_()
    with eagerly():
        output, _ = layer(x, reset=reset)
        output.sum().backward()
    hidden, back = reference(layer, x.detach(), reset)
    np.testing.assert_allclose(output.detach().numpy(), hidden, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(x.grad.numpy(), back.x, rtol=1e-11, atol=1e-12)
    got = layer.weight_ih_l0.grad.numpy()
    np.testing.assert_allclose(got, back.weights.input, rtol=1e-11, atol=1e-11)


def test_gradients_are_those_of_finite_differences(cell):
    layer = made(cell)
    names = [name for name, _ in layer.named_parameters()]
    hx = tuple(part.requires_grad_() for part in some_state(layer, rows=2))
    reset = flags(3, 2)

    def run(x, *rest):
        parameters = dict(zip(names, rest[: len(names)], strict=True))
        output, state = torch.func.functional_call(
            layer, parameters, (x, rest[len(names) :]), {"reset": reset}
        )
        return (output,) if cell in SCALED else (output, *state)

    inputs = (sequences(3, 2).requires_grad_(), *layer.parameters(), *hx)
    assert torch.autograd.gradcheck(run, inputs, fast_mode=True, atol=1e-6)


@pytest.mark.parametrize("name", ["gru", "gru2014", "layer_norm_lstm", "lstm", "peephole", "slstm"])
def test_second_derivatives_are_those_of_finite_differences(name):
    layer = made(name)

    def run(x, weight):
        return torch.func.functional_call(layer, {"weight_ih_l0": weight}, (x,))[0]

    inputs = (sequences(3, 2).requires_grad_(), layer.weight_ih_l0)
    assert torch.autograd.gradgradcheck(run, inputs, fast_mode=True, atol=1e-6)


@pytest.mark.parametrize("cut", [1, 3, 6])
def test_a_stream_may_be_cut_anywhere(cell, cut):
    layer, x = made(cell, num_layers=2), sequences()
    whole, last = layer(x)
    head, state = layer(x[:cut])
    tail, end = layer(x[cut:], state)
    torch.testing.assert_close(torch.cat([head, tail]), whole, rtol=1e-12, atol=1e-13)
    for got, want in zip(end, last, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("both", [False, True])
def test_a_reset_is_two_runs_and_stops_the_gradient(cell, both):
    """peers 3, 6: a reset acts before its step, in either direction."""
    layer, x = made(cell, bidirectional=both), sequences().requires_grad_()
    reset = torch.zeros(7, 4)
    reset[3, 1:3] = 1
    output, _ = layer(x, reset=reset)
    for row in range(4):
        pieces = [x[:3], x[3:]] if row in (1, 2) else [x]
        alone = torch.cat([layer(piece[:, row : row + 1])[0] for piece in pieces])
        torch.testing.assert_close(output[:, row : row + 1], alone, rtol=1e-12, atol=1e-13)
    output[3:].sum().backward()
    before = x.grad[:3].abs().sum(dim=(0, 2))
    assert not before[1:3].any()
    assert before[0] > 0 and before[3] > 0


def test_rows_do_not_see_each_other(cell):
    """peers 24, troubles 6: not a bit of a row's output depends on its neighbours.

    The normalised cell runs on torch's products, whose order of summing depends on the rows.
    """
    layer, x = made(cell, torch.float32), sequences(rows=9, dtype=torch.float32)
    whole, _ = layer(x)
    for rows in ([0], [8], [3, 1], [7, 8, 2, 4, 0]):
        tolerance = 1e-6 if layer.cell.fed_by("norm") else 0.0
        assert (layer(x[:, rows])[0] - whole[:, rows]).abs().max() <= tolerance
    spoiled = x.clone()
    spoiled[2, 4] = float("nan")
    kept_rows = [row for row in range(9) if row != 4]
    output, _ = layer(spoiled)
    assert (output[:, kept_rows] - whole[:, kept_rows]).abs().max() <= tolerance
    assert output[2:, 4].isnan().any() and not output[:2, 4].isnan().any()


@pytest.mark.parametrize("shape", [{}, DEEP], ids=["one", "deep"])
def test_packed_rows_are_the_rows_alone(cell, shape):
    layer, x, lengths = made(cell, **shape), sequences(), [2, 7, 1, 5]
    hx = some_state(layer)
    packed = pack_padded_sequence(x, lengths, enforce_sorted=False)
    output, state = layer(packed, hx)
    padded, sizes = pad_packed_sequence(output)
    assert sizes.tolist() == lengths
    masked, same = layer(x, hx, lengths=torch.tensor(lengths))
    torch.testing.assert_close(masked, padded, rtol=0, atol=0)
    for row, steps in enumerate(lengths):
        own = tuple(part[:, row : row + 1] for part in hx)
        alone, last = layer(x[:steps, row : row + 1], own)
        torch.testing.assert_close(padded[:steps, row : row + 1], alone, rtol=1e-12, atol=1e-13)
        assert not padded[steps:, row].any()
        for got, also, want in zip(state, same, last, strict=True):
            torch.testing.assert_close(got[:, row : row + 1], want, rtol=1e-12, atol=1e-13)
            assert torch.equal(got, also)


def test_one_step_no_rows_and_no_steps(cell):
    """peers 25."""
    layer = made(cell)
    assert layer(sequences(1, 4))[0].shape == (1, 4, layer.places[0].layout.outputs)
    output, state = layer(sequences(7, 0))
    assert output.shape[:2] == (7, 0) and all(part.shape[1] == 0 for part in state)
    with pytest.raises(RuntimeError, match="Expected sequence length to be larger than 0 in RNN"):
        layer(sequences(0, 4))


def test_a_row_without_steps_keeps_its_state(cell):
    """peers 25, troubles 35."""
    layer, x = made(cell), sequences()
    hx = some_state(layer)
    output, state = layer(x, hx, lengths=torch.tensor([0, 7, 3, 0]))
    assert not output[:, [0, 3]].any()
    for got, start in zip(state, hx, strict=True):
        assert torch.equal(got[:, [0, 3]], start[:, [0, 3]])


def test_copies_and_saved_weights_run_alike(cell):
    layer, x = made(cell, **DEEP), sequences()
    want, _ = layer(x)
    other = made(cell, seed=9, **DEEP)
    assert not torch.equal(other(x)[0], want)
    other.load_state_dict(layer.state_dict())
    for copied in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)), other):
        assert torch.equal(copied(x)[0], want)


def test_a_seed_gives_the_same_bits_twice(cell):
    x, found = sequences(dtype=torch.float32), []
    for _ in range(2):
        layer = made(cell, torch.float32, seed=4, **DEEP, dropout=0.5, recurrent_dropout=0.2)
        found.append(gradients(layer, x))
    for name, value in found[0].items():
        assert value is None or torch.equal(value, found[1][name]), name


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_number_of_threads_changes_no_bit(threads):
    layer, x = made("lstm", torch.float32), sequences(5, 37, torch.float32)
    before = torch.get_num_threads()
    want = gradients(layer, x)
    try:
        torch.set_num_threads(threads)
        got = gradients(layer, x)
    finally:
        torch.set_num_threads(before)
    assert_same(got, want, 0.0)
