"""Kernels on the memory of tensors themselves, for runs without resets and lengths.

Everything that is the same at every run of one size is made once, for at small sizes the Python
around a run takes longer than the run. Machine code trusts the sizes it is told, so what does not
fit is refused here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tidegate.kernels.batch import call as batch_call
from tidegate.kernels.batch.call import EVERY, IN_TURN
from tidegate.layers.graph import Errors, Results, Start
from tidegate.layers.layout import Layout
from tidegate.layers.packing import Given, address
from tidegate.layers.recording import Left, by_name

__all__ = ["Shape", "Sized", "sized"]

_DTYPES: dict[torch.dtype, np.dtype[Any]] = {
    torch.float32: np.dtype(np.float32),
    torch.float64: np.dtype(np.float64),
}
_MAPPED_BYTES = 2**25
_HUGE_BYTES = 2**22
_LINE = 16
"""Numbers that begin a cache line of their own, in either precision."""
Shape = tuple[int, ...]
Kept = tuple[Tensor, ...]
"""State; memories, values for the way back, and what only a trace shows: three pieces, or one."""


@lru_cache(maxsize=256)
def sized(layout: Layout, dtype: torch.dtype, shape: Shape, reverse: bool) -> Sized:
    """The runs of one size: x (T, B, I), none of them 0."""
    return Sized(layout, dtype, shape, reverse)


class Sized:
    """One direction of a layer for inputs of one size.

    Memories, values for the way back, and what only a trace shows lie in one piece of memory, which
    takes less time than three; but apart where it would be mapped anew at every run.
    """

    def __init__(self, layout: Layout, dtype: torch.dtype, shape: Shape, reverse: bool) -> None:
        run = batch_call.layout(layout.cell, _DTYPES[dtype], shape, layout.units, reverse)
        self._run, self._itemsize = run, dtype.itemsize
        self._state_numbers = math.prod(run.state)
        self._after = slice(-1) if reverse else slice(1, None)
        self._last = [run.hiddens, run.kept] if run.kept[0] else [run.hiddens]
        self._parts = [_whole_lines(part) for part in (run.memory, run.saved, run.shown)]
        self._two_blocks = _whole_lines((2, *run.memory[1:]))
        self._apart = sum(self._parts) * dtype.itemsize >= _MAPPED_BYTES
        memory, saved, _ = (0, 0, 0) if self._apart else self._parts
        self._starts = (0, memory, memory + saved)

    def fits(self, start: Start) -> bool:
        """Whether a given state has the shapes that runs begin with."""
        shapes = [None if value is None else value.shape for value in start]
        return shapes == [self._run.hiddens, self._run.kept]

    def forward(
        self,
        x: Tensor,
        given: Given,
        start: Start,
        saving: bool,
        trace: bool,
    ) -> tuple[Results, Kept]:
        """Run from ``start``, or from where the cell itself starts; all contiguous.

        Returns:
            what it gives; what the way back and a trace need.
        """
        keep = saving or trace
        state = _empty(x, self._run.state, self._state_numbers)
        pieces = self._room(x, keep, trace)
        last = [x.new_empty(*shape) for shape in self._last]
        by_input, by_hidden, bias, second_bias, unit = given.addresses()
        batch_call.forward_at(
            self._run, x.data_ptr(), (by_input, by_hidden, bias, unit),
            address(start[0]), address(start[1]), state.data_ptr(),
            self._address(pieces, 0), self._address(pieces, 1) if keep else 0,
            self._address(pieces, 2) if trace else 0,
            last[0].data_ptr(), last[1].data_ptr() if len(last) > 1 else 0,
            second_bias=second_bias, memory_mask=EVERY if keep else IN_TURN,
            threads=torch.get_num_threads(),
        )  # fmt: skip
        return (state[self._after], *last), (state, *pieces)

    def backward(
        self,
        x: Tensor,
        given: Given,
        kept: Sequence[Tensor],
        errors: Errors,
        into: Given,
        needs: tuple[bool, bool],
    ) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        """d loss / d x, hidden0 and memory0, and that by weights written over ``into``.

        Args:
            errors: d loss / d each result of the run, nothing for 0.
            needs: whether the error on x, and those on the start, are wanted.
        """
        state, *pieces = kept
        whole = [error if error is None else error.contiguous() for error in errors]
        d_hidden, d_last_hidden, d_last_memory = [*whole, None][:3]
        if d_hidden is None:
            d_hidden = x.new_zeros(len(x), *self._run.state[1:])
        d_x = torch.empty_like(x) if needs[0] else None
        d_hidden0 = x.new_empty(*self._run.hiddens) if needs[1] else None
        d_memory0 = x.new_empty(*self._run.kept) if needs[1] else None
        by_input, by_hidden, _, _, unit = given.addresses()
        d_input, d_by_hidden, d_bias, _, d_unit = into.addresses()
        batch_call.backward_at(
            self._run, x.data_ptr(), (by_input, by_hidden, 0, unit), state.data_ptr(),
            self._address(pieces, 0), self._address(pieces, 1), d_hidden.data_ptr(),
            address(d_last_hidden), address(d_last_memory), address(d_x),
            (d_input, d_by_hidden, d_bias, d_unit), address(d_hidden0), address(d_memory0),
            threads=torch.get_num_threads(),
        )  # fmt: skip
        return d_x, d_hidden0, d_memory0

    def left(self, kept: Kept) -> Left:
        """What a traced run left, every step of it by name."""
        run, (state, *pieces) = self._run, kept
        shapes = (run.memory, run.saved, run.shown)
        memory, *places = [
            pieces[n * self._apart][start : start + math.prod(shape)].view(shape)
            for n, (start, shape) in enumerate(zip(self._starts, shapes, strict=True))
        ]
        gates, slots = (
            {name: places[which][:, :, n] for name, which, n in named}
            for named in run.engine.plan.traced
        )
        memories = by_name(run.engine.plan.kept, memory[self._after], run.size.units)
        return Left(state, memory, gates, slots, memories)

    def _room(self, x: Tensor, keep: bool, trace: bool) -> tuple[Tensor, ...]:
        """Memory for the parts; only two blocks of memories, in turn, where nothing is kept."""
        memory, saved, shown = self._parts
        parts = (memory if keep else self._two_blocks, saved * keep, shown * trace)
        sizes = parts if self._apart else (sum(parts),)
        return tuple([_empty(x, (numbers,), numbers) for numbers in sizes])

    def _address(self, pieces: Sequence[Tensor], part: int) -> int:
        return pieces[part * self._apart].data_ptr() + self._starts[part] * self._itemsize


def _whole_lines(shape: Shape) -> int:
    return -(-math.prod(shape) // _LINE) * _LINE


def _empty(like: Tensor, shape: Shape, numbers: int) -> Tensor:
    """Memory for a result.

    The first touch of every small page costs up to a fifth of a run, and the C library gives memory
    back soon, beyond 32 MiB at once; NumPy asks for huge pages from 4 MiB on.
    """
    if numbers * like.itemsize < _HUGE_BYTES:
        return like.new_empty(*shape)
    piece = np.empty((numbers + _LINE,), _DTYPES[like.dtype])
    first = -piece.ctypes.data % 64 // like.itemsize
    return torch.from_numpy(piece[first : first + numbers].reshape(shape))
