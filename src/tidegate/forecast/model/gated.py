"""The gated experts: recurrent learners on what other forecasts get wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tidegate.cells import LSTM
from tidegate.forecast.parts import Arrays, Floats, Part
from tidegate.kernels.together import together
from tidegate.learn import Adam, Harmonic, Huber, Learner, Network

__all__ = ["GatedExperts", "Recipe"]


class Recipe(NamedTuple):
    """Of one expert.

    Attributes:
        rate: of Adam at the start; it falls as 1 / (1 + t / 10^4).
        width: error, in usual ones, from which the loss is absolute: small for a median.
        forget_bias: of the gates at the start.
    """

    rate: float
    width: float
    forget_bias: float


class GatedExperts(Part):
    """LSTMs whose targets are the errors of base forecasts, over those errors' running scales.

    All say 0 until they have learned something: their readouts start at 0.

    Args:
        recipes: of the experts.
        inputs: of each, whose values should be on the scale of 1.
        units: of every layer.
        seed: of the start weights.

    Attributes:
        xs: (expert, largest number of inputs) what they see next, filled in by the caller.
        targets: (expert,) what they should have said, NaN where it is not known; likewise.
        said: (expert,) what they said last.

    >>> experts = GatedExperts([Recipe(0.01, 1.0, 0.0)], inputs=[1], units=8, seed=0)
    >>> experts.xs[0, 0] = 0.5
    >>> experts.predict()
    array([0.], dtype=float32)
    """

    def __init__(
        self, recipes: Sequence[Recipe], inputs: Sequence[int], units: int, seed: int
    ) -> None:
        self._learners = [
            _learner(recipe, size, units, 10 * seed + k)
            for k, (recipe, size) in enumerate(zip(recipes, inputs, strict=True))
        ]
        self._together = together([learner._engine for learner in self._learners], inputs)
        self.xs: Floats = self._together.xs
        self.targets: Floats = self._together.targets
        self.said = self._together.predictions

    def __len__(self) -> int:
        return len(self._learners)

    @property
    def learners(self) -> list[Learner]:
        """The networks, as they are now; to be looked at before the next step."""
        self._together.settle()
        return self._learners

    def predict(self) -> NDArray[np.float32]:
        """What they say of ``xs``."""
        self._together.predict()
        return self.said

    def learn(self) -> None:
        """One step of the stream: ``xs``, and then ``targets``."""
        self._together.learn()

    def state(self) -> Arrays:
        return {
            f"{n}.{name}": array
            for n, learner in enumerate(self.learners)
            for name, array in vars(learner.state).items()
        }

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        for n, learner in enumerate(self.learners):
            mine = learner.state
            for name, array in vars(mine).items():
                array[...] = state[f"{n}.{name}"]
            learner.state = mine


def _learner(recipe: Recipe, inputs: int, units: int, seed: int) -> Learner:
    network = Network(inputs, 1, cell=LSTM(recipe.forget_bias), units=units)
    learner = Learner(
        network,
        loss=Huber(recipe.width),
        optimiser=Adam(Harmonic(recipe.rate, tau=1e4), eps=1e-3),
        seed=seed,
    )
    state = learner.state
    for name, view in network.plan.weights.views(state.weights).items():
        if name.startswith("readout"):
            view[...] = 0.0
    learner.state = state
    return learner
