"""What a layer recorded, as tensors; the names are those of a Trace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace

import torch
from torch import Tensor

from tidegate._core.trace import Meta, Trace
from tidegate.calculus import derive
from tidegate.cells.base import Cell
from tidegate.layers.direction import Recorded

__all__ = ["LayerTrace"]


@dataclass(eq=False)
class LayerTrace:
    """Gates, memories and hidden values of one direction of one layer, at every step.

    By name (steps, rows, units). Times are those of the sequence, also in the reverse direction.
    No error flows through it.

    Attributes:
        cell: whose they are.
        record: every step as it ran.
        own: the units' own parameters by name (H,).
        flags: (steps, rows) bool, or nothing where there were no resets.

    >>> import torch
    >>> from tidegate.layers import LSTM
    >>> output, (h, c), trace = LSTM(3, 4)(torch.ones(6, 2, 3), trace=True)
    >>> torch.equal(trace.memory["c"][-1:], c), sorted(trace.gates)
    (True, ['f', 'g', 'i', 'o'])
    >>> f = trace.gates["f"].double()
    >>> bool(torch.allclose(trace.log_retention["c"], f.log(), atol=1e-6))
    True
    """

    cell: Cell
    record: Recorded
    own: Mapping[str, Tensor]
    flags: Tensor | None

    @staticmethod
    def of(
        cell: Cell, record: Recorded, parameters: Mapping[str, Tensor], flags: Tensor | None
    ) -> LayerTrace:
        """A trace that parameters which change later do not reach."""
        own = {name: parameters[name].detach().clone() for name in cell.parameters}
        return LayerTrace(cell, record, own, flags)

    @property
    def reset(self) -> Tensor:
        """(steps, rows) bool; a reset acts before its step."""
        if self.flags is not None:
            return self.flags
        like = self._like
        return torch.zeros(like.shape[:2], dtype=torch.bool, device=like.device)

    @property
    def gates(self) -> Mapping[str, Tensor]:
        return self.record.gates

    @property
    def hidden(self) -> Mapping[str, Tensor]:
        return self.record.hidden

    @property
    def slots(self) -> Mapping[str, Tensor]:
        """The pre-activations that log-retention is read from."""
        return self.record.slots

    @cached_property
    def memory(self) -> Mapping[str, Tensor]:
        """After the step, in the units that the cell means."""
        return dict(self.cell.read(SimpleNamespace(**self.record.memory)))

    @cached_property
    def log_retention(self) -> Mapping[str, Tensor]:
        """log |d memory / d same memory before|, slots held, in nats per step; float64, detached.

        Taken from the pre-activation in float64: a gate that rounds to 1 has lost it.
        """
        return self._evaluated("log_retention")

    @cached_property
    def retention_sign(self) -> Mapping[str, Tensor]:
        """+1 or -1, only where it can change."""
        return self._evaluated("retention_sign")

    def numpy(self) -> Trace:
        """The same as arrays, for whatever reads a memory; retention of memories that are read."""
        read = self.memory
        parts = {
            "log_retention": {n: v for n, v in self.log_retention.items() if n in read},
            "retention_sign": {n: v for n, v in self.retention_sign.items() if n in read},
            "memory": read, "hidden": self.hidden, "gates": self.gates, "slots": self.slots,
        }  # fmt: skip
        arrays = {
            part: {name: value.detach().cpu().numpy() for name, value in named.items()}
            for part, named in parts.items()
        }
        meta = Meta(cell=repr(self.cell), sizes={"units": self._like.shape[2]})
        return Trace(**arrays, reset=self.reset.cpu().numpy(), meta=meta)

    @property
    def _like(self) -> Tensor:
        return next(iter(self.hidden.values()))

    @torch.no_grad()
    def _evaluated(self, what: str) -> dict[str, Tensor]:
        equations = derive(self.cell)
        known = {f"z.{n}": v.double() for n, v in self.record.slots.items()}
        known |= {f"past.{n}": v.double() for n, v in self.record.past.items()}
        known |= {f"par.{n}": v.double() for n, v in self.own.items()}
        like = self._like.double()
        found = equations.evaluate(getattr(equations, what), known)
        return {
            str(name): value if isinstance(value, Tensor) else torch.full_like(like, value)
            for name, value in found.items()
        }
