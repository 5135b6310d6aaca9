"""Kernels on the memory of tensors themselves, for runs without resets and lengths.

Machine code trusts the sizes it is told, so :func:`layout_of` refuses what does not fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial

import numpy as np
import torch
from torch import Tensor

from tidegate.cells.base import Cell
from tidegate.kernels.batch import Weights
from tidegate.kernels.batch import call as batch_call
from tidegate.kernels.batch.layout import Layout
from tidegate.layers.call import Call, Tensors

__all__ = ["backward_in_place", "forward_in_place", "layout_of"]

_DTYPES = {torch.float32: np.dtype(np.float32), torch.float64: np.dtype(np.float64)}
_ALWAYS_MAPPED = 2**25


def layout_of(call: Call, tensors: Tensors) -> Layout | None:
    """The sizes and the code of a run; nothing if it has masks or sizes that do not fit."""
    if call.reset is not None or call.lengths is not None:
        return None
    given = tuple([tensor.shape for tensor in tensors])
    return _layout(call.cell, tensors[0].dtype, call.reverse, given)


@lru_cache(maxsize=256)
def _layout(
    cell: Cell, dtype: torch.dtype, reverse: bool, given: tuple[tuple[int, ...], ...]
) -> Layout | None:
    shape, units = given[0], given[4][1]
    if not _fits(cell, shape, units, given):
        return None
    return batch_call.layout(cell, _DTYPES[dtype], tuple(shape), units, reverse)


def _fits(
    cell: Cell, shape: tuple[int, ...], units: int, given: tuple[tuple[int, ...], ...]
) -> bool:
    """Whether tensors have the shapes that follow from x (T, B, I) and the units.

    >>> from tidegate.cells import RNN
    >>> right = ((7, 2, 3), (5, 3), (5, 5), (5,), (0, 5), (1, 2, 5), (0, 2, 5))
    >>> _fits(RNN(), (7, 2, 3), 5, right), _fits(RNN(), (7, 2, 4), 5, right)
    (True, False)
    """
    steps, rows, inputs = shape
    if not (steps and rows):
        return False
    own = sum(name not in cell.hidden for name in cell.memory)
    weights = Weights.shapes(cell, inputs, units).values()
    states = ((len(cell.hidden), rows, units), (own, rows, units))
    return given == (shape, *weights, *states)


def forward_in_place(
    layout: Layout, call: Call, tensors: Tensors
) -> tuple[Tensors, Tensors, Callable[[], dict[str, Tensor]]]:
    """Outputs, what the way back needs, and the trace; as for ``compiled.forward``."""
    x, *weights, hidden0, memory0 = tensors
    state, memory = _empty(x, layout.state), _empty(x, layout.memory)
    last_hidden, last_memory = torch.empty_like(hidden0), torch.empty_like(memory0)
    saved = _empty(x, layout.saved) if call.saving else None
    shown = _empty(x, layout.shown) if call.trace else None
    batch_call.forward_at(
        layout, x.data_ptr(), _addresses(weights), hidden0.data_ptr(), memory0.data_ptr(),
        state.data_ptr(), memory.data_ptr(), _address(saved), _address(shown),
        last_hidden.data_ptr(), last_memory.data_ptr(), threads=torch.get_num_threads(),
    )  # fmt: skip
    kept = () if saved is None else (state, memory, saved)
    after = slice(-1) if call.reverse else slice(1, None)
    traced = partial(_traced, layout, kept, shown, after)
    return (state[after], last_hidden, last_memory), kept, traced


def _traced(layout: Layout, kept: Tensors, shown: Tensor | None, after: slice) -> dict[str, Tensor]:
    """Gates, slots and kept memories (T, B, H), each a view of where the run left it."""
    if shown is None:
        return {}
    plan, (_, memory, saved) = layout.engine.plan, kept
    found = {
        f"{kind}.{name}": (saved, shown)[which][:, :, n]
        for kind, places in zip(("gate", "slot"), plan.traced, strict=True)
        for name, which, n in places
    }
    units, blocks = layout.size.units, memory[after]
    for n, name in enumerate(plan.kept):
        found[f"memory.{name}"] = blocks[:, :, n * units : (n + 1) * units]
    return found


def backward_in_place(
    layout: Layout,
    tensors: Tensors,
    saved: Tensors,
    errors: Sequence[Tensor | None],
    needs_x: bool,
) -> list[Tensor | None]:
    """d loss / d each of ``tensors``; as for ``compiled.backward``."""
    x, *weights, _, _ = tensors
    state, memory, values = saved
    d_hidden, d_last_hidden, d_last_memory = (e if e is None else e.contiguous() for e in errors)
    if d_hidden is None:
        d_hidden = x.new_zeros(len(x), *layout.state[1:])
    found = [_empty(x, tensor.shape) for tensor in tensors]
    d_x, *d_weights, d_hidden0, d_memory0 = found
    batch_call.backward_at(
        layout, x.data_ptr(), _addresses(weights), state.data_ptr(), memory.data_ptr(),
        values.data_ptr(), d_hidden.data_ptr(), _address(d_last_hidden), _address(d_last_memory),
        d_x.data_ptr() if needs_x else 0, _addresses(d_weights), d_hidden0.data_ptr(),
        d_memory0.data_ptr(), threads=torch.get_num_threads(),
    )  # fmt: skip
    return [d_x if needs_x else None, *d_weights, d_hidden0, d_memory0]


def _empty(like: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Memory for a result.

    Beyond 32 MiB the C library never uses memory again, and the first touch of every small page
    costs more than the run; NumPy asks for huge ones.
    """
    if math.prod(shape) * like.element_size() < _ALWAYS_MAPPED:
        return like.new_empty(*shape)
    return torch.from_numpy(np.empty(shape, _DTYPES[like.dtype]))


def _addresses(weights: Sequence[Tensor]) -> tuple[int, int, int, int]:
    by_input, by_hidden, bias, unit = weights
    return by_input.data_ptr(), by_hidden.data_ptr(), bias.data_ptr(), unit.data_ptr()


def _address(tensor: Tensor | None) -> int:
    return 0 if tensor is None else tensor.data_ptr()
