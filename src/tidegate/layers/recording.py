"""A kernel's record of every step, looked up where it lies when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

from torch import Tensor

from tidegate.cells.base import Cell
from tidegate.layers.direction import Record

__all__ = ["Left", "Recording", "by_name"]

ByName = dict[str, Tensor]


class Left(NamedTuple):
    """What a run left of every step.

    Attributes:
        state, memory: every block of them, hidden values (T + 1, B, Q * H) and memories that are
            no hidden values (T + 1, B, K * H).
        gates, slots: by name (T, B, H). memories: those of ``memory``, after each step.
    """

    state: Tensor
    memory: Tensor
    gates: ByName
    slots: ByName
    memories: ByName


class Recording:
    """Every step of one run.

    Args:
        hidden: (T, B, Q * H).
        look: says what the run left.
    """

    def __init__(self, cell: Cell, reverse: bool, hidden: Tensor, look: Callable[[], Left]) -> None:
        self._cell, self._reverse, self._output, self._look = cell, reverse, hidden, look

    @cached_property
    def _left(self) -> Left:
        return self._look()

    @property
    def slots(self) -> ByName:
        return self._left.slots

    @property
    def gates(self) -> ByName:
        return self._left.gates

    @cached_property
    def past(self) -> ByName:
        before = slice(1, None) if self._reverse else slice(-1)
        kept = tuple(name for name in self._cell.memory if name not in self._cell.hidden)
        found = by_name(self._cell.hidden, self._left.state[before], self._units)
        found |= by_name(kept, self._left.memory[before], self._units)
        return {name: found[name] for name in self._cell.memory}

    @cached_property
    def memory(self) -> ByName:
        after = self.hidden | self._left.memories
        return {name: after[name] for name in self._cell.memory}

    @cached_property
    def hidden(self) -> ByName:
        return by_name(self._cell.hidden, self._output, self._units)

    @property
    def _units(self) -> int:
        return self._output.shape[2] // len(self._cell.hidden)

    def __reduce__(self) -> tuple[Any, ...]:
        return Record, (self.slots, self.past, self.gates, self.memory, self.hidden)


def by_name(names: tuple[str, ...], rows: Tensor, units: int) -> ByName:
    """(..., names * H) as one tensor (..., H) for every name."""
    return {n: rows[..., k * units : (k + 1) * units] for k, n in enumerate(names)}
