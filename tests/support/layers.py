"""Layers and sequences for tests, the same for the same seed."""

from __future__ import annotations

import copy
from contextlib import contextmanager

import pytest
import torch

from tidegate.layers import Recurrent

INPUTS, UNITS = 3, 5


def made(cell, dtype=torch.float64, seed=0, **options) -> Recurrent:
    torch.manual_seed(seed)
    return Recurrent(cell, INPUTS, UNITS, dtype=dtype, **options)


def sequences(steps=7, rows=4, dtype=torch.float64, seed=1) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(steps, rows, INPUTS, generator=generator, dtype=torch.float64).to(dtype)


def flags(steps=7, rows=4, share=0.3, seed=2) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(steps, rows, generator=generator) < share


def some_state(layer: Recurrent, rows=4, seed=3) -> tuple[torch.Tensor, ...]:
    """A state that running itself has reached, so that it is one the cell can be in."""
    with torch.no_grad():
        return layer(sequences(3, rows, layer.weight_ih_l0.dtype, seed))[1]


@contextmanager
def eagerly():
    """Layers run in torch operations; TIDEGATE_REFERENCE as a user would set it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIDEGATE_REFERENCE", "1")
        yield


def gradients(layer: Recurrent, x, hx=None, **options) -> dict[str, torch.Tensor]:
    """Outputs, last states, and gradients of a mixed loss by every tensor that goes in."""
    layer = copy.deepcopy(layer)
    x = x.clone().requires_grad_()
    given = None if hx is None else tuple(part.clone().requires_grad_() for part in hx)
    output, state = layer(x, given, **options)
    loss = (output * torch.linspace(-1, 1, output.numel(), dtype=x.dtype).view_as(output)).sum()
    loss = loss + sum((part * part.cos()).sum() for part in state)
    loss.backward()
    found = {"output": output.detach(), "x": x.grad}
    found |= {f"state {n}": part.detach() for n, part in enumerate(state)}
    found |= {f"start {n}": part.grad for n, part in enumerate(given or ())}
    return found | {name: parameter.grad for name, parameter in layer.named_parameters()}


def assert_same(got: dict, want: dict, tolerance: float) -> None:
    assert got.keys() == want.keys()
    for name, value in want.items():
        other = got[name]
        if value is None or other is None:
            assert value is None or not value.any(), name
            assert other is None or not other.any(), name
            continue
        far = (other - value).abs().max().item() if value.numel() else 0.0
        scale = max(1.0, value.abs().max().item()) if value.numel() else 1.0
        assert far <= tolerance * scale, (name, far)
