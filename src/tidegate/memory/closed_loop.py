"""The recurrence as a whole: the true Jacobian of one step, with the loop through h closed.

The direct path is what a unit keeps of its own memory while all gates are held. But gates see h,
and h comes from the memory: the state (all memories, then all hidden values) maps to the next one
by a full matrix. It needs the recurrent weights and a Trace with slots.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tidegate._core.errors import UsageError
from tidegate._core.trace import Array, Trace
from tidegate.calculus import Equations, derive
from tidegate.calculus.graph import partial
from tidegate.cells import Cell
from tidegate.memory.direct_path import Floats

__all__ = ["ClosedLoop"]


@dataclass(frozen=True, eq=False)
class ClosedLoop:
    """One layer and one row of its Trace.

    Args:
        cell: the cell of the layer.
        recurrent: weights (hidden names x units, slots fed by h, units), slots in the cell's
            order, as ``layer0.hidden`` of a plan.
        trace: with slots, memories and hidden values.
        row: of the Trace.
        parameters: of the units, (parameters, units), where the cell has some.

    Raises:
        UsageError: the Trace lacks something, shapes do not fit, or the cell normalises its
            memories (``read``), of which a Trace holds no more than the normalised value.

    >>> from tidegate.cells import LSTM1997
    >>> zeros = np.zeros((2, 1, 1))
    >>> trace = Trace({"c": zeros}, {"c": zeros}, {"h": zeros}, slots=dict.fromkeys("igo", zeros))
    >>> ClosedLoop(LSTM1997(), np.ones((1, 3, 1)), trace).jacobian(1)
    array([[1.  , 0.5 ],
           [0.5 , 0.25]])
    """

    cell: Cell
    recurrent: Array
    trace: Trace
    row: int = 0
    parameters: Array | None = None

    def __post_init__(self) -> None:
        eq, trace = self.equations, self.trace
        if type(self.cell).read is not Cell.read:
            raise _refused("a cell whose memories are recorded as they are", "one with read()")
        for part, names in (("slots", eq.slots), ("memory", eq.memory), ("hidden", eq.hidden)):
            missing = [name for name in names if name not in getattr(trace, part)]
            if missing:
                raise _refused(f"a Trace with {part} {', '.join(names)}", "one without")
        shape = (len(eq.hidden) * trace.units, len(eq.fed_by("hidden")), trace.units)
        if np.shape(self.recurrent) != shape:
            raise _refused(f"recurrent weights {shape}", str(np.shape(self.recurrent)))
        if len(self._parameters) != len(eq.parameters):
            raise _refused(f"parameters {', '.join(eq.parameters)}", "none")

    @property
    def equations(self) -> Equations:
        """What follows from the cell."""
        return derive(self.cell)

    @property
    def _parameters(self) -> Array:
        return np.zeros((0, self.trace.units)) if self.parameters is None else self.parameters

    @property
    def size(self) -> int:
        """Numbers in the state: (memories + hidden names) x units."""
        return (len(self.equations.memory) + len(self.equations.hidden)) * self.trace.units

    def jacobian(self, step: int) -> Floats:
        """d state_t / d state_(t-1) at index ``step``, (size, size); 0 at a reset.

        Raises:
            UsageError: it is the first step of a Trace that begins in the middle of a stream.
        """
        if self.trace.reset[step, self.row]:
            return np.zeros((self.size, self.size))
        eq, known = self.equations, self._known(step)
        keep, write, recall, direct = (
            eq.evaluate(slopes, known) for slopes in (eq.keep, eq.write, eq.recall, eq.direct)
        )
        past = self._unit_blocks()
        slots = self._slots(step, known, past)
        memory = {
            m: _sum(keep, m, past, self.size) + _sum(write, m, slots, self.size) for m in eq.memory
        }
        show = eq.evaluate(eq.show, known)
        hidden = [
            _sum(show, h, memory, self.size)
            + _sum(recall, h, past, self.size)
            + _sum(direct, h, slots, self.size)
            for h in eq.hidden
        ]
        return np.concatenate([*memory.values(), *hidden])

    def shown(self, step: int, memory: str) -> Floats:
        """d state_t / d memory_t of the same step, (size, units): the memory itself, and h."""
        eq, units = self.equations, self.trace.units
        show = eq.evaluate(eq.show, self._known(step))
        blocks = [np.eye(units) * float(m == memory) for m in eq.memory]
        ones = np.ones(units)
        blocks += [np.diag(show.get((h, memory), 0.0) * ones) for h in eq.hidden]
        return np.concatenate(blocks)

    def place(self, memory: str) -> slice:
        """Where a memory's units lie in the state."""
        at, units = self.cell.memory.index(memory), self.trace.units
        return slice(at * units, (at + 1) * units)

    def _unit_blocks(self) -> dict[str, Floats]:
        """d past memory / d state_(t-1), by name."""
        return {m: np.eye(self.size)[self.place(m)] for m in self.equations.memory}

    def _before(self, step: int, name: str, part: Mapping[str, Array], start: float) -> Floats:
        if step > 0 and not self.trace.reset[step, self.row]:
            return np.asarray(part[name][step - 1, self.row], np.float64)
        if step == 0 and self.trace.meta.start > 0 and not self.trace.reset[0, self.row]:
            raise _refused("a step whose past is in the Trace", "the first one of a later part")
        return np.full(self.trace.units, start)

    def _known(self, step: int) -> dict[str, Floats]:
        eq, trace = self.equations, self.trace
        known = {f"z.{s}": trace.slots[s][step, self.row].astype(float) for s in eq.slots}
        for m in eq.memory:
            start = eq.cell.start.get(m, 0.0)
            known[f"past.{m}"] = self._before(step, m, trace.memory, start)
        own = zip(eq.parameters, self._parameters, strict=True)
        return known | {f"par.{p}": np.asarray(v, np.float64) for p, v in own}

    def _slots(
        self, step: int, known: Mapping[str, Floats], past: Mapping[str, Floats]
    ) -> dict[str, Floats]:
        """d slot / d state_(t-1), (units, size) by slot."""
        eq, units = self.equations, self.trace.units
        hidden = np.eye(self.size)[len(eq.memory) * units :]
        slots = {slot: np.zeros((units, self.size)) for slot in eq.slots}
        for second in (False, True):  # gates of a second product see the first ones' slots
            for n, slot in enumerate(eq.fed_by("hidden")):
                if (slot in eq.second_product) == second:
                    fed = self._gated(step, slot, known, past, slots) if second else hidden
                    slots[slot] = np.asarray(self.recurrent[:, n], np.float64).T @ fed
        return slots

    def _gated(
        self,
        step: int,
        slot: str,
        known: Mapping[str, Floats],
        past: Mapping[str, Floats],
        slots: Mapping[str, Floats],
    ) -> Floats:
        """d (gate * h) / d state_(t-1), (hidden names x units, size)."""
        eq, units = self.equations, self.trace.units
        gate = eq.gates[eq.second_product[slot]]
        slopes = {("gate", leaf): partial(gate, node) for leaf, node in eq.leaves.items()}
        by_leaf = {f"z.{s}": d for s, d in slots.items()} | {
            f"past.{m}": d for m, d in past.items()
        }
        (value,) = eq.evaluate({"gate": gate}, known).values()
        moved = _sum(eq.evaluate(slopes, known), "gate", by_leaf, self.size)
        blocks: list[Floats] = []
        for n, name in enumerate(eq.hidden):
            own = np.eye(self.size)[(len(eq.memory) + n) * units :][:units]
            before = self._before(step, name, self.trace.hidden, 0.0)
            blocks.append(value[:, None] * own + before[:, None] * moved)
        return np.concatenate(blocks)


def _sum(slopes: Mapping[Any, Any], of: str, by: Mapping[str, Floats], size: int) -> Floats:
    """Sum over x of d of / d x (units,) times d x / d state (units, size)."""
    units = next(iter(by.values())).shape[0] if by else 0
    total = np.zeros((units, size))
    for (y, x), slope in slopes.items():
        if y == of and x in by:
            total += np.broadcast_to(slope, (units,))[:, None] * by[x]
    return total


def _refused(expected: str, got: str) -> UsageError:
    return UsageError(
        "ClosedLoop", expected, got, "Record a layer with slots and give its own weights."
    )
