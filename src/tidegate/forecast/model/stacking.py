"""The last word: a mixture of experts, and a regression on how they differ."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tidegate.forecast.compiled import compiled, inner, product
from tidegate.forecast.model.mixing import (
    Mixture,
    MixtureState,
    learn_mixture,
    mixed,
    mixture_in,
    mixture_size,
)
from tidegate.forecast.model.ridge import Ridge, RidgeState, learn_ridge, ridge_in, ridge_size
from tidegate.forecast.parts import Flat, Floats

__all__ = ["Stack", "StackState", "learn_stack", "stack_in", "stack_size", "stacked"]

KEEP, RIDGE, WIDTH = 0.9998, 10.0, 1.0


class StackState(NamedTuple):
    """A mixture, what corrects it, and the mixture of the two."""

    mixture: MixtureState
    correction: RidgeState
    last: MixtureState


def stack_size(experts: int) -> int:
    """Numbers in the memory of a stack."""
    return mixture_size(experts) + ridge_size(experts - 1) + mixture_size(2)


@compiled
def stack_in(memory: Floats, start: int, experts: int) -> StackState:
    """The state that lies in ``memory`` from ``start`` on."""
    correction = start + 3 * experts
    last = correction + (experts - 1) * (experts + 2) + 3
    return StackState(
        mixture_in(memory, start, experts),
        ridge_in(memory, correction, experts - 1),
        mixture_in(memory, last, 2),
    )


@inner
def _two(state: StackState, forecasts: Floats) -> tuple[Floats, Floats]:
    """Mixture and corrected mixture; how experts differ from the former."""
    said = mixed(state.mixture, forecasts)
    apart, two = np.empty(len(forecasts) - 1), np.empty(2)
    for k in range(len(apart)):
        apart[k] = forecasts[k] - said
    two[0], two[1] = said, said + product(state.correction.weights, apart)
    return two, apart


@compiled
def stacked(state: StackState, forecasts: Floats) -> float:
    """The forecast from those of the experts (expert)."""
    return mixed(state.last, _two(state, forecasts)[0])


@compiled
def learn_stack(state: StackState, forecasts: Floats, y: float) -> None:
    """The value that came, on a scale on which errors are about 1."""
    two, apart = _two(state, forecasts)
    learn_mixture(state.last, two, y)
    learn_ridge(state.correction, apart, y - two[0], 1.0, KEEP, RIDGE, WIDTH)
    learn_mixture(state.mixture, forecasts, y)


class Stack(Flat):
    """Mixes experts by their regret, corrects the mixture linearly, and mixes the two.

    The correction may take weights below 0 or above 1, which a mixture cannot; where it does not
    help, the second mixture passes it over.

    Source: Breiman, "Stacked Regressions" (1996), with ridge instead of positive weights.

    Args:
        experts: how many, the plainest last.

    >>> stack = Stack(experts=2)
    >>> for y in (1.0, 2.0, 3.0):
    ...     stack.learn(np.array([y, 0.0]), y)
    >>> round(stack.predict(np.array([4.0, 0.0])), 6)
    4.0
    """

    def __init__(self, experts: int, memory: Floats | None = None) -> None:
        super().__init__(stack_size(experts), memory)
        first, second = mixture_size(experts), mixture_size(experts) + ridge_size(experts - 1)
        Mixture(experts, self.memory[:first])
        Ridge(experts - 1, KEEP, RIDGE, WIDTH, self.memory[first:second])
        Mixture(2, self.memory[second:])
        self._state = stack_in(self.memory, 0, experts)

    @property
    def weights(self) -> Floats:
        """What each expert weighs in the mixture."""
        return self._state.mixture.weights

    def predict(self, forecasts: Floats) -> float:
        """The forecast from those of the experts (expert)."""
        return float(stacked(self._state, forecasts))

    def learn(self, forecasts: Floats, y: float) -> None:
        """The value that came, on a scale on which errors are about 1."""
        learn_stack(self._state, forecasts, float(y))
