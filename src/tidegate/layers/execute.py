"""One direction of one layer by the fastest form that applies."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from tidegate.kernels.engine import reference
from tidegate.layers import compiled, direction, operators
from tidegate.layers.direction import Run, Task
from tidegate.layers.layout import Layout
from tidegate.layers.noise import Noise

__all__ = ["execute", "kernels_apply", "on_kernel_ground"]


def execute(layout: Layout, parameters: Mapping[str, Tensor], task: Task, noise: Noise) -> Run:
    """Run it; every form gives the same values."""
    if not _kernel_applies(layout, parameters, task, noise):
        return direction.run(layout, layout.weights(parameters), task, noise)
    if torch.compiler.is_compiling():
        return operators.run(layout, parameters, task)
    return compiled.run(layout, parameters, task)


def _kernel_applies(
    layout: Layout, parameters: Mapping[str, Tensor], task: Task, noise: Noise
) -> bool:
    plain = not layout.projection and noise.silent and (task.reset is None or task.plain_start)
    if not plain or reference():
        return False
    if torch.compiler.is_compiling():
        fits = task.lengths is None and not task.trace
    else:
        fits = not _transformed() and (task.lengths is None or int(task.lengths.min()) > 0)
    tensors = (task.x, *parameters.values(), *(task.state or ()))
    return fits and task.x.shape[1] > 0 and on_kernel_ground(tensors)


def kernels_apply() -> bool:
    """Whether anything may run by kernels now; not to be asked while torch compiles."""
    return not (_transformed() or reference())


def on_kernel_ground(tensors: tuple[Tensor, ...]) -> bool:
    """One dtype that kernels have, on the CPU, in plain memory."""
    dtype = tensors[0].dtype
    if dtype is not torch.float32 and dtype is not torch.float64:
        return False
    strided = torch.strided
    return all([t.is_cpu and t.dtype is dtype and t.layout is strided for t in tensors])


def _transformed() -> bool:
    """Whether torch.func (vmap, jvp, grad ...) or forward-mode differentiation is at work."""
    return bool(
        torch._C._are_functorch_transforms_active() or torch.autograd.forward_ad._current_level >= 0
    )
