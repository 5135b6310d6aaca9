"""One direction of one layer by the fastest form that applies."""

from __future__ import annotations

from tidegate.cells.base import Cell
from tidegate.layers import direction
from tidegate.layers.direction import Run, Task
from tidegate.layers.layout import DirectionWeights
from tidegate.layers.noise import Noise

__all__ = ["execute"]


def execute(cell: Cell, weights: DirectionWeights, task: Task, noise: Noise) -> Run:
    """Run it; every form gives the same values."""
    return direction.run(cell, weights, task, noise)
