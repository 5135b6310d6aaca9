"""A recurrent layer over whole sequences, forward and backward, as machine code.

The same calls as :mod:`tidegate.kernels.batch.reference`, which stands in for them where
``TIDEGATE_REFERENCE=1``.

Every number that belongs to a row of the batch (outputs, states, errors on inputs) has bits that
depend on that row alone: on no other row, not on the length of what comes after it, and not on
the number of threads. Gradients of weights are sums over rows and steps whose order depends on
the sizes alone, so they too have the same bits for any number of threads.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tidegate.cells.base import Cell
from tidegate.kernels.batch import call as batch_call
from tidegate.kernels.batch import reference as batch_reference
from tidegate.kernels.batch.forward_code import INACTIVE, RESET
from tidegate.kernels.batch.layout import Layout
from tidegate.kernels.batch.packing import address
from tidegate.kernels.batch.plan import Array, Forward, Gradients, Saved, Weights, check
from tidegate.kernels.code.cpu import Target
from tidegate.kernels.engine import reference as reference_wanted

__all__ = ["Forward", "Gradients", "Saved", "Weights", "backward", "forward"]


def forward(
    cell: Cell,
    weights: Weights,
    x: Array,
    hidden0: Array,
    memory0: Array,
    *,
    reset: NDArray[np.uint8] | None = None,
    lengths: NDArray[np.int64] | None = None,
    reverse: bool = False,
    saving: bool = True,
    trace: bool = False,
    threads: int = 1,
    target: Target | None = None,
) -> Forward:
    """Run a layer over sequences.

    Args:
        x: (T, B, I). hidden0: (Q, B, H) and memory0: (K, B, H), before the first step.
        reset: (T, B), where not 0 a row starts anew before that step, from the cell's start
            values, and no error flows back past it.
        lengths: (B,) steps of each row, 1 to T; beyond them a row does nothing.
        reverse: steps go from the last time to the first; nothing else changes place.
        saving: keep what :func:`backward` needs.
        trace: keep gates, memories and the slots that log-retention is read from.
        threads: rows are shared out among so many; every result has the same bits for any number.
        target: a kind of processor that the one at hand can stand in for.

    Raises:
        UsageError: a shape, a dtype or a layout that does not fit.

    >>> from tidegate.cells import GRU
    >>> shapes = Weights.shapes(GRU(), inputs=2, units=3)
    >>> weights = Weights(**{name: np.ones(shape) for name, shape in shapes.items()})
    >>> run = forward(GRU(), weights, np.zeros((4, 1, 2)), np.zeros((1, 1, 3)), np.zeros((0, 1, 3)))
    >>> run.hidden.shape, backward(run.saved, np.ones((4, 1, 3)), None, None).weights.input.shape
    ((4, 1, 3), (9, 2))
    """
    if reference_wanted():
        return batch_reference.forward(
            cell, weights, x, hidden0, memory0, reset=reset, lengths=lengths, reverse=reverse,
            saving=saving, trace=trace,
        )  # fmt: skip
    if x.ndim != 3 or weights.unit.ndim != 2:
        check(cell, weights, x, hidden0, memory0, reset, lengths)
    layout = batch_call.layout(cell, x.dtype, x.shape, weights.unit.shape[1], reverse, target)
    layout.check(weights, x, hidden0, memory0, reset, lengths)
    beyond, flags, seen = _limits(x, reset, lengths)
    dtype, none = x.dtype, (x.shape[0], x.shape[1], 0, 0)
    state, memory = np.empty(layout.state, dtype), np.empty(layout.memory, dtype)
    last_hidden, last_memory = np.empty(layout.hiddens, dtype), np.empty(layout.kept, dtype)
    saved = np.empty(layout.saved if saving or trace else none, dtype)
    shown = np.empty(layout.shown if trace else none, dtype)
    output = state[:-1] if reverse else state[1:]
    after = memory[:-1] if reverse else memory[1:]
    masked = {}
    if flags is not None:
        output, after = np.zeros_like(output), np.empty_like(after)
        masked = dict(zip(_MASKED, map(address, (flags, output, after)), strict=True))
    if x.shape[1]:
        batch_call.forward_at(
            layout, address(seen), _addresses(weights), address(hidden0), address(memory0),
            address(state), address(memory), address(saved) if saving or trace else 0,
            address(shown) if trace else 0, address(last_hidden), address(last_memory),
            threads=threads, **masked,
        )  # fmt: skip
    if beyond is not None:
        output[beyond] = 0
    found = None
    if saving:
        found = Saved(cell, weights, x, state, memory, saved, reset, lengths, reverse)
    if not trace:
        return Forward(output, last_hidden, last_memory, {}, {}, {}, found)
    return Forward(output, last_hidden, last_memory, *_traced(layout, saved, shown, after), found)


def backward(
    saved: Saved,
    d_hidden: Array | None,
    d_last_hidden: Array | None,
    d_last_memory: Array | None,
    *,
    needs_x: bool = True,
    threads: int = 1,
    target: Target | None = None,
) -> Gradients:
    """The gradient through every path, h included.

    Args:
        d_hidden: d loss / d hidden (T, B, Q * H); nothing means 0, as for the two others.
        d_last_hidden: (Q, B, H). d_last_memory: (K, B, H).
        needs_x: whether the gradient by x is wanted.
    """
    if reference_wanted():
        return batch_reference.backward(
            saved, d_hidden, d_last_hidden, d_last_memory, needs_x=needs_x
        )
    x, weights, reverse = saved.x, saved.weights, saved.reverse
    units = weights.unit.shape[1]
    layout = batch_call.layout(saved.cell, x.dtype, x.shape, units, reverse, target)
    layout.check_saved(saved)
    d_hidden, d_last_hidden, d_last_memory = layout.errors(d_hidden, d_last_hidden, d_last_memory)
    _, flags, seen = _limits(x, saved.reset, saved.lengths)
    dtype = x.dtype
    new = np.empty if x.shape[1] else np.zeros
    into = Weights(*(new(w.shape, dtype) for w in weights))
    d_hidden0, d_memory0 = np.empty(layout.hiddens, dtype), np.empty(layout.kept, dtype)
    d_x = np.empty(x.shape, dtype) if needs_x else None
    if x.shape[1]:
        batch_call.backward_at(
            layout, address(seen), _addresses(weights), address(saved.state),
            address(saved.memory), address(saved.values), address(d_hidden),
            _address(d_last_hidden), _address(d_last_memory), _address(d_x), _addresses(into),
            address(d_hidden0), address(d_memory0), flags=_address(flags), threads=threads,
        )  # fmt: skip
    return Gradients(d_x, into, d_hidden0, d_memory0)


_MASKED = ("flags", "output", "memory_after")


def _address(array: Array | None) -> int:
    return 0 if array is None else address(array)


def _addresses(weights: Weights) -> tuple[int, int, int, int]:
    by_input, by_hidden, bias, unit = weights
    return address(by_input), address(by_hidden), address(bias), address(unit)


def _limits(
    x: Array, reset: NDArray[np.uint8] | None, lengths: NDArray[np.int64] | None
) -> tuple[NDArray[np.bool_] | None, NDArray[np.uint8] | None, Array]:
    """Where rows are beyond their length (T, B); flags (T, B); x without what lies beyond."""
    if reset is None and lengths is None:
        return None, None, x
    steps, rows, _ = x.shape
    flags = np.zeros((steps, rows), np.uint8)
    if reset is not None:
        flags += (reset != 0) * np.uint8(RESET)
    if lengths is None:
        return None, flags, x
    beyond = np.arange(steps)[:, None] >= lengths
    flags += beyond * np.uint8(INACTIVE)
    return beyond, flags, np.where(beyond[:, :, None], x.dtype.type(0), x)


def _traced(
    layout: Layout, saved: Array, shown: Array, after: Array
) -> tuple[dict[str, Array], dict[str, Array], dict[str, Array]]:
    """Gates, slots that log-retention is read from, and kept memories, by name: views."""
    arrays, units = (saved, shown), layout.size.units
    gates, slots = (
        {name: arrays[which][:, :, n] for name, which, n in places}
        for places in layout.engine.plan.traced
    )
    memories = {
        name: after[:, :, n * units : (n + 1) * units]
        for n, name in enumerate(layout.engine.plan.kept)
    }
    return gates, slots, memories
