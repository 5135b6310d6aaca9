"""The eager form: one direction of one layer, step by step, in torch operations.

It runs wherever torch does, in any dtype, and can be differentiated as often as one likes; other
forms of the same run are held to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn import functional as F

from tidegate.calculus import derive
from tidegate.cells.base import Cell, Step
from tidegate.kernels.batch.plan import slots_of_retention
from tidegate.layers.layout import Carried, DirectionWeights, Layout, wide
from tidegate.layers.noise import Noise

__all__ = ["Record", "Recorded", "Run", "Task", "run"]

_VARIANCE_FLOOR = 1e-5
State = dict[str, Tensor]


class Task(NamedTuple):
    """What a direction has to do; T steps, B rows, I inputs.

    Attributes:
        x: (T, B, I).
        state: before the first step; nothing where the cell itself starts.
        fresh: by name (size,), what a reset goes back to.
        reset: (T, B) bool, a row starts anew before that step; or nothing.
        lengths: (B,) steps of every row, beyond which it does nothing; or nothing.
        reverse: steps go from the last time to the first.
        trace: whether every step is recorded.
        plain_start: whether ``fresh`` is where the cell itself starts.
    """

    x: Tensor
    state: Carried | None
    fresh: State
    reset: Tensor | None
    lengths: Tensor | None
    reverse: bool
    trace: bool
    plain_start: bool


class Recorded(Protocol):
    """What happened at every step, each by name (T, B, H), detached.

    Attributes:
        slots: the pre-activations that log-retention is read from.
        past: memories before the step.
        gates, memory, hidden: what the step gave; hidden values before any projection.
    """

    @property
    def slots(self) -> Mapping[str, Tensor]: ...
    @property
    def past(self) -> Mapping[str, Tensor]: ...
    @property
    def gates(self) -> Mapping[str, Tensor]: ...
    @property
    def memory(self) -> Mapping[str, Tensor]: ...
    @property
    def hidden(self) -> Mapping[str, Tensor]: ...


class Record(NamedTuple):
    """What happened at every step, as it stands."""

    slots: Mapping[str, Tensor]
    past: Mapping[str, Tensor]
    gates: Mapping[str, Tensor]
    memory: Mapping[str, Tensor]
    hidden: Mapping[str, Tensor]


class Run(NamedTuple):
    """What came of it: hidden values (T, B, outputs), 0 beyond a row's length; the last state."""

    hidden: Tensor
    state: Carried
    record: Recorded | None


def run(layout: Layout, weights: DirectionWeights, task: Task, noise: Noise) -> Run:
    """Run one direction of one layer."""
    layer = _Layer(layout.cell, weights, task.x)
    start = task.state or layout.start(task.x.shape[1], weights.input)
    state = {name: value.to(layer.dtype) for name, value in layout.by_name(start).items()}
    mask = noise.mask(layer.seen(state))
    steps = len(task.x)
    outputs: list[Tensor | None] = [None] * steps
    moments: list[_Moment | None] = [None] * steps
    for t in reversed(range(steps)) if task.reverse else range(steps):
        if task.reset is not None:
            state = _chosen(task.reset[t], task.fresh, state)
        moment = layer.step(t, state, mask)
        new = {name: noise.mixed(name, state[name], value) for name, value in moment.new.items()}
        active = None if task.lengths is None else task.lengths > t
        state = new if active is None else _chosen(active, new, state)
        output = layer.seen(state)
        outputs[t] = output if active is None else output * active[:, None]
        moments[t] = moment if task.trace else None
    record = _recorded(layout.cell, moments) if task.trace else None
    hidden: Tensor = torch.stack(outputs).to(layer.out)  # type: ignore[arg-type]
    return Run(hidden, layout.together(state), record)


def _chosen(where: Tensor, yes: Mapping[str, Tensor], no: Mapping[str, Tensor]) -> State:
    """``yes`` in the rows (B,) where it is asked for; no error flows to what is not taken."""
    rows = where[:, None]
    return {name: torch.where(rows, yes[name].to(value.dtype), value) for name, value in no.items()}


class _Moment(NamedTuple):
    slots: State
    past: State
    new: State
    step: Step


class Values:
    """Tensors as attributes, in a form that torch.compile follows."""

    def __init__(self, values: Mapping[str, Tensor]) -> None:
        for name, value in values.items():
            setattr(self, name, value)


