"""Kernels on tensors taken as arrays: with resets and lengths, and every argument checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from tidegate.cells.base import Cell
from tidegate.kernels import batch
from tidegate.layers.recording import Left

__all__ = ["Call", "Tensors", "backward", "forward"]

Tensors = tuple[Tensor, ...]


class Call(NamedTuple):
    """What a run is beside its tensors.

    Attributes:
        reset: (T, B) uint8, or nothing.
        lengths: (B,) int64, or nothing.
        saving: whether a backward run may follow.
    """

    cell: Cell
    reset: Tensor | None
    lengths: Tensor | None
    reverse: bool
    trace: bool
    saving: bool


def forward(call: Call, tensors: Sequence[Tensor]) -> tuple[Tensors, Tensors, Left | None]:
    """The kernel's forward run.

    Args:
        tensors: x (T, B, I); weights input, hidden, bias, unit; hidden0 (Q, B, H), memory0 (K, B,
            H); contiguous, on the CPU, of one dtype.

    Returns:
        hidden (T, B, Q * H), last hidden (Q, B, H) and last memory (K, B, H); what backward needs:
        state, memory, values, with which hidden may share memory; what a trace shows.
    """
    x, *weights, hidden0, memory0 = (_array(tensor) for tensor in tensors)
    done = batch.forward(
        call.cell, batch.Weights(*weights), x, hidden0, memory0,
        reset=_array(call.reset), lengths=_array(call.lengths), reverse=call.reverse,
        saving=call.saving or call.trace, trace=call.trace, threads=torch.get_num_threads(),
    )  # fmt: skip
    results = _tensors((done.hidden, done.last_hidden, done.last_memory))
    if done.saved is None:
        return results, (), None
    kept = _tensors((done.saved.state, done.saved.memory, done.saved.values))
    gates, slots, memories = (
        {name: torch.from_numpy(array) for name, array in arrays.items()}
        for arrays in (done.gates, done.slots, done.memories)
    )
    state, memory, _ = kept
    return results, kept, Left(state, memory, gates, slots, memories) if call.trace else None


def backward(
    call: Call,
    tensors: Sequence[Tensor],
    kept: Sequence[Tensor],
    errors: Sequence[Tensor | None],
    needs_x: bool,
) -> list[Tensor | None]:
    """The kernel's backward run: d loss / d each of ``tensors``, from that by each result."""
    x, *weights, _, _ = (_array(tensor) for tensor in tensors)
    state, memory, values = (_array(tensor) for tensor in kept)
    record = batch.Saved(
        call.cell, batch.Weights(*weights), x, state, memory, values, _array(call.reset),
        _array(call.lengths), call.reverse,
    )  # fmt: skip
    d_hidden, d_last_hidden, d_last_memory = (_array(error) for error in errors)
    found = batch.backward(
        record, d_hidden, d_last_hidden, d_last_memory, needs_x=needs_x,
        threads=torch.get_num_threads(),
    )  # fmt: skip
    w = found.weights
    by_input = (found.x, w.input, w.hidden, w.bias, w.unit, found.hidden0, found.memory0)
    return [None if array is None else torch.from_numpy(array) for array in by_input]


def _array(tensor: Tensor | None) -> Any:
    return None if tensor is None else tensor.detach().contiguous().numpy()


def _tensors(arrays: Sequence[Any]) -> Tensors:
    return tuple(torch.from_numpy(array) for array in arrays)
