"""Whole sequences in plain NumPy, from ``cell.step`` and its derivatives: the truth for batches.

The same two calls as :mod:`tidegate.kernels.batch`. It keeps no values for the way back but steps
anew, so it can go back through a compiled run as well; not the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from tidegate.cells.base import Cell
from tidegate.kernels.batch.plan import Array, Forward, Gradients, Saved, Weights, check
from tidegate.kernels.batch.step import Layer, Moment, Named

__all__ = ["backward", "forward"]


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

    Raises:
        UsageError: a shape, a dtype or a layout that does not fit.
    """
    check(cell, weights, x, hidden0, memory0, reset, lengths)
    layer = Layer(cell, weights)
    steps, rows, _ = x.shape
    state, memory = _blocks(steps, hidden0), _blocks(steps, memory0)
    hidden = np.zeros((steps, rows, state.shape[2]), x.dtype)
    now: tuple[Array, Array] = (_rows(hidden0), _rows(memory0))
    recorded: list[Moment] = []
    for t, before, after in _order(steps, reverse):
        if reset is not None:
            now = layer.started_anew(now, reset[t] != 0)
        state[before], memory[before] = now
        moment = layer.step(x[t], *now)
        active = np.ones(rows, bool) if lengths is None else t < lengths
        hidden[t][active] = moment.state[active]
        now = (
            np.where(active[:, None], moment.state, now[0]),
            np.where(active[:, None], moment.memory, now[1]),
        )
        state[after], memory[after] = now
        recorded.append(moment)
    in_time = recorded[::-1] if reverse else recorded
    values = np.zeros((steps, rows, 0, weights.unit.shape[1]), x.dtype)
    return Forward(
        hidden,
        _names(now[0], weights),
        _names(now[1], weights),
        _traced([m.gates for m in in_time]) if trace else {},
        _traced([layer.read_from(m) for m in in_time]) if trace else {},
        _traced([layer.kept_by_name(m.memory) for m in in_time]) if trace else {},
        Saved(cell, weights, x, state, memory, values, reset, lengths, reverse) if saving else None,
    )


def backward(
    saved: Saved,
    d_hidden: Array | None,
    d_last_hidden: Array | None,
    d_last_memory: Array | None,
    *,
    needs_x: bool = True,
    threads: int = 1,
) -> Gradients:
    """The gradient through every path, h included.

    Args:
        d_hidden: d loss / d hidden (T, B, Q * H); nothing means 0, as for the two others.
        d_last_hidden: (Q, B, H). d_last_memory: (K, B, H).
        needs_x: whether the gradient by x is wanted.
    """
    layer, weights = Layer(saved.cell, saved.weights), saved.weights
    steps, rows, _ = saved.x.shape
    into = Weights(
        *(np.zeros_like(getattr(weights, n)) for n in ("input", "hidden", "bias", "unit"))
    )
    d_x = np.zeros_like(saved.x)
    d_state = _or_zeros(d_last_hidden, saved.state)
    d_memory = _or_zeros(d_last_memory, saved.memory)
    for t, before, _ in reversed(list(_order(steps, saved.reverse))):
        moment = layer.step(saved.x[t], saved.state[before], saved.memory[before])
        active = np.ones((rows, 1), bool) if saved.lengths is None else (t < saved.lengths)[:, None]
        error = d_state if d_hidden is None else d_state + d_hidden[t]
        on_x, on_state, on_memory = layer.step_back(
            moment, np.where(active, error, 0), np.where(active, d_memory, 0), into
        )
        d_x[t] = on_x
        d_state = np.where(active, on_state, d_state)
        d_memory = np.where(active, on_memory, d_memory)
        if saved.reset is not None:
            d_state = np.where(saved.reset[t][:, None] != 0, 0, d_state)
            d_memory = np.where(saved.reset[t][:, None] != 0, 0, d_memory)
    return Gradients(
        d_x if needs_x else None, into, _names(d_state, weights), _names(d_memory, weights)
    )


def _order(steps: int, reverse: bool) -> Iterator[tuple[int, int, int]]:
    """Times in the order of the steps, each with the blocks that it reads and leaves."""
    if reverse:
        return ((t, t + 1, t) for t in reversed(range(steps)))
    return ((t, t, t + 1) for t in range(steps))


def _blocks(steps: int, first: Array) -> Array:
    names, rows, units = first.shape
    return np.zeros((steps + 1, rows, names * units), first.dtype)


def _rows(names: Array) -> Array:
    """(names, B, H) to (B, names * H)."""
    return np.moveaxis(names, 0, 1).reshape(names.shape[1], names.shape[0] * names.shape[2])


def _names(rows: Array, weights: Weights) -> Array:
    """(B, names * H) to (names, B, H)."""
    units = weights.unit.shape[1]
    by_name = rows.reshape(len(rows), rows.shape[1] // units, units)
    return np.ascontiguousarray(np.moveaxis(by_name, 1, 0))


def _or_zeros(last: Array | None, blocks: Array) -> Array:
    return np.zeros_like(blocks[0]) if last is None else _rows(last)


def _traced(by_step: list[Mapping[str, Array]]) -> Named:
    shape = np.broadcast_shapes(*(np.shape(v) for v in by_step[0].values()))
    return {
        name: np.stack([np.broadcast_to(moment[name], shape) for moment in by_step])
        for name in by_step[0]
    }
