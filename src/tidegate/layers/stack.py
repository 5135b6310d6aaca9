"""Layers upon layers, one or two directions each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from tidegate.layers.direction import Record, Run, Task
from tidegate.layers.execute import execute
from tidegate.layers.layout import DirectionWeights, Layout
from tidegate.layers.noise import Noise
from tidegate.layers.sequences import Sequences
from tidegate.layers.trace import LayerTrace

__all__ = ["Part", "Stack"]


@dataclass(frozen=True)
class Part:
    """One direction of one layer: sizes, weights, where it starts and what a reset goes back to.

    Attributes:
        state: by name (B, size).
        fresh: by name (size,).
        plain_start: whether that is where the cell itself starts.
    """

    layout: Layout
    weights: DirectionWeights
    state: Mapping[str, Tensor]
    fresh: Mapping[str, Tensor]
    plain_start: bool


@dataclass(frozen=True)
class Result:
    """Hidden values of the top layer (T, B, directions * outputs), last states, traces by part."""

    hidden: Tensor
    states: list[Mapping[str, Tensor]]
    traces: list[LayerTrace]


@dataclass(frozen=True)
class Stack:
    """Runs parts in torch's order: layer by layer, forwards before backwards.

    Attributes:
        directions: 1 or 2.
        dropout: on the outputs of every layer but the last.
    """

    directions: int
    dropout: float
    noise: Noise
    trace: bool

    def run(self, parts: Sequence[Part], sequences: Sequences) -> Result:
        """The whole stack over sequences."""
        below = sequences.x
        runs: list[Run] = []
        layers = len(parts) // self.directions
        for layer in range(layers):
            first = layer * self.directions
            now = [
                self._direction(part, below, sequences, reverse=bool(n))
                for n, part in enumerate(parts[first : first + self.directions])
            ]
            runs += now
            below = now[0].hidden if len(now) == 1 else torch.cat([r.hidden for r in now], dim=-1)
            if layer < layers - 1 and self.dropout:
                below = F.dropout(below, self.dropout, self.noise.training)
        traces = [
            _traced(part, run.record, sequences, run.hidden.device)
            for part, run in zip(parts, runs, strict=True)
            if run.record is not None
        ]
        return Result(below, [run.state for run in runs], traces)

    def _direction(self, part: Part, x: Tensor, sequences: Sequences, reverse: bool) -> Run:
        reset = sequences.reset
        task = Task(
            x=x,
            state=dict(part.state),
            fresh=dict(part.fresh),
            reset=_after(reset) if reverse and reset is not None else reset,
            lengths=sequences.lengths,
            reverse=reverse,
            trace=self.trace,
            plain_start=part.plain_start,
        )
        return execute(part.layout.cell, part.layout.key, part.weights, task, self.noise)


def _traced(part: Part, record: Record, sequences: Sequences, device: torch.device) -> LayerTrace:
    flags = sequences.reset
    if flags is None:
        flags = torch.zeros(sequences.x.shape[:2], dtype=torch.bool, device=device)
    return LayerTrace(part.layout.cell, record, part.weights.unit, flags)


def _after(reset: Tensor) -> Tensor:
    """Backwards a piece begins at its last step: the step before that of the next reset."""
    return torch.cat([reset[1:], torch.zeros_like(reset[:1])])
