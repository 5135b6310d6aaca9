"""One direction of one layer by the kernels: forward and backward in one call each."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from tidegate.layers.direction import Run, Task
from tidegate.layers.graph import Start
from tidegate.layers.layout import Carried, Layout
from tidegate.layers.masked import Masked
from tidegate.layers.plain import Plain, plain

__all__ = ["run"]


def run(layout: Layout, parameters: Mapping[str, Tensor], task: Task) -> Run:
    """Run one direction of one layer."""
    x, names = task.x.contiguous(), tuple(parameters)
    given = [parameter.contiguous() for parameter in parameters.values()]
    start: Start = None, None
    if task.state is not None:
        start = task.state.hidden.contiguous(), task.state.memory.contiguous()
    way: Plain | Masked = _masked(layout, names, task)
    if task.reset is None and task.lengths is None:
        unmasked = plain(layout, names, x.dtype, x.shape, task.reverse)
        way = unmasked if unmasked.fits(start, given) else way
    (hidden, last_hidden, *memory), record = way.run(x, start, given, task.trace)
    return Run(hidden, Carried(last_hidden, memory[0] if memory else last_hidden[:0]), record)


def _masked(layout: Layout, names: tuple[str, ...], task: Task) -> Masked:
    reset = None if task.reset is None else task.reset.to(torch.uint8)
    lengths = None if task.lengths is None else task.lengths.to(torch.int64)
    return Masked(layout, names, task.reverse, reset, lengths)
