"""One direction of one layer by the kernels: forward and backward in one call each.

Differentiating twice, or by a transform of torch.func, goes through the eager form of the same
equations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from tidegate.cells.base import Cell
from tidegate.kernels import batch
from tidegate.kernels.batch.plan import start
from tidegate.layers import direction
from tidegate.layers.call import Call, Tensors
from tidegate.layers.direction import Record, Run, Task
from tidegate.layers.in_place import backward_in_place, fits, forward_in_place
from tidegate.layers.layout import DirectionWeights
from tidegate.layers.noise import Noise

__all__ = ["backward", "eager", "forward", "inputs", "last_state", "run"]


def forward(call: Call, tensors: Tensors) -> tuple[Tensors, Tensors, dict[str, Tensor]]:
    """The kernel's forward run.

    Args:
        tensors: x (T, B, I); weights input, hidden, bias, unit; hidden0 (Q, B, H), memory0 (K, B,
            H); contiguous, on the CPU, of one dtype.

    Returns:
        hidden (T, B, Q * H), last hidden (Q, B, H) and last memory (K, B, H); what backward needs:
        state, memory, values; the trace by name, with ``gate.`` or ``slot.`` or ``memory.`` in
        front.
    """
    if _plain(call, tensors):
        return forward_in_place(call, tensors)
    x, *weights, hidden0, memory0 = (_array(tensor) for tensor in tensors)
    done = batch.forward(
        call.cell, batch.Weights(*weights), x, hidden0, memory0,
        reset=_array(call.reset), lengths=_array(call.lengths), reverse=call.reverse,
        saving=call.saving, trace=call.trace, threads=torch.get_num_threads(),
    )  # fmt: skip
    saved = done.saved
    parts = () if saved is None else (saved.state, saved.memory, saved.values)
    traced = {
        f"{kind}.{name}": torch.from_numpy(array)
        for kind, arrays in (("gate", done.gates), ("slot", done.slots), ("memory", done.memories))
        for name, array in arrays.items()
    }
    outputs = (done.hidden, done.last_hidden, done.last_memory)
    return _tensors(outputs), _tensors(parts), traced


def backward(
    call: Call, tensors: Tensors, saved: Tensors, errors: Sequence[Tensor | None], needs_x: bool
) -> list[Tensor | None]:
    """The kernel's backward run: d loss / d each of ``tensors``, from that by each output."""
    if _plain(call, tensors):
        return backward_in_place(call, tensors, saved, errors, needs_x)
    x, *weights, _, _ = (_array(tensor) for tensor in tensors)
    state, memory, values = (_array(tensor) for tensor in saved)
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


def _plain(call: Call, tensors: Tensors) -> bool:
    """Whether a run has no masks, and its tensors have the sizes they should have."""
    if call.reset is not None or call.lengths is not None:
        return False
    x, unit = tensors[0], tensors[4]
    return fits(call.cell, x.shape, unit.shape[1], tuple([t.shape for t in tensors]))


def eager(call: Call, tensors: Tensors) -> Tensors:
    """The same outputs in torch operations, to be differentiated as often as one likes."""
    x, by_input, by_hidden, bias, unit, hidden0, memory0 = tensors
    weights = DirectionWeights(by_input, by_hidden, bias, unit, None)
    state = last_state(call.cell, hidden0, memory0)
    fresh = {n: v.new_full((v.shape[1],), start(call.cell, n)) for n, v in state.items()}
    reset = None if call.reset is None else call.reset != 0
    task = Task(x, state, fresh, reset, call.lengths, call.reverse, trace=False, plain_start=True)
    done = direction.run(call.cell, weights, task, Noise())
    return done.hidden, *_by_kind(call.cell, done.state)


class _Sequence(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, call: Call, traced: dict[str, Tensor], *tensors: Tensor) -> Tensors:
        outputs, saved, recorded = forward(call, tensors)
        traced |= recorded
        if call.trace:
            traced |= {"saved.state": saved[0], "saved.memory": saved[1]}
        ctx.call, ctx.inputs = call, len(tensors)
        # The output may lie in what is saved: who changes it in place must be told by torch.
        ctx.save_for_backward(*tensors, *saved, outputs[0])
        ctx.set_materialize_grads(False)
        return outputs

    @staticmethod
    def backward(ctx: Any, *errors: Tensor | None) -> Any:
        everything = ctx.saved_tensors
        tensors, saved = everything[: ctx.inputs], everything[ctx.inputs : -1]
        needs = ctx.needs_input_grad[2:]
        if torch.is_grad_enabled():
            return None, None, *_eager_backward(ctx.call, tensors, errors, needs)
        found = backward(ctx.call, tensors, saved, errors, needs[0])
        return None, None, *found


