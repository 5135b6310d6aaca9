"""torch.func, forward-mode differentiation and torch.compile."""

from __future__ import annotations

import pytest
import torch
from torch.func import functional_call, grad, jacrev, jvp, stack_module_state, vmap

from support.layers import eagerly, flags, gradients, made, sequences
from tidegate.layers import GRU, LSTM

# torch's own, on first use of its forward mode and of its compiler
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")

NAMES = ["gru", "lstm", "mgu", "peephole", "slstm"]


@pytest.mark.parametrize("kind", [LSTM, GRU])
def test_vmap_over_stacked_modules(kind):
    """peers 11."""
    modules, x = [kind(3, 5, dtype=torch.float64) for _ in range(3)], sequences()
    parameters, _ = stack_module_state(modules)
    outputs = vmap(lambda p: functional_call(modules[0], p, (x,))[0])(parameters)
    for module, output in zip(modules, outputs, strict=True):
        torch.testing.assert_close(output, module(x)[0], rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_gradients_sample_by_sample(name):
    """peers 11."""
    layer, x = made(name), sequences()
    parameters = {n: p.detach() for n, p in layer.named_parameters()}

    def loss(given, sample):
        return functional_call(layer, given, (sample.unsqueeze(1),))[0].square().sum()

    together = vmap(grad(loss), in_dims=(None, 1))(parameters, x)
    for row in range(4):
        alone = torch.autograd.grad(
            layer(x[:, row : row + 1])[0].square().sum(), layer.weight_ih_l0
        )
        torch.testing.assert_close(together["weight_ih_l0"][row], alone[0], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_forward_mode_is_the_slope_along_a_direction(dtype):
    """peers 12: in single precision torch's own layer cannot."""
    layer, x, along = made("lstm", dtype), sequences(dtype=dtype), sequences(dtype=dtype, seed=8)
    output, slope = jvp(lambda a: layer(a)[0], (x,), (along,))
    x.requires_grad_()
    (back,) = torch.autograd.grad(layer(x)[0].sum(), x)
    tolerance = 1e-11 if dtype == torch.float64 else 1e-4
    torch.testing.assert_close(slope.sum(), (back * along).sum(), rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(output, layer(x)[0].detach(), rtol=tolerance, atol=tolerance)


def test_dual_tensors_outside_torch_func():
    layer, x, along = made("gru"), sequences(), sequences(seed=8)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, along)
        slope = torch.autograd.forward_ad.unpack_dual(layer(dual)[0]).tangent
    want = jvp(lambda a: layer(a)[0], (x,), (along,))[1]
    torch.testing.assert_close(slope, want, rtol=1e-12, atol=1e-13)


def test_jacobians():
    layer, x = made("peephole"), sequences(3, 2)
    jacobian = jacrev(lambda a: layer(a)[0].sum(dim=(0, 1)))(x)
    for unit in range(5):
        (row,) = torch.autograd.grad(layer(x.requires_grad_())[0][..., unit].sum(), x)
        torch.testing.assert_close(jacobian[unit], row, rtol=1e-11, atol=1e-12)


@pytest.fixture
def fresh_compiler():
    torch.compiler.reset()
    yield
    torch.compiler.reset()


@pytest.mark.usefixtures("fresh_compiler")
@pytest.mark.parametrize("name", ["lstm", "mgu", "block2000"])
def test_one_graph_with_its_gradient(name):
    """peers 10."""
    layer, x = made(name, num_layers=2, bidirectional=True), sequences()
    reset = flags()
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    want = gradients(layer, x, reset=reset)
    x.requires_grad_()
    output, state = compiled(x, reset=reset)
    torch.testing.assert_close(output.detach(), want["output"], rtol=1e-12, atol=1e-13)
    loss = (output * torch.linspace(-1, 1, output.numel(), dtype=x.dtype).view_as(output)).sum()
    (loss + sum((part * part.cos()).sum() for part in state)).backward()
    torch.testing.assert_close(x.grad, want["x"], rtol=1e-11, atol=1e-12)
    for key, parameter in layer.named_parameters():
        torch.testing.assert_close(parameter.grad, want[key], rtol=1e-10, atol=1e-11)


@pytest.mark.usefixtures("fresh_compiler")
def test_the_default_compiler_takes_a_drop_in():
    """peers 9, 10: in place of torch.nn.LSTM, which is no graph; the steps are not unrolled."""
    layer, x = LSTM(3, 5, batch_first=True), sequences(50, 4, torch.float32)
    compiled = torch.compile(layer, fullgraph=True)
    torch.testing.assert_close(compiled(x)[0], layer(x)[0], rtol=1e-6, atol=1e-7)


@pytest.mark.usefixtures("fresh_compiler")
def test_the_eager_form_is_one_graph_too():
    layer, x = made("slstm"), sequences(3)
    with eagerly():
        compiled = torch.compile(layer, fullgraph=True, backend="eager")
        torch.testing.assert_close(compiled(x)[0], layer(x)[0], rtol=1e-12, atol=1e-13)


def test_the_operators_are_registered_as_torch_wants_them():
    from tidegate.layers.keys import cell_key
    from tidegate.layers.operators import _forward

    layer, x = made("lstm"), sequences(3, 2)
    w = layer.places[0].layout.weights({n: getattr(layer, f"{n}_l0") for n in (
        "weight_ih", "weight_hh", "bias_ih", "bias_hh")})  # fmt: skip
    start = torch.zeros(1, 2, 5, dtype=torch.float64)
    arguments = (x, w.input.detach(), w.hidden.detach(), w.bias.detach(), w.unit.detach(), start)
    arguments = tuple(t.clone().requires_grad_() for t in arguments)
    torch.library.opcheck(
        _forward, (*arguments, start.clone(), None, cell_key(layer.cell), False),
        test_utils=("test_schema", "test_faketensor", "test_autograd_registration"),
    )  # fmt: skip
