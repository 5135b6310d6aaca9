"""One direction of one layer by the kernels: forward and backward in one call each.

Differentiating twice, or by a transform of torch.func, goes through the eager form of the same
equations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import torch
from torch import Tensor

from tidegate.cells.base import Cell
from tidegate.kernels import batch
from tidegate.layers import direction
from tidegate.layers.call import Call, Tensors
from tidegate.layers.direction import Record, Run, Task
from tidegate.layers.in_place import backward_in_place, forward_in_place, layout_of
from tidegate.layers.layout import Carried, Layout
from tidegate.layers.noise import Noise

__all__ = ["backward", "forward", "packed", "run"]

Named = Callable[[], dict[str, Tensor]]


def forward(call: Call, tensors: Tensors) -> tuple[Tensors, Tensors, Named]:
    """The kernel's forward run.

    Args:
        tensors: x (T, B, I); weights input, hidden, bias, unit; hidden0 (Q, B, H), memory0 (K, B,
            H); contiguous, on the CPU, of one dtype.

    Returns:
        hidden (T, B, Q * H), last hidden (Q, B, H) and last memory (K, B, H); what backward needs:
        state, memory, values; where the trace is found by name, with ``gate.`` or ``slot.`` or
        ``memory.`` in front.
    """
    layout = layout_of(call, tensors)
    if layout is not None:
        return forward_in_place(layout, call, tensors)
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
    return _tensors(outputs), _tensors(parts), lambda: traced


def backward(
    call: Call, tensors: Tensors, saved: Tensors, errors: Sequence[Tensor | None], needs_x: bool
) -> list[Tensor | None]:
    """The kernel's backward run: d loss / d each of ``tensors``, from that by each output."""
    layout = layout_of(call, tensors)
    if layout is not None:
        return backward_in_place(layout, tensors, saved, errors, needs_x)
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


def packed(layout: Layout, x: Tensor, start: Carried, parameters: Mapping[str, Tensor]) -> Tensors:
    """The tensors of a run, as :func:`forward` takes them."""
    weights = layout.weights(parameters)
    together = (x, weights.input, weights.hidden, weights.bias, weights.unit, *start)
    return tuple([tensor.contiguous() for tensor in together])


@lru_cache(maxsize=64)
def _start(layout: Layout, rows: int, dtype: torch.dtype) -> Carried:
    """Where the cell itself starts; shared by all runs, which only read it."""
    with torch.inference_mode(False):  # else no run with a way back could keep it
        return layout.start(rows, torch.empty(0, dtype=dtype))


class _Form(NamedTuple):
    """How the arguments of a sequence are to be read: x, hidden0, memory0, parameters by name."""

    call: Call
    layout: Layout
    names: tuple[str, ...]

    @property
    def taken(self) -> int:
        """How many parameters, the first ones, are what the kernels take."""
        return 1 + ("weight_hh" in self.names)

    def packed(self, arguments: Sequence[Tensor]) -> Tensors:
        x, hidden, memory, *parameters = arguments
        own = hidden is None
        start = _start(self.layout, x.shape[1], x.dtype) if own else Carried(hidden, memory)
        return packed(self.layout, x, start, dict(zip(self.names, parameters, strict=True)))

    def unpacked(self, errors: Sequence[Any], started: bool) -> tuple[Any, ...]:
        """Errors on the arguments, from those on what was packed."""
        x, *weights, hidden, memory = errors
        first = (x, hidden, memory) if started else (x, None, None)
        return *first, *self.layout.by_parameter(self.names, weights)


class _Sequence(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, form: _Form, kept: list[Any], *arguments: Any) -> Tensors:
        tensors = form.packed(arguments)
        ctx.made = tensors[1 + form.taken :]
        outputs, saved, named = forward(form.call, tensors)
        if form.call.trace:
            kept += [*saved[:2], named]
        ctx.form, ctx.count = form, len(arguments)
        # The output may lie in what is saved: who changes it in place must be told by torch.
        ctx.save_for_backward(*arguments, *saved, outputs[0])
        ctx.set_materialize_grads(False)
        return outputs

    @staticmethod
    def backward(ctx: Any, *errors: Tensor | None) -> Any:
        everything, form, count = ctx.saved_tensors, ctx.form, ctx.count
        arguments, saved = everything[:count], everything[count:-1]
        needs = ctx.needs_input_grad[2:]
        if torch.is_grad_enabled():
            return None, None, *_eager_backward(form, arguments, errors, needs)
        tensors = (arguments[0], *arguments[3 : 3 + form.taken], *ctx.made)
        found = backward(form.call, tensors, saved, errors, needs[0])
        return None, None, *form.unpacked(found, arguments[1] is not None)


