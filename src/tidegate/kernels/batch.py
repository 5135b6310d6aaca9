"""A recurrent layer over whole sequences, forward and backward, as machine code.

The same calls as :mod:`tidegate.kernels.batch_reference`, which stands in for them where
``TIDEGATE_REFERENCE=1``.

Every number that belongs to a row of the batch (outputs, states, errors on inputs) has bits that
depend on that row alone: on no other row, not on the length of what comes after it, and not on
the number of threads. Gradients of weights are sums over rows and steps whose order depends on
the sizes alone, so they too have the same bits for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tidegate.calculus import derive
from tidegate.cells.base import Cell
from tidegate.kernels import batch_reference
from tidegate.kernels.batch_backward import JOB
from tidegate.kernels.batch_engine import engine
from tidegate.kernels.batch_forward import INACTIVE, RESET
from tidegate.kernels.batch_layout import Array, Layout, Words, address, layout
from tidegate.kernels.batch_packing import Packing, packing_back, packing_forward
from tidegate.kernels.batch_plan import Forward, Gradients, Saved, Weights, check, start
from tidegate.kernels.batch_sheet import POSITION
from tidegate.kernels.cpu import Target, host
from tidegate.kernels.engine import reference
from tidegate.kernels.vector import DOUBLE, SINGLE

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
    if reference() or derive(cell).normalised:
        return batch_reference.forward(
            cell, weights, x, hidden0, memory0, reset=reset, lengths=lengths, reverse=reverse,
            saving=saving, trace=trace,
        )  # fmt: skip
    check(cell, weights, x, hidden0, memory0, reset, lengths)
    steps, rows, inputs = x.shape
    units = weights.unit.shape[1]
    size = _layout(cell, x, units, reverse, target)
    plan, eq = size.engine.plan, size.eq
    first, last = (steps, 0) if reverse else (0, steps)
    beyond = None if lengths is None else np.arange(steps)[:, None] >= lengths
    seen = x if beyond is None else np.where(beyond[:, :, None], x.dtype.type(0), x)
    flags = _flags(reset, beyond)
    state = np.empty((steps + 1, rows, size.width), x.dtype)
    memory = np.empty((steps + 1, rows, len(plan.kept) * units), x.dtype)
    _set_rows(state[first], hidden0)
    _set_rows(memory[first], memory0)
    keep, show = (saving or trace), trace and bool(plan.shown)
    saved = np.empty((steps, rows, len(plan.saved) if keep else 0, units), x.dtype)
    shown = np.empty((steps, rows, len(plan.shown) if show else 0, units), x.dtype)
    output = state[:-1] if reverse else state[1:]
    after = memory[:-1] if reverse else memory[1:]
    if flags is not None:
        output, after = np.empty_like(output), np.empty_like(after)
    if rows:
        told = {
            "x": address(seen), "state": address(state), "memory": address(memory),
            "saved": address(saved), "shown": address(shown), "keep": keep, "show": show,
        }  # fmt: skip
        if flags is not None:
            told |= {"flags": address(flags), "output": address(output)}
            told |= {"memory_after": address(after)}
        _run(cell, size, weights, told, threads)
    if beyond is not None:
        output[beyond] = 0
    named = dict(zip(plan.saved, np.moveaxis(saved, 2, 0), strict=keep)) if trace else {}
    named |= dict(zip(plan.shown, np.moveaxis(shown, 2, 0), strict=show)) if trace else {}
    memories = np.moveaxis(after.reshape(steps, rows, len(plan.kept), units), 2, 0)
    return Forward(
        output,
        _names(state[last], units),
        _names(memory[last], units),
        {gate: named[gate] for gate in eq.gates if gate in named},
        {s: named[f"z.{s}"] for s in plan.read if f"z.{s}" in named},
        dict(zip(plan.kept, memories, strict=True)) if trace else {},
        Saved(cell, weights, seen, state, memory, saved, reset, lengths, reverse)
        if saving
        else None,
    )


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
    if reference() or derive(saved.cell).normalised:
        return batch_reference.backward(
            saved, d_hidden, d_last_hidden, d_last_memory, needs_x=needs_x
        )
    x, weights = saved.x, saved.weights
    steps, rows, _ = x.shape
    units = weights.unit.shape[1]
    size = _layout(saved.cell, x, units, saved.reverse, target)
    eq, plan, regions = size.eq, size.engine.plan, size.backward_regions
    beyond = None if saved.lengths is None else np.arange(steps)[:, None] >= saved.lengths
    flags = _flags(saved.reset, beyond)
    errors = np.zeros((steps, rows, size.width), x.dtype) if d_hidden is None else d_hidden
    memory, base = regions.allocate()
    carry = regions.view(memory, base, "carry", x.dtype)
    carry[...] = 0
    hiddens = len(eq.hidden)
    by_name = carry.reshape(-1, size.blocks, rows, size.block)
    for given, place in ((d_last_hidden, by_name[:hiddens]), (d_last_memory, by_name[hiddens:])):
        if given is not None:
            _set_blocks(place, given)
    sums = regions.view(memory, base, "sums", x.dtype)
    sums[...] = 0
    into = Weights(np.zeros_like(weights.input), np.zeros_like(weights.hidden), weights.bias,
                   weights.unit)  # fmt: skip
    d_x = np.empty_like(x) if needs_x else None
    jobs = _jobs(size, saved, into, base)
    told = {
        "state": address(saved.state), "memory": address(saved.memory),
        "saved": address(saved.values), "d_output": address(errors),
        "d_x": address(d_x) if d_x is not None else 0,
        "flags": address(flags) if flags is not None else 0,
        "jobs": address(jobs), "job_count": len(jobs), "chunk": size.chunk,
        "ring_stride": size.ring_stride,
    }  # fmt: skip
    if rows:
        _run_back(saved.cell, size, weights, told, base, threads)
    by_source = sums[:, :units]
    slots = list(eq.slots)
    bias = by_source[[slots.index(s) for s in eq.fed_by("bias")]].reshape(-1)
    names = _from_blocks(by_name, units)
    d_hidden0, d_memory0 = names[:hiddens], names[hiddens : hiddens + len(plan.kept)]
    if plan.direct:
        d_hidden0 = d_hidden0 + names[hiddens + len(plan.kept) :]
    return Gradients(
        d_x,
        Weights(into.input, into.hidden, bias, by_source[len(slots) :].copy()),
        d_hidden0,
        d_memory0,
    )


@cache
def _host() -> Target:
    return host()


def _layout(cell: Cell, x: Array, units: int, reverse: bool, target: Target | None) -> Layout:
    steps, rows, inputs = x.shape
    precision = SINGLE if x.dtype == np.float32 else DOUBLE
    code = engine(cell, precision, target or _host())
    return layout(code, steps, max(rows, 1), inputs, units, reverse)


def _run(cell: Cell, size: Layout, weights: Weights, told: dict[str, int], threads: int) -> None:
    regions, code = size.forward_regions, size.engine
    memory, base = regions.allocate()
    for array, names in (("state_start", size.eq.hidden), ("memory_start", code.plan.kept)):
        region = regions.view(memory, base, array, size.dtype)
        region[...] = np.repeat([start(cell, name) for name in names], size.units)
    shares = max(1, min(threads, size.rows))
    ahead = size.ahead if shares == 1 else 1
    sheet = size.sizes.copy()
    regions.tell(sheet, base)
    told |= {"chunk": ahead, "input_stride": size.ahead * size.rows * size.block}
    for name, value in told.items():
        sheet[POSITION[name]] = value
    table = _packing_forward(size).table(weights, base)
    code.pack(address(table), len(table))
    sheets = _shared_out(sheet, size.rows, shares)
    _each(code.forward, sheets)


def _run_back(
    cell: Cell, size: Layout, weights: Weights, told: dict[str, int], base: int, threads: int
) -> None:
    code = size.engine
    sheet = size.sizes.copy()
    size.backward_regions.tell(sheet, base)
    for name, value in told.items():
        sheet[POSITION[name]] = value
    table = _packing_back(size).table(weights, base)
    code.pack(address(table), len(table))
    shares = max(1, min(threads, size.rows))
    if shares == 1:
        code.backward(address(sheet))
        return
    sheets = _shared_out(sheet, size.rows, shares)
    for number in range(-(-size.steps // size.chunk)):
        done = number * size.chunk
        count = min(size.chunk, size.steps - done)
        first = done if size.reverse else size.steps - done - count
        for function in (code.back_steps, code.back_products):
            _each(function, sheets, first, count, number)


def _shared_out(sheet: Words, rows: int, shares: int) -> list[Words]:
    sheets = [sheet.copy() for _ in range(shares)]
    for n, one in enumerate(sheets):
        one[POSITION["first_row"]] = rows * n // shares
        one[POSITION["end_row"]] = rows * (n + 1) // shares
        one[POSITION["share"]], one[POSITION["shares"]] = n, shares
    return sheets


def _each(function: Callable[..., None], sheets: list[Words], *numbers: int) -> None:
    """Call a function for every sheet, each in a thread of its own where there are several."""
    if len(sheets) == 1:
        function(address(sheets[0]), *numbers)
        return
    calls = [_pool(len(sheets)).submit(function, address(s), *numbers) for s in sheets]
    for call in calls:
        call.result()


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="tidegate-batch")


@cache
def _packing_forward(size: Layout) -> Packing:
    return packing_forward(size)


@cache
def _packing_back(size: Layout) -> Packing:
    return packing_back(size)


def _jobs(size: Layout, saved: Saved, into: Weights, base: int) -> Words:
    """One row for every slot and what fed it; see :data:`batch_backward.JOB`."""
    eq, plan, rows = size.eq, size.engine.plan, size.rows
    item, stride = size.itemsize, rows * size.width
    slots = list(eq.slots)
    jobs, part = [], 0
    gated = base + size.backward_regions.starts["gated_ring"]
    state = address(saved.state) + saved.reverse * stride * item
    feeds = [(s, state, stride, size.width, "hidden") for s in plan.first]
    for s in plan.second:
        gate = plan.gates.index(eq.second_product[s])
        feeds.append((s, gated + gate * size.chunk * stride * item, 0, size.width, "hidden"))
    feeds += [
        (s, address(saved.x), rows * size.inputs, size.inputs, "input") for s in eq.fed_by("input")
    ]
    for slot, left, left_time, columns, zone in feeds:
        gradient = address(getattr(into, zone))
        place = eq.fed_by(zone).index(slot) * size.units * columns * item
        ring = slots.index(slot) * size.blocks * size.ring_stride
        jobs.append([left, left_time, columns, columns, ring, part, gradient + place])
        part += size.blocks * columns * size.block
    return np.array(jobs, np.int64).reshape(-1, len(JOB))


def _flags(reset: NDArray[np.uint8] | None, beyond: NDArray[np.bool_] | None) -> Array | None:
    """(T, B) bytes of ``RESET`` and ``INACTIVE``, or nothing where every row runs through."""
    parts = []
    if reset is not None:
        parts.append((reset != 0).astype(np.uint8) * RESET)
    if beyond is not None:
        parts.append(beyond.astype(np.uint8) * INACTIVE)
    return sum(parts) if parts else None


def _set_rows(rows: Array, names: Array) -> None:
    """(names, B, H) into (B, names * H)."""
    count, batch, units = names.shape
    rows.reshape(batch, count, units)[...] = np.moveaxis(names, 0, 1)


def _names(rows: Array, units: int) -> Array:
    """(B, names * H) to (names, B, H), a copy."""
    by_name = rows.reshape(len(rows), rows.shape[1] // units, units)
    return np.array(np.moveaxis(by_name, 1, 0), order="C")


def _set_blocks(place: Array, names: Array) -> None:
    """(names, B, H) into (names, blocks, B, block)."""
    _, blocks, rows, block = place.shape
    for n, name in enumerate(names):
        padded = np.zeros((rows, blocks * block), name.dtype)
        padded[:, : name.shape[1]] = name
        place[n] = np.moveaxis(padded.reshape(rows, blocks, block), 1, 0)


def _from_blocks(by_name: Array, units: int) -> Array:
    """(names, blocks, B, block) to (names, B, H), a copy."""
    names, blocks, rows, block = by_name.shape
    in_rows = np.moveaxis(by_name, 1, 2).reshape(names, rows, blocks * block)
    return np.ascontiguousarray(in_rows[:, :, :units])
