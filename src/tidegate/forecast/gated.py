"""The gated expert: a recurrent learner on what another forecast gets wrong."""

from __future__ import annotations

from collections.abc import Mapping
from math import nan

import numpy as np
from numpy.typing import NDArray

from tidegate.cells import LSTM
from tidegate.forecast.parts import Arrays, Floats, Part
from tidegate.forecast.scale import RunningScale
from tidegate.learn import Adam, Harmonic, Huber, Learner, Network

__all__ = ["GatedExpert"]

FARTHEST = 5.0  #: usual errors of the base that a correction may reach
SCALE_WINDOW = 500


class GatedExpert(Part):
    """An LSTM whose target is the error of a base forecast, over that error's running scale.

    It starts as the base itself: its readout is 0 until it has learned something.

    Args:
        inputs: size of x, whose values should be on the scale of 1.
        rate: of Adam at the start; it falls as 1 / (1 + t / 10^4).
        width: error, in usual ones, from which the loss is absolute: small for a median.
        forget_bias: of the gates at the start.
        units: of the layer.
        seed: of the start weights.

    >>> expert = GatedExpert(inputs=1, rate=0.01, width=1.0, forget_bias=0.0, units=8, seed=0)
    >>> expert.predict(np.array([0.5]), base=2.0)
    2.0
    """

    learned = ("scale",)

    def __init__(
        self, inputs: int, rate: float, width: float, forget_bias: float, units: int, seed: int
    ) -> None:
        network = Network(inputs, 1, cell=LSTM(forget_bias), units=units)
        self.scale = RunningScale(SCALE_WINDOW)
        self.learner = Learner(
            network,
            loss=Huber(width),
            optimiser=Adam(Harmonic(rate, tau=1e4), eps=1e-3),
            seed=seed,
        )
        state = self.learner.state
        for name, view in network.plan.weights.views(state.weights).items():
            if name.startswith("readout"):
                view[...] = 0.0
        self.learner.state = state

    def predict(self, x: Floats, base: float) -> float:
        """The forecast for x (inputs,), where another one says ``base``."""
        correction = float(self.learner.predict(x)[0])
        return base + self.scale.value * min(max(correction, -FARTHEST), FARTHEST)

    def learn(self, x: Floats, base: float, y: float) -> None:
        """One step of the stream; ``y`` is NaN where it is not known."""
        usual = self.scale.value
        wanted = (y - base) / usual if usual > 0 else nan
        self.learner.learn(x, wanted)
        if y == y:
            self.scale.update(y - base)

    def state(self) -> Arrays:
        arrays = super().state()
        return arrays | {f"learner.{k}": v for k, v in vars(self.learner.state).items()}

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        super().restore(state)
        mine = self.learner.state
        for name, array in vars(mine).items():
            array[...] = state[f"learner.{name}"]
        self.learner.state = mine
