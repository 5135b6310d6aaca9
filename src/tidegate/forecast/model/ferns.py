"""Ferns: a sum of small tables that corrects what linear and gated experts cannot bend to."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from tidegate.forecast.compiled import Integers, compiled, inner
from tidegate.forecast.model.scale import VALUE, take_size
from tidegate.forecast.parts import Flat, Floats

__all__ = ["FernState", "Ferns", "predict_ferns", "ferns_in", "ferns_size", "learn_ferns"]

RATE, WIDTH = 0.15, 0.1
SETTLED = 50.0  #: visits after which a leaf's rate has fallen by the square root of 2
FIRST, PLANTED = 200, 4  #: steps before thresholds are taken, and how many a step
WINDOW = 500.0  #: of the errors that are corrected


class FernState(NamedTuple):
    """What ferns know.

    Attributes:
        thresholds: (fern, test).
        leaves: (fern, leaf) corrections, in usual errors.
        visits: (fern, leaf).
        scale: of the errors that are corrected.
        counts: (2,) steps, and thresholds that are set.
    """

    thresholds: Floats
    leaves: Floats
    visits: Floats
    scale: Floats
    counts: Floats


def ferns_size(ferns: int, tests: int) -> int:
    """Numbers in the memory of so many ferns."""
    return ferns * (tests + 2 * 2**tests) + 4 if ferns else 0


@compiled
def ferns_in(memory: Floats, start: int, ferns: int, tests: int) -> FernState:
    """The state that lies in ``memory`` from ``start`` on."""
    shape = (ferns, 2**tests)
    leaves = start + ferns * tests
    visits = leaves + ferns * 2**tests
    scale = visits + ferns * 2**tests
    return FernState(
        memory[start:leaves].reshape((ferns, tests)),
        memory[leaves:visits].reshape(shape),
        memory[visits:scale].reshape(shape),
        memory[scale : scale + 2],
        memory[scale + 2 : scale + 4],
    )


@inner
def _leaf(state: FernState, chosen: Integers, n: int, x: Floats) -> int:
    """The leaf of fern n in which x lies."""
    leaf = 0
    for j in range(chosen.shape[1]):
        leaf = 2 * leaf + int(x[chosen[n, j]] > state.thresholds[n, j])
    return int(leaf)


@inner
def _grown(state: FernState) -> int:
    """How many ferns have all their thresholds."""
    return int(state.counts[1] // state.thresholds.shape[1])


@compiled
def predict_ferns(state: FernState, chosen: Integers, x: Floats) -> float:
    """What is to be added to a forecast beside which x (feature) is seen."""
    total = 0.0
    for n in range(_grown(state)):
        total += state.leaves[n, _leaf(state, chosen, n, x)]
    return float(total * state.scale[VALUE])


@compiled
def learn_ferns(state: FernState, chosen: Integers, x: Floats, error: float) -> None:
    """The error that was to be corrected: one step down the gradient of its absolute value."""
    grown, usual, total = _grown(state), state.scale[VALUE], 0.0
    leaves = np.empty(grown, np.int64)
    for n in range(grown):
        leaves[n] = _leaf(state, chosen, n, x)
        total += state.leaves[n, leaves[n]]
    left = error - total * usual
    pull = min(max(left / (WIDTH * usual), -1.0), 1.0) if usual > 0 else 0.0
    step = RATE * sqrt(SETTLED) / len(chosen) * pull
    for n in range(grown):
        state.visits[n, leaves[n]] += 1
        state.leaves[n, leaves[n]] += step / sqrt(SETTLED + state.visits[n, leaves[n]])
    take_size(state.scale, error, WINDOW)
    state.counts[0] += 1
    if state.counts[0] > FIRST:
        _plant(state, chosen, x)


@inner
def _plant(state: FernState, chosen: Integers, x: Floats) -> None:
    """Take the next thresholds from x: where values lie often, tests divide them often."""
    ferns, tests = state.thresholds.shape
    first = int(state.counts[1])
    last = min(first + PLANTED, ferns * tests)
    for k in range(first, last):
        state.thresholds[k // tests, k % tests] = x[chosen[k // tests, k % tests]]
    state.counts[1] = last


class Ferns(Flat):
    """A sum of tables, each indexed by a few comparisons of features with thresholds.

    A fern asks the same questions of every step: is this feature above that threshold? Its answers,
    read as a binary number, name one of its leaves. The forecast is the sum of one leaf of every
    fern; all of them learn together, down the gradient of the absolute error (rounded where it is
    small), each leaf at a rate that falls with the root of its visits. Which features are asked for
    is drawn once; thresholds are values that these features had in the stream's early steps.

    Args:
        chosen: (fern, test) which feature is compared.

    Source: Ozuysal et al., "Fast Keypoint Recognition Using Random Ferns" (2010), for the form;
    Albus, "A New Approach to Manipulator Control: The CMAC" (1975), for tables that learn by
    gradient.

    >>> import numpy as np
    >>> rng, ferns = np.random.default_rng(0), Ferns(np.zeros((50, 3), np.int64))
    >>> for x in rng.uniform(size=(4000, 1)):
    ...     ferns.learn(x, error=abs(x[0] - 0.5))
    >>> [round(ferns.predict(np.array([x])), 1) for x in (0.1, 0.5, 0.9)]
    [0.4, 0.0, 0.4]
    """

    def __init__(self, chosen: Integers, memory: Floats | None = None) -> None:
        super().__init__(ferns_size(*chosen.shape), memory)
        self._chosen = chosen
        self._state = ferns_in(self.memory, 0, *chosen.shape)

    def predict(self, x: Floats) -> float:
        """What is to be added to a forecast beside which x (feature,) is seen."""
        return float(predict_ferns(self._state, self._chosen, x))

    def learn(self, x: Floats, error: float) -> None:
        """The error of that forecast: what came less what it said."""
        learn_ferns(self._state, self._chosen, x, float(error))
