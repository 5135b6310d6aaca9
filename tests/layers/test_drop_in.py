"""LSTM, GRU and RNN beside torch.nn's: same call, same numbers, same errors."""

from __future__ import annotations

import copy
import warnings

import pytest
import torch
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from tidegate import layers

KINDS = ["LSTM", "GRU", "RNN"]
SHAPES = [
    {},
    {"num_layers": 3},
    {"bidirectional": True},
    {"num_layers": 2, "bidirectional": True, "batch_first": True},
    {"bias": False, "num_layers": 2},
]
CASES = [(kind, shape) for kind in KINDS for shape in SHAPES]
CASES += [("RNN", {"nonlinearity": "relu", "num_layers": 2})]
CASES += [("LSTM", {"proj_size": 2, "num_layers": 2, "bidirectional": True})]


def both(kind, sizes=(3, 5), dtype=torch.float64, **options):
    torch.manual_seed(0)
    theirs = getattr(torch.nn, kind)(*sizes, dtype=dtype, **options)
    torch.manual_seed(0)
    return theirs, getattr(layers, kind)(*sizes, dtype=dtype, **options)


def states(given):
    return given if isinstance(given, tuple) else (given,)


def start_for(module, rows=4, dtype=torch.float64):
    generator = torch.Generator().manual_seed(5)
    first = (2 if module.bidirectional else 1) * module.num_layers

    def part(size):
        return torch.randn(first, rows, size, generator=generator, dtype=dtype)

    h = part(getattr(module, "proj_size", 0) or module.hidden_size)
    return (h, part(module.hidden_size)) if type(module).__name__ == "LSTM" else h


def learned(module, x, hx):
    """Everything a user sees of one training step."""
    x = x.clone().requires_grad_()
    output, state = module(x, hx)
    data = output.data if isinstance(output, PackedSequence) else output
    (data.sin().sum() + sum(part.cos().sum() for part in states(state))).backward()
    found = [data, *states(state), x.grad, *(p.grad for p in module.parameters())]
    module.zero_grad()
    return [value.detach() for value in found]


@pytest.mark.parametrize(("kind", "shape"), CASES, ids=str)
def test_a_seed_gives_torchs_parameters_and_numbers(kind, shape):
    theirs, ours = both(kind, **shape)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    for name, value in theirs.state_dict().items():
        assert torch.equal(ours.state_dict()[name], value)
    x = torch.randn(6, 4, 3, dtype=torch.float64)
    rows = 6 if shape.get("batch_first") else 4
    for hx in (None, start_for(theirs, rows)):
        for got, want in zip(learned(ours, x, hx), learned(theirs, x, hx), strict=True):
            torch.testing.assert_close(got, want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("kind", "shape"), CASES, ids=str)
