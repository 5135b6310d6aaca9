"""Layers upon layers, one or two directions each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from tidegate.layers.direction import Run, Task
from tidegate.layers.execute import execute
from tidegate.layers.layout import Carried, Layout
from tidegate.layers.noise import Noise
from tidegate.layers.sequences import Sequences
from tidegate.layers.trace import LayerTrace

__all__ = ["Manner", "Part", "Result", "run"]


class Part(NamedTuple):
    """One direction of one layer: sizes, weights, start and what a reset goes back to.

    Attributes:
        parameters: by name.
        state: where it starts; nothing where the cell itself starts.
        fresh: by name (size,).
        plain_start: whether that is where the cell itself starts.
    """

    layout: Layout
    parameters: dict[str, Tensor]
    state: Carried | None
    fresh: dict[str, Tensor]
    plain_start: bool


class Result(NamedTuple):
    """Hidden values of the top layer (T, B, directions * outputs), last states, traces by part."""

    hidden: Tensor
    states: list[Carried]
    traces: list[LayerTrace]


class Manner(NamedTuple):
    """How a stack is run.

    Attributes:
        directions: 1 or 2.
        dropout: on the outputs of every layer but the last.
        noise: on states and hidden values.
        trace: whether every step is recorded.
    """

    directions: int
    dropout: float
    noise: Noise
    trace: bool


def run(parts: Sequence[Part], sequences: Sequences, manner: Manner) -> Result:
    """Run parts in torch's order: layer by layer, forwards before backwards."""
    below = sequences.x
    runs: list[Run] = []
    for first in range(0, len(parts), manner.directions):
        if first and manner.dropout:
            below = F.dropout(below, manner.dropout, manner.noise.training)
        layer = parts[first : first + manner.directions]
        now = [_direction(part, below, sequences, manner, n == 1) for n, part in enumerate(layer)]
        below = now[0].hidden if len(now) == 1 else torch.cat([r.hidden for r in now], dim=-1)
        runs += now
    traces = [
        LayerTrace.of(part.layout.cell, run.record, part.parameters, sequences.reset)
        for part, run in zip(parts, runs, strict=True)
        if run.record is not None
    ]
    return Result(below, [run.state for run in runs], traces)


def _direction(part: Part, x: Tensor, sequences: Sequences, manner: Manner, reverse: bool) -> Run:
    reset = sequences.reset
    task = Task(
        x=x,
        state=part.state,
        fresh=part.fresh,
        reset=_after(reset) if reverse and reset is not None else reset,
        lengths=sequences.lengths,
        reverse=reverse,
        trace=manner.trace,
        plain_start=part.plain_start,
    )
    return execute(part.layout, part.parameters, task, manner.noise)


def _after(reset: Tensor) -> Tensor:
    """Backwards a piece begins at its last step: the step before that of the next reset."""
    return torch.cat([reset[1:], torch.zeros_like(reset[:1])])