class _Layer:
    """A layer's equations and weights, with everything that needs no state computed at once."""

    def __init__(self, cell: Cell, weights: DirectionWeights, x: Tensor) -> None:
        self.cell, self.weights = cell, weights
        self.units = weights.unit.shape[1]
        self.dtype = wide(weights.input.dtype)
        self.out = torch.promote_types(weights.input.dtype, x.dtype)
        self.par = dict(
            zip(self.cell.parameters, weights.unit.to(self.dtype).unbind(), strict=True)
        )
        first, second = self._recurrent()
        self.first_slots, self.second_slots = tuple(first), tuple(second)
        self.first = torch.cat(list(first.values())) if first else None
        self.second = second
        bias = self._biases()
        self.from_input = self._from_input(x, bias)
        own = [bias[s] for s in first if s in bias and s not in self.cell.fed_by("input")]
        self.first_bias = self._padded(bias) if own else None

    def _recurrent(self) -> tuple[State, State]:
        """Rows of the recurrent matrix by slot: those of the first product, and of the second."""
        slots = self.cell.fed_by("hidden")
        rows = dict(zip(slots, self._by_slot(self.weights.hidden), strict=True))
        late = self.cell.second_product
        return (
            {slot: u for slot, u in rows.items() if slot not in late},
            {slot: u for slot, u in rows.items() if slot in late},
        )

    def _biases(self) -> State:
        slots = self.cell.fed_by("bias")
        return dict(zip(slots, self._by_slot(self.weights.bias), strict=True))

    def _by_slot(self, rows: Tensor) -> tuple[Tensor, ...]:
        """(slots * H, ...) as one tensor (H, ...) for every slot."""
        return rows.reshape(-1, self.units, *rows.shape[1:]).unbind() if len(rows) else ()

    def _padded(self, bias: State) -> Tensor:
        """Biases of slots fed by the hidden values alone; 0 where the input brings the bias."""
        zero = self.weights.bias.new_zeros(self.units)
        fed = self.cell.fed_by("input")
        return torch.cat([zero if s in fed else bias.get(s, zero) for s in self.first_slots])

    def _from_input(self, x: Tensor, bias: State) -> list[State]:
        """W x + b of every step, by slot (B, H)."""
        slots = self.cell.fed_by("input")
        if not slots:
            return [{} for _ in range(len(x))]
        zero = self.weights.input.new_zeros(self.units)
        b = torch.cat([bias.get(slot, zero) for slot in slots]) if bias else None
        z = F.linear(x, self.weights.input, b).to(self.dtype)
        by_step = z.reshape(*x.shape[:2], len(slots), self.units).unbind(0)
        return [dict(zip(slots, step.unbind(1), strict=True)) for step in by_step]

    def seen(self, state: Mapping[str, Tensor]) -> Tensor:
        """The hidden values (B, outputs) as other units see them."""
        names = self.cell.hidden
        return state[names[0]] if len(names) == 1 else torch.cat([state[n] for n in names], dim=1)

    def step(self, t: int, state: State, mask: Tensor | None) -> _Moment:
        seen = self.seen(state)
        seen = seen if mask is None else seen * mask
        past = {name: state[name] for name in self.cell.memory}
        z = self.from_input[t]
        if self.first is not None:
            parts = F.linear(seen.to(self.first.dtype), self.first, self.first_bias).to(self.dtype)
            by_slot = parts.reshape(len(parts), len(self.first_slots), self.units).unbind(1)
            z = _summed(z, zip(self.first_slots, by_slot, strict=True))
        if self.second_slots:
            z = _summed(z, self._second_products(z, past, seen))
        for slot in self.cell.fed_by("norm"):
            z = z | {slot: F.layer_norm(z[slot], (self.units,), eps=_VARIANCE_FLOOR)}
        step = self.cell.step(Values(z), Values(past), Values(self.par))
        return _Moment(z, past, self._new(step, seen), step)

    def _second_products(self, z: State, past: State, seen: Tensor) -> Iterable[tuple[str, Tensor]]:
        """U (gate * h); the gates are known without these slots."""
        gates = self.cell.step(Values(z), Values(past), Values(self.par)).gates
        for slot, u in self.second.items():
            gate = gates[self.cell.second_product[slot]].repeat(1, len(self.cell.hidden))
            yield slot, F.linear((gate * seen).to(u.dtype), u).to(self.dtype)

    def _new(self, step: Step, like: Tensor) -> State:
        names = dict.fromkeys((*self.cell.hidden, *self.cell.memory))
        new = {n: _tensor(getattr(step, n), like, self.units) for n in names}
        if self.weights.project is not None:
            project = self.weights.project
            for name in self.cell.hidden:
                new[name] = F.linear(new[name].to(project.dtype), project).to(self.dtype)
        return new


def _summed(z: State, parts: Iterable[tuple[str, Tensor]]) -> State:
    total = dict(z)
    for slot, part in parts:
        total[slot] = total[slot] + part if slot in total else part
    return total


def _tensor(value: Tensor | float, like: Tensor, units: int) -> Tensor:
    """A value of the equations as (B, H), also where it is one number."""
    if isinstance(value, Tensor):
        return value
    return torch.full((len(like), units), value, dtype=like.dtype, device=like.device)


@torch.no_grad()
def _recorded(cell: Cell, moments: list[_Moment | None]) -> Record:
    done = [moment for moment in moments if moment is not None]
    like = next(iter(done[0].slots.values()))

    def stacked(names: Iterable[str], values: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
        return {n: torch.stack([_tensor(v[n], like, like.shape[1]) for v in values]) for n in names}

    results = [vars(moment.step) for moment in done]
    return Record(
        slots=stacked(slots_of_retention(derive(cell)), [moment.slots for moment in done]),
        past=stacked(cell.memory, [moment.past for moment in done]),
        gates=stacked(done[0].step.gates, [moment.step.gates for moment in done]),
        memory=stacked(cell.memory, results),
        hidden=stacked(cell.hidden, results),
    )