def test_weights_go_both_ways(kind, shape):
    theirs, ours = both(kind, **shape)
    torch.manual_seed(7)
    other = type(theirs)(3, 5, dtype=torch.float64, **shape)
    ours.load_state_dict(other.state_dict())
    theirs.load_state_dict(ours.state_dict())
    x = torch.randn(6, 4, 3, dtype=torch.float64)
    torch.testing.assert_close(ours(x)[0], other(x)[0], rtol=1e-11, atol=1e-12)
    assert torch.equal(theirs(x)[0], other(x)[0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sizes", [(1, 1), (3, 16), (17, 33)], ids=str)
def test_any_size_in_either_precision(kind, sizes, dtype):
    theirs, ours = both(kind, sizes, dtype)
    x = torch.randn(11, 7, sizes[0], dtype=dtype)
    tolerance = 1e-10 if dtype == torch.float64 else 2e-5
    for got, want in zip(learned(ours, x, None), learned(theirs, x, None), strict=True):
        torch.testing.assert_close(got, want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sort", [True, False])
def test_packed_sequences(kind, sort):
    theirs, ours = both(kind, num_layers=2, bidirectional=True)
    x = torch.randn(6, 4, 3, dtype=torch.float64)
    lengths = [6, 4, 4, 1] if sort else [4, 1, 6, 4]
    packed = pack_padded_sequence(x, lengths, enforce_sorted=sort)
    hx = start_for(theirs)
    got, want = ours(packed, hx), theirs(packed, hx)
    torch.testing.assert_close(got[0].data, want[0].data, rtol=1e-11, atol=1e-12)
    for name in ("batch_sizes", "sorted_indices", "unsorted_indices"):
        first, second = (getattr(pair[0], name) for pair in (got, want))
        assert (first is None) == (second is None)
        assert first is None or torch.equal(first, second)
    for a, b in zip(states(got[1]), states(want[1]), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch_first", [True, False])
def test_one_sequence_without_a_batch(kind, batch_first):
    theirs, ours = both(kind, num_layers=2, batch_first=batch_first)
    x = torch.randn(6, 3, dtype=torch.float64)
    hx = start_for(theirs, rows=1)
    hx = tuple(part[:, 0] for part in hx) if isinstance(hx, tuple) else hx[:, 0]
    for start in (None, hx):
        (got, last), (want, end) = ours(x, start), theirs(x, start)
        torch.testing.assert_close(got, want, rtol=1e-11, atol=1e-12)
        for a, b in zip(states(last), states(end), strict=True):
            torch.testing.assert_close(a, b, rtol=1e-11, atol=1e-12)


WRONG_SIZES = [
    ((0, 5), {}), ((3, 0), {}), ((3.0, 5), {}), ((3, "5"), {}), ((3, 5), {"num_layers": 0}),
    ((3, 5), {"dropout": 1.5}), ((3, 5), {"dropout": -0.1}), ((3, 5), {"dropout": True}),
    ((3, 5), {"bias": 1}), ((3, 5), {"batch_first": "no"}), ((3, 5), {"dropout": "half"}),
]  # fmt: skip


def error_of(call):
    with pytest.raises(Exception) as caught:  # noqa: PT011  (whatever torch raises)
        call()
    return caught.value


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("sizes", "options"), WRONG_SIZES, ids=str)
def test_impossible_arguments_are_refused_as_torch_refuses_them(kind, sizes, options):
    theirs = error_of(lambda: getattr(torch.nn, kind)(*sizes, **options))
    ours = error_of(lambda: getattr(layers, kind)(*sizes, **options))
    assert type(ours) is type(theirs)
    assert str(ours) == str(theirs)


@pytest.mark.parametrize(
    ("kind", "options"),
    [("LSTM", {"proj_size": 5}), ("LSTM", {"proj_size": -1}), ("GRU", {"proj_size": 2}),
     ("RNN", {"proj_size": 2}), ("RNN", {"nonlinearity": "sigmoid"})],
)  # fmt: skip
def test_impossible_variants_are_refused_as_torch_refuses_them(kind, options):
    theirs = error_of(lambda: getattr(torch.nn, kind)(3, 5, **options))
    ours = error_of(lambda: getattr(layers, kind)(3, 5, **options))
    assert (type(ours), str(ours)) == (type(theirs), str(theirs))


def zeros(*shape, dtype=torch.float32):
    return torch.zeros(shape, dtype=dtype)


WRONG_CALLS = {
    "input size": lambda m: m(zeros(6, 4, 9)),
    "dimensions": lambda m: m(zeros(6, 4, 3, 1)),
    "no steps": lambda m: m(zeros(0, 4, 3)),
    "dtype": lambda m: m(zeros(6, 4, 3, dtype=torch.float64)),
    "state of a batch": lambda m: m(zeros(6, 4, 3), like(m, 1, 5)),
    "state of one": lambda m: m(zeros(6, 3), like(m, 1, 4, 5)),
    "rows": lambda m: m(zeros(6, 4, 3), like(m, 1, 3, 5)),
    "units": lambda m: m(zeros(6, 4, 3), like(m, 1, 4, 6)),
    "layers": lambda m: m(zeros(6, 4, 3), like(m, 2, 4, 5)),
}


def like(module, *shape):
    return (zeros(*shape), zeros(*shape)) if type(module).__name__ == "LSTM" else zeros(*shape)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", WRONG_CALLS)
def test_what_does_not_fit_is_refused_as_torch_refuses_it(kind, case):
    theirs, ours = both(kind, dtype=torch.float32)
    want, got = (error_of(lambda m=m: WRONG_CALLS[case](m)) for m in (theirs, ours))
    assert type(got) is type(want)
    assert str(got) == str(want)


def test_the_second_state_is_named_as_torch_names_it():
    theirs, ours = both("LSTM", dtype=torch.float32)
    x, hx = zeros(6, 2, 3), (zeros(1, 2, 5), zeros(1, 3, 5))
    want, got = (error_of(lambda m=m: m(x, hx)) for m in (theirs, ours))
    assert (type(got), str(got)) == (type(want), str(want))


@pytest.mark.parametrize("kind", KINDS)
def test_dropout_on_one_layer_warns(kind):
    with pytest.warns(UserWarning) as theirs:
        getattr(torch.nn, kind)(3, 5, dropout=0.5)
    with pytest.warns(UserWarning) as ours:
        getattr(layers, kind)(3, 5, dropout=0.5)
    assert str(ours[0].message) == str(theirs[0].message)


@pytest.mark.parametrize(("kind", "shape"), CASES, ids=str)
def test_what_it_shows_of_itself(kind, shape):
    theirs, ours = both(kind, **shape)
    assert repr(ours) == repr(theirs)
    for name in ("input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout",
                 "bidirectional", "mode"):  # fmt: skip
        assert getattr(ours, name) == getattr(theirs, name)
    names = [[p.shape for p in part] for part in theirs.all_weights]
    assert [[p.shape for p in part] for part in ours.all_weights] == names
    assert ours.flatten_parameters() is None


def test_dropout_falls_between_layers_only_while_training():
    layer = layers.GRU(3, 50, num_layers=2, dropout=0.5)
    x = torch.randn(6, 4, 3)
    first, second = layer(x)[0], layer(x)[0]
    assert not torch.equal(first, second)
    layer.eval()
    assert torch.equal(layer(x)[0], layer(x)[0])
    everything = layers.LSTM(4, 4, 2, dropout=1.0)
    assert torch.isfinite(everything(torch.randn(3, 2, 4))[0]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_backward_in_eval_mode(kind):
    """peers 14."""
    _, ours = both(kind)
    x = torch.randn(6, 4, 3, dtype=torch.float64, requires_grad=True)
    ours.eval()(x)[0].sum().backward()
    assert x.grad.abs().sum() > 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_second_derivative_is_torchs(kind):
    """peers 13: a penalty on the gradient, as in WGAN-GP."""
    found = []
    for module in both(kind):
        x = torch.linspace(-1, 1, 36, dtype=torch.float64).reshape(3, 4, 3).requires_grad_()
        (slope,) = torch.autograd.grad(module(x)[0].sum(), x, create_graph=True)
        ((slope.norm() - 1) ** 2).backward()
        found.append([x.grad, *(p.grad for p in module.parameters())])
    for want, got in zip(*found, strict=True):
        if want is not None:
            torch.testing.assert_close(got, want, rtol=1e-9, atol=1e-11)


def test_a_changed_weight_is_noticed_by_backward():
    """Weights that change between forward and backward would give a wrong gradient in silence."""
    _, ours = both("LSTM")
    loss = ours(torch.randn(6, 4, 3, dtype=torch.float64))[0].sum()
    with torch.no_grad():
        ours.weight_hh_l0.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_a_changed_output_is_noticed():
    """As with torch.nn.LSTM: the output is what the gradient is made of."""
    _, ours = both("LSTM")
    output, _ = ours(torch.randn(6, 4, 3, dtype=torch.float64))
    with pytest.raises(RuntimeError, match="inplace"):
        output.mul_(3)
        output.sum().backward()


def test_backward_twice_over_one_graph():
    _, ours = both("GRU")
    loss = ours(torch.randn(6, 4, 3, dtype=torch.float64))[0].sum()
    loss.backward(retain_graph=True)
    first = ours.weight_hh_l0.grad.clone()
    loss.backward()
    torch.testing.assert_close(ours.weight_hh_l0.grad, 2 * first)
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


@pytest.mark.parametrize("kind", KINDS)
def test_weight_norm_and_frozen_weights(kind):
    theirs, ours = both(kind)
    for module in (theirs, ours):
        torch.nn.utils.parametrizations.weight_norm(module, "weight_hh_l0")
        module.weight_ih_l0.requires_grad_(False)
    x = torch.randn(6, 4, 3, dtype=torch.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want, got = theirs(x)[0], ours(x)[0]
    torch.testing.assert_close(got, want, rtol=1e-11, atol=1e-12)
    got.sum().backward()
    assert ours.weight_ih_l0.grad is None
    assert ours.parametrizations.weight_hh_l0.original1.grad.abs().sum() > 0


def test_strided_inputs_and_outputs():
    theirs, ours = both("LSTM", batch_first=True)
    x = torch.randn(3, 8, 4, dtype=torch.float64).permute(2, 1, 0)[:, ::2]
    assert not x.is_contiguous()
    torch.testing.assert_close(ours(x)[0], theirs(x)[0], rtol=1e-11, atol=1e-12)


def test_conversions_of_dtype_and_copies():
    _, ours = both("LSTM")
    single = copy.deepcopy(ours).float()
    x = torch.randn(6, 4, 3)
    torch.testing.assert_close(single(x)[0], ours(x.double())[0].float(), rtol=1e-5, atol=1e-6)
    meta = layers.LSTM(3, 5, device="meta")
    assert meta.weight_ih_l0.device.type == "meta"
    meta = meta.to_empty(device="cpu")
    meta.load_state_dict(single.state_dict())
    assert torch.equal(meta(x)[0], single(x)[0])


def test_moving_average_of_modules_runs():
    _, ours = both("LSTM", dtype=torch.float32)
    averaged = torch.optim.swa_utils.AveragedModel(ours)
    averaged.update_parameters(ours)
    x = torch.randn(6, 4, 3)
    torch.testing.assert_close(averaged(x)[0], ours(x)[0])
