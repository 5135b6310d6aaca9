"""Random layers, sequences and errors to run batch kernels on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidegate.calculus import derive
from tidegate.cells import Cell
from tidegate.kernels.batch.plan import Weights, kept, start


@dataclass(frozen=True)
class Problem:
    weights: Weights
    x: np.ndarray
    hidden0: np.ndarray
    memory0: np.ndarray
    reset: np.ndarray
    lengths: np.ndarray
    errors: tuple[np.ndarray, np.ndarray, np.ndarray]

    def differentiable(self) -> dict[str, np.ndarray]:
        return self.weights._asdict() | {
            "x": self.x,
            "hidden0": self.hidden0,
            "memory0": self.memory0,
        }


def problem(cell: Cell, steps: int, rows: int, inputs: int, units: int, dtype, seed=0) -> Problem:
    """A layer with weights of order 1 / sqrt(fan-in); resets and lengths are random."""
    rng = np.random.default_rng(seed)
    eq = derive(cell)

    def normal(*shape, scale=1.0):
        return (rng.normal(size=shape) * scale).astype(dtype)

    scale = 1 / np.sqrt(inputs + units)
    shapes = Weights.shapes(cell, inputs, units)
    weights = Weights(**{n: normal(*shape, scale=scale) for n, shape in shapes.items()})
    own = kept(eq)
    near = np.array([max(start(cell, n), -1.0) for n in own], dtype)[:, None, None]
    memory0 = np.abs(normal(len(own), rows, units, scale=0.5)) + near
    errors = (
        normal(steps, rows, len(eq.hidden) * units),
        normal(len(eq.hidden), rows, units),
        normal(len(own), rows, units),
    )
    return Problem(
        weights,
        normal(steps, rows, inputs),
        normal(len(eq.hidden), rows, units, scale=0.5),
        memory0,
        (rng.random((steps, rows)) < 0.2).astype(np.uint8),
        rng.integers(1, steps + 1, rows),
        errors,
    )
