"""The straight way through a layer, for the call that is made most.

One layer in one direction over a plain batch, with nothing reset or drawn. At small sizes the
general way, through forms, parts and stacks, takes longer than the run itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import Parameter

from tidegate.layers.execute import kernels_apply, on_kernel_ground
from tidegate.layers.graph import Results, Start
from tidegate.layers.layout import Layout
from tidegate.layers.plain import plain
from tidegate.layers.sequences import State
from tidegate.layers.trace import LayerTrace

if TYPE_CHECKING:
    from tidegate.layers.recurrent import Recurrent

__all__ = ["straight"]


def straight(layer: Recurrent, input: Any, hx: Any, trace: bool) -> tuple[Any, ...] | None:
    """What the layer returns; nothing where the general way has to be gone."""
    if torch.compiler.is_compiling() or not (_is_simple(layer) and kernels_apply()):
        return None
    place = layer.places[0]
    parameters: list[Any] = [layer._parameters.get(name) for name in place.names.values()]
    state = () if hx is None else (hx,) if isinstance(hx, Tensor) else tuple(hx)
    if not (_is_batch(input, layer.input_size) and _are_plain(input, parameters, state)):
        return None
    x = (input.transpose(0, 1) if layer.batch_first else input).contiguous()
    start = _start(place.layout, state, x.shape[1])
    way = plain(place.layout, place.given, x.dtype, x.shape, False)
    if start is None or not way.fits(start, parameters):
        return None
    results, record = way.run(x, start, parameters, trace)
    output = results[0].transpose(0, 1) if layer.batch_first else results[0]
    if record is None:
        return output, _last(results)
    by_name = dict(zip(place.given, parameters, strict=True))
    return output, _last(results), LayerTrace.of(place.layout.cell, record, by_name, None)


def _is_simple(layer: Recurrent) -> bool:
    noise = layer.zoneout or layer.recurrent_dropout
    return len(layer.places) == 1 and not (noise or layer.proj_size or layer.learn_initial_state)


def _is_batch(input: Any, size: int) -> bool:
    """Whether it is (L, N, I) or (N, L, I), and neither L nor N is 0."""
    return (
        type(input) is Tensor
        and input.dim() == 3
        and bool(input.numel())
        and input.shape[2] == size
    )


def _are_plain(input: Tensor, parameters: list[Any], state: State) -> bool:
    """Whether kernels can work on all of them."""
    plain_parameters = all([type(parameter) is Parameter for parameter in parameters])
    return plain_parameters and on_kernel_ground((input, *parameters, *state))


def _start(layout: Layout, state: State, rows: int) -> Start | None:
    """A given state as kernels begin with it; nothing where it has not the layer's shapes."""
    if not state:
        return None, None
    if [value.shape for value in state] != [(1, rows, size) for size in layout.state.values()]:
        return None
    hidden, memory = layout.carried(state, 0)
    return hidden.contiguous(), memory.contiguous()


def _last(results: Results) -> State:
    """Every last state (1, B, H)."""
    given = results[1:]
    if all([value.shape[0] == 1 for value in given]):
        return given
    return tuple([value[k : k + 1] for value in given for k in range(len(value))])
