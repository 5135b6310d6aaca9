"""Learners of any shapes that take every step together, each on inputs of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tidegate.kernels.engine import Engine, reference

__all__ = ["Together", "together"]


class Together:
    """Steps learners one after the other; each has one output and one target.

    After :meth:`settle`, and before the next call, others may do with the learners what they like.

    Args:
        engines: of the learners.
        inputs: of each.

    Attributes:
        xs: (learner, largest number of inputs) what they see next, filled in by the caller.
        targets: (learner,) what they should have said; NaN where that is not known.
        predictions: (learner,) what they said last.
    """

    def __init__(self, engines: Sequence[Engine], inputs: Sequence[int]) -> None:
        self._engines, self._inputs = engines, inputs
        self.xs = np.zeros((len(engines), max(inputs, default=0)))
        self.targets = np.zeros(len(engines))
        self.predictions: NDArray[np.float32] = np.zeros(len(engines), np.float32)

    def predict(self) -> None:
        """Fill in ``predictions`` for ``xs``; the learners stay as they are."""
        for k, (engine, inputs) in enumerate(zip(self._engines, self._inputs, strict=True)):
            self.predictions[k] = engine.predict(self.xs[k, :inputs])[0]

    def learn(self) -> None:
        """One step of all learners: ``xs``, then ``targets``."""
        for k, (engine, inputs) in enumerate(zip(self._engines, self._inputs, strict=True)):
            engine.learn(self.xs[k, :inputs], self.targets[k : k + 1])

    def settle(self) -> None:
        """Bring the learners' own counts up to date."""


def together(engines: Sequence[Engine], inputs: Sequence[int]) -> Together:
    """The learners of ``engines``, which see so many ``inputs``, on what they are made of."""
    if reference() or not engines:
        return Together(engines, inputs)
    # Imported here so that the reference needs no compiler.
    from tidegate.kernels.online.together import CompiledTogether

    return CompiledTogether(engines, inputs)