def _eager_backward(
    call: Call, tensors: Tensors, errors: Sequence[Tensor | None], needs: Sequence[bool]
) -> list[Tensor | None]:
    """The gradient as a graph of its own: for the second derivative."""
    pairs = [(o, e) for o, e in zip(eager(call, tensors), errors, strict=True) if e is not None]
    wanted = [tensor for tensor, needed in zip(tensors, needs, strict=True) if needed]
    found = iter(
        torch.autograd.grad(
            [o for o, _ in pairs],
            wanted,
            [e for _, e in pairs],
            create_graph=True,
            allow_unused=True,
        )
    )
    return [next(found) if needed else None for needed in needs]


def inputs(cell: Cell, weights: DirectionWeights, task: Task) -> Tensors:
    """The tensors of a run, as :func:`forward` takes them."""
    by_kind = _by_kind(cell, task.state)
    together = (task.x, weights.input, weights.hidden, weights.bias, weights.unit, *by_kind)
    return tuple(tensor.contiguous() for tensor in together)


def last_state(cell: Cell, hidden: Tensor, memory: Tensor) -> dict[str, Tensor]:
    """By name (B, H), from (Q, B, H) and (K, B, H)."""
    state = dict(zip(cell.hidden, hidden.unbind(), strict=True))
    return state | dict(zip(_kept(cell), memory.unbind(), strict=True))


def run(cell: Cell, weights: DirectionWeights, task: Task) -> Run:
    """Run one direction of one layer."""
    tensors = inputs(cell, weights, task)
    learned = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)
    reset = None if task.reset is None else task.reset.to(torch.uint8)
    lengths = None if task.lengths is None else task.lengths.to(torch.int64)
    call = Call(cell, reset, lengths, task.reverse, task.trace, saving=learned or task.trace)
    traced: dict[str, Tensor] = {}
    hidden, *last = _Sequence.apply(call, traced, *tensors)  # type: ignore[no-untyped-call]
    record = _record(call, hidden, traced) if task.trace else None
    return Run(hidden, last_state(cell, *last), record)


def _record(call: Call, hidden: Tensor, traced: dict[str, Tensor]) -> Record:
    """A kernel's trace as an eager one."""
    cell = call.cell

    def named(kind: str) -> dict[str, Tensor]:
        return {n.partition(".")[2]: v for n, v in traced.items() if n.startswith(f"{kind}.")}

    units = hidden.shape[2] // len(cell.hidden)
    begin = int(call.reverse)
    steps = slice(begin, begin + len(hidden))
    before = _by_name(cell.hidden, traced["saved.state"][steps], units)
    before |= _by_name(_kept(cell), traced["saved.memory"][steps], units)
    seen = _by_name(cell.hidden, hidden.detach(), units)
    after = seen | named("memory")
    return Record(
        slots=named("slot"),
        past={name: before[name] for name in cell.memory},
        gates=named("gate"),
        memory={name: after[name] for name in cell.memory},
        hidden=seen,
    )


def _by_name(names: tuple[str, ...], rows: Tensor, units: int) -> dict[str, Tensor]:
    """(..., names * H) as one tensor (..., H) for every name."""
    return {n: rows[..., k * units : (k + 1) * units] for k, n in enumerate(names)}


def _kept(cell: Cell) -> tuple[str, ...]:
    """Memories that are not hidden values as well."""
    return tuple(name for name in cell.memory if name not in cell.hidden)


def _by_kind(cell: Cell, state: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
    """Hidden values (Q, B, H) and memories (K, B, H) from a state by name."""
    hidden = _stacked([state[name] for name in cell.hidden])
    own = [state[name] for name in _kept(cell)]
    return hidden, _stacked(own) if own else hidden.new_empty(0, *hidden.shape[1:])


def _stacked(values: list[Tensor]) -> Tensor:
    return values[0].unsqueeze(0) if len(values) == 1 else torch.stack(values)


def _array(tensor: Tensor | None) -> Any:
    return None if tensor is None else tensor.detach().contiguous().numpy()


def _tensors(arrays: Sequence[Any]) -> Tensors:
    return tuple(torch.from_numpy(array) for array in arrays)
