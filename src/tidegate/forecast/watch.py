"""A watch over a learner's memory: whether anything it learned or meets can still be seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tidegate.calculus.graph import evaluate
from tidegate.forecast.parts import Part
from tidegate.kernels.plan import Array, LayerPlan
from tidegate.learn import Learner

__all__ = ["EVERY", "MemoryWatch", "saturated"]

EVERY = 64  #: steps between two looks
LEAST_SLOPE = 1e-9  #: below which a hidden value no longer follows its memory


class MemoryWatch(Part):
    """Counts the units whose memory can no longer change what others see.

    Where tanh of a memory is flat, neither its hidden value nor an error reaches it any more: the
    unit is stuck until it forgets, and a cell without a forget gate never does. One look in 64
    steps is enough, as it lasts.

    Attributes:
        units: that are stuck now.
        total: units in all.

    >>> from tidegate.learn import Network
    >>> learner = Learner(Network(inputs=1, outputs=1, cell="lstm1997", units=4))
    >>> state = learner.state
    >>> state.memory[:2] = 1000.0
    >>> learner.state, watch = state, MemoryWatch(learner)
    >>> watch.look(learner)
    >>> watch.units
    2
    """

    learned = ("units",)

    def __init__(self, learner: Learner) -> None:
        self.units = 0
        self.total = sum(layer.units for layer in learner.network.plan.layers)

    @property
    def alarming(self) -> bool:
        """Whether most units are stuck: the learner can no longer learn to remember."""
        return 2 * self.units > self.total

    def look(self, learner: Learner) -> None:
        """Count anew, where it is time to."""
        if learner.steps % EVERY:
            return
        plan = learner.network.plan
        memories = plan.memory.views(learner.state.memory).values()
        self.units = sum(
            int(saturated(layer, memory).sum())
            for layer, memory in zip(plan.layers, memories, strict=True)
        )


def saturated(layer: LayerPlan, memory: Array) -> NDArray[np.bool_]:
    """Which units (units,) show nothing of their ``memory`` (memories, units) any more.

    The slopes d hidden / d memory follow from the cell's equations, with all slots at 0; a unit
    with several memories is stuck where none of them is seen.
    """
    eq = layer.equations
    known = {leaf: np.zeros(layer.units) for leaf in eq.leaves.values()}
    for name, values in zip(eq.memory, memory, strict=True):
        known[eq.memory[name]] = known[eq.leaves[f"past.{name}"]] = values.astype(np.float64)
    slopes = evaluate(eq.show.values(), known)
    largest = np.zeros(layer.units)
    for slope in slopes:
        largest = np.maximum(largest, np.abs(slope))
    return largest < LEAST_SLOPE if slopes else np.zeros(layer.units, bool)
