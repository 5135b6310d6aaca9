"""The NumPy truth of the batch kernels, against automatic differentiation of the same equations."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch

import tidegate.layers.functions  # noqa: F401  (registers the torch form)
from support.batch import problem
from support.cells import EVERY, name
from tidegate.calculus import derive
from tidegate.kernels.batch import reference as batch_reference
from tidegate.kernels.batch.plan import kept


def torch_layer(cell, w, x, hidden0, memory0, reset, lengths, reverse):
    """The layer on torch tensors: outputs, last hidden, last memory."""
    eq = derive(cell)
    units = w.unit.shape[1]
    own = kept(eq)
    state = dict(zip(eq.hidden, hidden0, strict=True)) | dict(zip(own, memory0, strict=True))
    by = {
        z: dict(
            zip(
                eq.fed_by(z),
                getattr(w, z).unflatten(0, (-1, units)) if len(getattr(w, z)) else (),
                strict=True,
            )
        )
        for z in ("input", "hidden", "bias")
    }
    par = SimpleNamespace(**dict(zip(eq.parameters, w.unit, strict=True)))
    outputs = [None] * len(x)
    for t in reversed(range(len(x))) if reverse else range(len(x)):
        for n in state:
            fresh = cell.start.get(n, 0.0) if n in cell.memory else 0.0
            state[n] = torch.where(reset[t][:, None] != 0, torch.tensor(fresh).to(x), state[n])
        h = torch.cat([state[n] for n in eq.hidden], 1)
        past = SimpleNamespace(**{n: state[n] for n in eq.memory})
        z = {}
        for s in eq.slots:
            z[s] = x.new_zeros(x.shape[1], units) + by["bias"].get(s, 0)
            if s in by["input"]:
                z[s] = z[s] + x[t] @ by["input"][s].T
            if s in by["hidden"] and s not in eq.second_product:
                z[s] = z[s] + h @ by["hidden"][s].T
        if eq.second_product:
            gates = cell.step(SimpleNamespace(**z), past, par).gates
            for s, gate in eq.second_product.items():
                z[s] = z[s] + (gates[gate].repeat(1, len(eq.hidden)) * h) @ by["hidden"][s].T
        for s in eq.normalised:
            z[s] = torch.nn.functional.layer_norm(z[s], (units,))
        step = cell.step(SimpleNamespace(**z), past, par)
        active = (t < lengths)[:, None]
        outputs[t] = torch.cat([getattr(step, n) for n in eq.hidden], 1) * active
        state = {n: torch.where(active, getattr(step, n), state[n]) for n in state}
    last = [torch.stack([state[n] for n in names]) if names else x.new_zeros(0, x.shape[1], units)
            for names in (eq.hidden, own)]  # fmt: skip
    return torch.stack(outputs), *last


@pytest.mark.parametrize("cell", EVERY, ids=name)
@pytest.mark.parametrize("reverse", [False, True])
def test_values_and_gradients_are_autograd_s(cell, reverse):
    p = problem(cell, steps=6, rows=4, inputs=3, units=5, dtype=np.float64)
    tensors = {n: torch.tensor(v, requires_grad=True) for n, v in p.differentiable().items()}
    w = SimpleNamespace(**{n: tensors[n] for n in ("input", "hidden", "bias", "unit")})
    expected = torch_layer(
        cell, w, tensors["x"], tensors["hidden0"], tensors["memory0"],
        torch.tensor(p.reset), torch.tensor(p.lengths), reverse,
    )  # fmt: skip
    sum((e * torch.tensor(d)).sum() for e, d in zip(expected, p.errors, strict=True)).backward()
    run = batch_reference.forward(
        cell, p.weights, p.x, p.hidden0, p.memory0,
        reset=p.reset, lengths=p.lengths, reverse=reverse, trace=True,
    )  # fmt: skip
    got = (run.hidden, run.last_hidden, run.last_memory)
    for g, e in zip(got, expected, strict=True):
        np.testing.assert_allclose(g, e.detach().numpy(), rtol=1e-12, atol=1e-12)
    back = batch_reference.backward(run.saved, *p.errors)
    gradients = {
        "x": back.x,
        "hidden0": back.hidden0,
        "memory0": back.memory0,
    } | back.weights._asdict()
    for n, gradient in gradients.items():
        wanted = tensors[n].grad
        wanted = np.zeros_like(gradient) if wanted is None else wanted.numpy()
        np.testing.assert_allclose(gradient, wanted, rtol=1e-10, atol=1e-12, err_msg=n)
    assert np.any(back.weights.input)
    assert set(run.gates) == set(derive(cell).gates)
