"""Mixing experts without a learning rate."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tidegate.forecast.compiled import compiled, product
from tidegate.forecast.parts import Flat, Floats

__all__ = [
    "Mixture",
    "MixtureState",
    "learn_late_mixture",
    "learn_mixture",
    "mixed",
    "mixture_in",
    "mixture_size",
]


class MixtureState(NamedTuple):
    """What a mixture knows of its experts.

    Attributes:
        regret: (expert) how much better each would have been so far.
        variation: (expert) the sum of its squares.
        weights: (expert), which sum to 1.
    """

    regret: Floats
    variation: Floats
    weights: Floats


def mixture_size(experts: int) -> int:
    """Numbers in the memory of a mixture."""
    return 3 * experts


@compiled
def mixture_in(memory: Floats, start: int, experts: int) -> MixtureState:
    """The state that lies in ``memory`` from ``start`` on."""
    variation, weights = start + experts, start + 2 * experts
    return MixtureState(
        memory[start:variation], memory[variation:weights], memory[weights : weights + experts]
    )


@compiled
def mixed(state: MixtureState, forecasts: Floats) -> float:
    """The mixed forecast of ``forecasts`` (expert)."""
    return product(state.weights, forecasts)


@compiled
def learn_mixture(state: MixtureState, forecasts: Floats, y: float) -> None:
    """The value that came, on a scale on which errors are about 1."""
    learn_late_mixture(state, forecasts, mixed(state, forecasts), y, 1.0)


@compiled
def learn_late_mixture(
    state: MixtureState, forecasts: Floats, said: float, y: float, keep: float
) -> None:
    """The value that came, of a time when the mixture had ``said`` what it would no longer say.

    ``keep`` is what is left of a step's regret one step later.
    """
    side, total = np.sign(said - y), 0.0
    for k in range(len(forecasts)):
        better = side * (said - forecasts[k])
        state.regret[k] = keep * state.regret[k] + better
        state.variation[k] = keep * state.variation[k] + better * better
        total += max(state.regret[k], 0.0) / (1.0 + state.variation[k])
    if total > 0:
        for k in range(len(forecasts)):
            state.weights[k] = max(state.regret[k], 0.0) / (1.0 + state.variation[k]) / total


class Mixture(Flat):
    """Weights in proportion to how much each expert would have been better than the mixture.

    ML-Poly for the absolute error, with gradients in the place of errors: its regret to the best
    fixed mixture of the experts grows as the square root of the steps, without a rate to choose.

    Args:
        experts: how many.

    Source: Gaillard, Stoltz & van Erven, "A Second-order Bound with Excess Losses" (2014), ML-Poly.

    >>> mixture = Mixture(experts=2)
    >>> for y in (1.0, 2.0, 3.0):
    ...     mixture.learn(np.array([y, 0.0]), y)
    >>> mixture.weights
    array([1., 0.])
    """

    def __init__(self, experts: int, memory: Floats | None = None) -> None:
        super().__init__(mixture_size(experts), memory)
        self._state = mixture_in(self.memory, 0, experts)
        self._state.weights[:] = 1 / experts

    @property
    def weights(self) -> Floats:
        """Float64 (expert)."""
        return self._state.weights

    def predict(self, forecasts: Floats) -> float:
        """The mixed forecast of ``forecasts`` (expert)."""
        return float(mixed(self._state, forecasts))

    def learn(self, forecasts: Floats, y: float) -> None:
        """The value that came, on a scale on which errors are about 1."""
        learn_mixture(self._state, forecasts, float(y))
