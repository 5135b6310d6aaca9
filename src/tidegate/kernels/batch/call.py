"""Runs on memory that the caller holds: addresses in, nothing allocated, nothing checked.

For callers with arrays of their own kind, to whom every microsecond counts; :mod:`batch` is these
calls on NumPy arrays with checks. :func:`layout` says which shapes everything has. Address 0 means
that an array is not given or not wanted. A workspace serves one run at a time, so runs may overlap
in threads. Large arrays are best made by NumPy, which asks for huge pages: with small ones the
first touch of every page costs up to a fifth of a run.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from tidegate.cells.base import Cell
from tidegate.kernels.batch.engine import engine
from tidegate.kernels.batch.layout import Layout
from tidegate.kernels.batch.sizes import Sizes
from tidegate.kernels.batch.threads import run_backward, run_forward
from tidegate.kernels.code.cpu import Target, host
from tidegate.kernels.code.vector import DOUBLE, SINGLE

__all__ = ["EVERY", "IN_TURN", "backward_at", "forward_at", "layout"]

EVERY, IN_TURN = -1, 1
"""Masks on the numbers of blocks of memories."""


@lru_cache(maxsize=256)
def layout(
    cell: Cell,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    units: int,
    reverse: bool = False,
    target: Target | None = None,
) -> Layout:
    """The sizes, tables and code of one kind of run, made once.

    Args:
        shape: of x (T, B, I); with B = 0 there is nothing to run.

    >>> from tidegate.cells import LSTM
    >>> run = layout(LSTM(), np.dtype(np.float32), (7, 2, 3), units=5)
    >>> run.hiddens, run.kept, run.state, run.memory, run.saved, run.shown
    ((1, 2, 5), (1, 2, 5), (8, 2, 5), (8, 2, 5), (7, 2, 4, 5), (7, 2, 1, 5))
    """
    steps, rows, inputs = shape
    code = engine(cell, SINGLE if dtype == np.float32 else DOUBLE, target or host())
    return Layout(Sizes(code, steps, max(rows, 1), inputs, units, reverse), rows)


def forward_at(
    layout: Layout,
    x: int, weights: tuple[int, int, int, int], hidden0: int, memory0: int,
    state: int, memory: int, saved: int, shown: int, last_hidden: int, last_memory: int,
    *, second_bias: int = 0, memory_mask: int = EVERY, flags: int = 0, output: int = 0,
    memory_after: int = 0, threads: int = 1,
) -> None:  # fmt: skip
    """A forward run.

    Args:
        weights: input, hidden, bias and unit, as in ``batch.plan.Weights``.
        hidden0, memory0: both, or 0 for where the cell itself starts.
        second_bias: what is added to the bias, or 0.
        state, memory: every block of them; the output is ``state[1:]``, in reverse ``state[:-1]``,
            unless there are flags.
        memory_mask: ``EVERY`` block of memory has its place, or ``IN_TURN`` two of them, which is
            enough where neither the way back nor a trace wants them.
        saved: values for the way back and gates, or 0. shown: what only a trace shows, or 0.
        flags: (T, B) bytes, ``forward_code.RESET`` and ``INACTIVE``, or 0; with flags the output
            (T, B, Q * H) and the memories after each step (T, B, K * H) have arrays of their own.
    """
    space = layout.forward_shelf.take()
    space.tell(
        x, *weights, second_bias, hidden0, memory0, state, memory, memory_mask,
        saved, shown, last_hidden, last_memory,
        flags, output, memory_after, saved != 0, shown != 0, *_NO_ERRORS,
    )  # fmt: skip
    run_forward(layout, space, threads)
    layout.forward_shelf.give_back(space)


def backward_at(
    layout: Layout,
    x: int, weights: tuple[int, int, int, int], state: int, memory: int, saved: int,
    d_output: int, d_last_hidden: int, d_last_memory: int,
    d_x: int, d_weights: tuple[int, int, int, int], d_hidden0: int, d_memory0: int,
    *, flags: int = 0, threads: int = 1,
) -> None:  # fmt: skip
    """The way back of the run that left ``state``, ``memory`` and ``saved``.

    Args:
        x: as the run saw it; where rows end early, finite beyond their length.
        d_output: (T, B, Q * H), not 0. d_last_hidden, d_last_memory: or 0.
        weights: the bias may be 0, the way back does without.
        d_x: or 0 where it is not wanted. d_weights, d_hidden0, d_memory0: written over; the
            last two may both be 0 as well.
    """
    space = layout.backward_shelf.take()
    space.tell(
        x, *weights, 0, 0, 0, state, memory, EVERY, saved, 0, 0, 0, flags, 0, 0, 1, 0, d_output,
        d_last_hidden, d_last_memory, d_x, *d_weights, d_hidden0, d_memory0,
    )  # fmt: skip
    run_backward(layout, space, threads)
    layout.backward_shelf.give_back(space)


_NO_ERRORS = (0,) * 10
