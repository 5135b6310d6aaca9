"""The torch form of the functions against the NumPy form: values, dtypes, gradients."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import tidegate.layers.functions  # noqa: F401  (registers the torch form)
from tidegate.cells import functions as f

ENDS = [0.0, 1e-30, -1e-30, 0.7, -0.7, 80.0, -80.0, 700.0, -700.0, np.inf, -np.inf, np.nan]
DTYPES = [(np.float32, torch.float32), (np.float64, torch.float64)]
ONE = ["sigmoid", "tanh", "exp", "log", "sqrt", "log_sigmoid", "absolute", "fixed"]


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize(("numpy", "kind"), DTYPES)
def test_one_argument_is_the_numpy_form(name, numpy, kind):
    x = np.array(ENDS, numpy)
    got = getattr(f, name)(torch.tensor(x))
    assert got.dtype == kind
    info = np.finfo(numpy)
    want = getattr(f, name)(x)
    np.testing.assert_allclose(got.numpy(), want, rtol=4 * info.eps, atol=info.tiny)


@pytest.mark.parametrize("name", ["maximum", "minimum"])
@pytest.mark.parametrize(("numpy", "kind"), DTYPES)
def test_two_arguments_are_the_numpy_form(name, numpy, kind):
    x, y = (grid.ravel().astype(numpy) for grid in np.meshgrid(ENDS, ENDS))
    form = getattr(f, name)
    for a, b in ((x, y), (x, 0.5), (0.5, x)):
        tensors = [torch.tensor(v) if isinstance(v, np.ndarray) else v for v in (a, b)]
        assert form(*tensors).dtype == kind
        np.testing.assert_array_equal(form(*tensors).numpy(), form(a, b))


@pytest.mark.parametrize(("numpy", "kind"), DTYPES)
@pytest.mark.parametrize(
    "arguments",
    [
        (0, 0.5, 1.0, -1.0),
        (0.5, 0, 1.0, -1.0),
        (1.0, 2.0, 0, -1.0),
        (1.0, 2.0, 3.0, 0),
        (0, 0, 0, 0),
    ],
    ids=str,
)
def test_choose_is_the_numpy_form_wherever_the_tensor_stands(numpy, kind, arguments):
    x = np.array(ENDS, numpy)
    ours = [x if a == 0 and isinstance(a, int) else a for a in arguments]
    got = f.choose(*(torch.tensor(v) if v is x else v for v in ours))
    assert got.dtype == kind
    np.testing.assert_array_equal(np.broadcast_to(got.numpy(), x.shape), f.choose(*ours))


def test_no_error_flows_through_fixed():
    x = torch.tensor([0.3], requires_grad=True)
    (x * f.fixed(x)).sum().backward()
    assert x.grad.item() == pytest.approx(0.3)


def test_log_sigmoid_keeps_what_the_gate_loses():
    assert f.log_sigmoid(torch.tensor(120.0, dtype=torch.float64)).item() == pytest.approx(
        -7.66764807e-53
    )
