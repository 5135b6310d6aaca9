"""The kernels as operators of torch, for torch.compile."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tidegate.calculus import derive
from tidegate.cells.base import Cell
from tidegate.kernels.batch import Weights, forward
from tidegate.kernels.batch.plan import kept
from tidegate.layers import arrays
from tidegate.layers.arrays import Call, Tensors
from tidegate.layers.direction import Run, Task
from tidegate.layers.keys import cell_of
from tidegate.layers.layout import Carried, Layout

__all__ = ["run"]

_INPUTS = "Tensor x, Tensor input, Tensor hidden, Tensor bias, Tensor unit, Tensor h, Tensor m"
_FLAGS = "Tensor? reset, str cell, bool reverse"


@torch.library.custom_op(
    "tidegate::forward",
    mutates_args=(),
    schema=f"({_INPUTS}, {_FLAGS}) -> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)",
)
def _forward(*arguments: Any) -> Tensors:
    (hidden, *last), saved, _ = arrays.forward(*_taken(arguments))
    # The results of an operator may not share memory, and hidden may lie in what is saved.
    return hidden.clone(), *last, *saved


@torch.library.custom_op(
    "tidegate::backward",
    mutates_args=(),
    schema=(
        f"({_INPUTS}, {_FLAGS}, Tensor state, Tensor memory, Tensor values, "
        "Tensor d_hidden, Tensor d_last_hidden, Tensor d_last_memory) "
        "-> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)"
    ),
)
def _backward(*arguments: Any) -> Tensors:
    call, tensors = _taken(arguments[:10])
    saved, errors = arguments[10:13], arguments[13:]
    found = arrays.backward(call, tensors, saved, errors, needs_x=True)
    return tuple(gradient for gradient in found if gradient is not None)


@_forward.register_fake
def _forward_shapes(*arguments: Any) -> Tensors:
    x, _, _, _, unit, h, m, _, key, _ = arguments
    steps, rows, _ = x.shape
    units, new = unit.shape[1], x.new_empty
    values = _values(cell_of(key), x.dtype)
    return (
        new(steps, rows, h.shape[0] * units),
        torch.empty_like(h),
        torch.empty_like(m),
        new(steps + 1, rows, h.shape[0] * units),
        new(steps + 1, rows, m.shape[0] * units),
        new(steps, rows, values, units),
    )


@_backward.register_fake
def _backward_shapes(*arguments: Any) -> Tensors:
    return tuple(torch.empty_like(tensor) for tensor in arguments[:7])


def _setup(ctx: Any, inputs: tuple[Any, ...], output: Tensors) -> None:
    ctx.flags = inputs[8:]
    ctx.save_for_backward(*inputs[:8], *output[3:6])


def _gradient(ctx: Any, *errors: Tensor) -> Any:
    *inputs, state, memory, values = ctx.saved_tensors
    found = _backward(*inputs, *ctx.flags, state, memory, values, *errors[:3])
    return *found, None, None, None


_forward.register_autograd(_gradient, setup_context=_setup)


def _taken(arguments: tuple[Any, ...]) -> tuple[Call, Tensors]:
    *tensors, reset, key, reverse = arguments
    call = Call(cell_of(key), reset, None, reverse, trace=False, saving=True)
    return call, tuple(tensor.contiguous() for tensor in tensors)


@cache
def _values(cell: Cell, dtype: torch.dtype) -> int:
    """How many values of a step a kernel keeps for its way back."""
    real = np.dtype(str(dtype).removeprefix("torch."))
    shapes = Weights.shapes(cell, inputs=1, units=1)
    weights = Weights(**{name: np.zeros(shape, real) for name, shape in shapes.items()})
    hidden = np.zeros((len(cell.hidden), 1, 1), real)
    memory = np.zeros((len(kept(derive(cell))), 1, 1), real)
    done = forward(cell, weights, np.zeros((1, 1, 1), real), hidden, memory, saving=True)
    assert done.saved is not None
    return int(done.saved.values.shape[2])


def run(layout: Layout, parameters: Mapping[str, Tensor], task: Task) -> Run:
    """Run one direction of one layer, in a form that torch.compile takes as one operator."""
    start = task.state or layout.start(task.x.shape[1], task.x)
    weights = layout.weights(parameters)
    together = (task.x, weights.input, weights.hidden, weights.bias, weights.unit, *start)
    tensors = [tensor.contiguous() for tensor in together]
    reset = None if task.reset is None else task.reset.to(torch.uint8)
    hidden, *last, _, _, _ = _forward(*tensors, reset, layout.key, task.reverse)
    return Run(hidden, Carried(*last), None)