def _eager(form: _Form, arguments: Tensors) -> Tensors:
    """The same outputs in torch operations, to be differentiated as often as one likes."""
    call, layout = form.call, form.layout
    x, hidden, memory, *parameters = arguments
    start = None if hidden is None else Carried(hidden, memory)
    fresh = {name: value[0] for name, value in layout.by_name(layout.start(1, x)).items()}
    reset = None if call.reset is None else call.reset != 0
    task = Task(x, start, fresh, reset, call.lengths, call.reverse, trace=False, plain_start=True)
    weights = layout.weights(dict(zip(form.names, parameters, strict=True)))
    done = direction.run(layout, weights, task, Noise())
    return done.hidden, *done.state


def _eager_backward(
    form: _Form, arguments: Tensors, errors: Sequence[Tensor | None], needs: Sequence[bool]
) -> list[Tensor | None]:
    """The gradient as a graph of its own: for the second derivative."""
    pairs = [(o, e) for o, e in zip(_eager(form, arguments), errors, strict=True) if e is not None]
    wanted = [given for given, needed in zip(arguments, needs, strict=True) if needed]
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


def run(layout: Layout, parameters: Mapping[str, Tensor], task: Task) -> Run:
    """Run one direction of one layer."""
    start = task.state or (None, None)
    given = [parameter.contiguous() for parameter in parameters.values()]
    arguments = (task.x.contiguous(), *start, *given)
    learned = torch.is_grad_enabled() and any(
        [tensor.requires_grad for tensor in arguments if tensor is not None]
    )
    reset = None if task.reset is None else task.reset.to(torch.uint8)
    lengths = None if task.lengths is None else task.lengths.to(torch.int64)
    saving = learned or task.trace
    call = Call(layout.cell, reset, lengths, task.reverse, task.trace, saving)
    kept: list[Any] = []
    form = _Form(call, layout, tuple(parameters))
    hidden, *last = _Sequence.apply(form, kept, *arguments)  # type: ignore[no-untyped-call]
    record = _Recording(layout.cell, task.reverse, hidden.detach(), *kept) if task.trace else None
    return Run(hidden, Carried(*last), record)


class _Recording:
    """A kernel's record of every step, looked up where it lies when it is asked for."""

    def __init__(
        self, cell: Cell, reverse: bool, hidden: Tensor, state: Tensor, memory: Tensor, named: Named
    ) -> None:
        self._cell, self._output, self._named = cell, hidden, named
        self._before = slice(1, None) if reverse else slice(-1)
        self._state, self._memory = state, memory

    @cached_property
    def _traced(self) -> dict[str, Tensor]:
        return self._named()

    @cached_property
    def slots(self) -> dict[str, Tensor]:
        return self._of_kind("slot")

    @cached_property
    def gates(self) -> dict[str, Tensor]:
        return self._of_kind("gate")

    @cached_property
    def past(self) -> dict[str, Tensor]:
        before = _by_name(self._cell.hidden, self._state[self._before], self._units)
        before |= _by_name(_kept(self._cell), self._memory[self._before], self._units)
        return {name: before[name] for name in self._cell.memory}

    @cached_property
    def memory(self) -> dict[str, Tensor]:
        after = self.hidden | self._of_kind("memory")
        return {name: after[name] for name in self._cell.memory}

    @cached_property
    def hidden(self) -> dict[str, Tensor]:
        return _by_name(self._cell.hidden, self._output, self._units)

    @property
    def _units(self) -> int:
        return self._output.shape[2] // len(self._cell.hidden)

    def _of_kind(self, kind: str) -> dict[str, Tensor]:
        found = self._traced
        return {n.partition(".")[2]: v for n, v in found.items() if n.startswith(f"{kind}.")}

    def __reduce__(self) -> tuple[Any, ...]:
        return Record, (self.slots, self.past, self.gates, self.memory, self.hidden)


def _by_name(names: tuple[str, ...], rows: Tensor, units: int) -> dict[str, Tensor]:
    """(..., names * H) as one tensor (..., H) for every name."""
    return {n: rows[..., k * units : (k + 1) * units] for k, n in enumerate(names)}


def _kept(cell: Cell) -> tuple[str, ...]:
    """Memories that are not hidden values as well."""
    return tuple(name for name in cell.memory if name not in cell.hidden)


def _array(tensor: Tensor | None) -> Any:
    return None if tensor is None else tensor.detach().contiguous().numpy()


def _tensors(arrays: Sequence[Any]) -> Tensors:
    return tuple(torch.from_numpy(array) for array in arrays)
