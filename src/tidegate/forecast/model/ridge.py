"""The linear expert: exponentially weighted ridge regression, solved exactly at every step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tidegate.forecast.compiled import compiled, four_products, inner, product
from tidegate.forecast.model.scale import VALUE, take_size
from tidegate.forecast.parts import Flat, Floats

__all__ = [
    "Ridge",
    "RidgeState",
    "learn_ridge",
    "loosen_ridge",
    "predict_ridge",
    "ridge_in",
    "ridge_size",
]

SCALE_WINDOW = 500


class RidgeState(NamedTuple):
    """The normal equations of a regression, factored: U' D U = sum of x x', U z = moments.

    Attributes:
        upper: (input, input + 1): U above its diagonal of ones, and z in the last column.
        diagonal: (input) of D.
        weights: (input).
        scale: of errors.
        turn: (1,) the input whose pull comes next.
    """

    upper: Floats
    diagonal: Floats
    weights: Floats
    scale: Floats
    turn: Floats


def ridge_size(inputs: int) -> int:
    """Numbers in the memory of a ridge."""
    return inputs * (inputs + 3) + 3


@compiled
def ridge_in(memory: Floats, start: int, inputs: int) -> RidgeState:
    """The state that lies in ``memory`` from ``start`` on."""
    diagonal = start + inputs * (inputs + 1)
    weights, scale = diagonal + inputs, diagonal + 2 * inputs
    return RidgeState(
        memory[start:diagonal].reshape((inputs, inputs + 1)),
        memory[diagonal:weights],
        memory[weights:scale],
        memory[scale : scale + 2],
        memory[scale + 2 : scale + 3],
    )


@compiled
def predict_ridge(state: RidgeState, x: Floats) -> float:
    """The forecast for x (input)."""
    return product(state.weights, x)


@compiled
def learn_ridge(
    state: RidgeState, x: Floats, y: float, usual: float, keep: float, ridge: float, width: float
) -> None:
    """One step of a regression, whose error is expected to be of the size ``usual``."""
    inputs = len(x)
    error = abs(y - product(state.weights, x)) / usual
    bound = width * state.scale[VALUE]
    weight = (bound / error if error > bound > 0 else 1.0) / usual
    take_size(state.scale, error, SCALE_WINDOW)
    row = np.empty(inputs + 1)
    for i in range(inputs):
        row[i] = x[i]
        state.diagonal[i] *= keep
    row[inputs] = y
    _add(state, row, 0, weight)
    if keep < 1:
        _pull(state, row, ridge * (1 - keep**inputs))
    _solve(state)


@inner
def _pull(state: RidgeState, row: Floats, lost: float) -> None:
    """Give one input what its pull towards 0 has lost since it had its turn."""
    turn = int(state.turn[0])
    row[:] = 0.0
    row[turn] = 1.0
    _add(state, row, turn, lost)
    state.turn[0] = (turn + 1) % len(state.diagonal)


@inner
def _add(state: RidgeState, row: Floats, first: int, weight: float) -> None:
    """Add weight row row' to the factored equations; what stands before ``first`` is 0."""
    upper, diagonal = state.upper, state.diagonal
    inputs = len(diagonal)
    for k in range(first, inputs):
        head = row[k]
        if head == 0:
            continue
        new = diagonal[k] + weight * head * head
        share = weight * head / new
        weight *= diagonal[k] / new
        diagonal[k] = new
        _eliminate(row[k + 1 :], upper[k, k + 1 :], head, share)


@inner
def _eliminate(row: Floats, upper: Floats, head: float, share: float) -> None:
    """What is left of a row without its head; its share of a row of the equations."""
    for j in range(len(row)):  # from 0 on, as that makes vectors of it
        row[j] -= head * upper[j]
        upper[j] += share * row[j]


@inner
def _solve(state: RidgeState) -> None:
    """Find the weights from the last to the first, four at a time: one must wait for another."""
    upper, weights = state.upper, state.weights
    inputs = len(weights)
    end = inputs
    while end >= 4:
        i, j, k, m = end - 4, end - 3, end - 2, end - 1
        a, b, c, d = upper[i], upper[j], upper[k], upper[m]
        by_a, by_b, by_c, by_d = four_products(a[end:], b[end:], c[end:], d[end:], weights[end:])
        weights[m] = d[inputs] - by_d
        weights[k] = c[inputs] - by_c - c[m] * weights[m]
        weights[j] = b[inputs] - by_b - b[k] * weights[k] - b[m] * weights[m]
        weights[i] = a[inputs] - by_a - a[j] * weights[j] - a[k] * weights[k] - a[m] * weights[m]
        end -= 4
    for i in range(end - 1, -1, -1):
        weights[i] = upper[i, inputs] - product(weights[i + 1 :], upper[i, i + 1 :])


@compiled
def loosen_ridge(state: RidgeState, share: float) -> None:
    """Let only ``share`` of what was learned count from here on."""
    for i in range(len(state.diagonal)):
        state.diagonal[i] *= share


class Ridge(Flat):
    """Weights that minimise the squared errors so far, old ones and outliers counting less.

    Sum over t of keep^(now - t) huber_t (y_t - w x_t)^2 / usual_t + ridge |w|^2, where huber_t
    shrinks errors beyond ``width`` mean absolute errors to that size (iteratively reweighted,
    once). What is kept is a square-root-free Cholesky factor of the normal equations, to which
    every step adds its row; so it stays positive, nothing can diverge, and weights of inputs that
    do not vary stay near 0. The pull is forgotten with all else and given back to one input after
    the other, so it lies between keep^inputs and 1 times ``ridge``.

    Args:
        inputs: size of x.
        keep: what is left of a step's weight one step later.
        ridge: pull of the weights towards 0.
        width: 1 is near a mean, 0.1 near a median.

    Source: Gill, Golub, Murray & Saunders, "Methods for Modifying Matrix Factorizations" (1974),
    method C1; Haykin, "Adaptive Filter Theory" (exponential weights); Huber, "Robust Estimation of
    a Location Parameter" (1964).

    >>> rng, expert = np.random.default_rng(0), Ridge(inputs=2, keep=0.999, ridge=0.1)
    >>> for x in rng.normal(size=(200, 2)):
    ...     expert.learn(x, float(3 * x[0] - x[1]))
    >>> expert.weights.round(1)
    array([ 3., -1.])
    """

    def __init__(
        self,
        inputs: int,
        keep: float,
        ridge: float,
        width: float = 1.0,
        memory: Floats | None = None,
    ) -> None:
        super().__init__(ridge_size(inputs), memory)
        self._keep, self._ridge, self._width = keep, ridge, width
        self._state = ridge_in(self.memory, 0, inputs)
        self._state.diagonal[:] = ridge

    @property
    def weights(self) -> Floats:
        """Float64 (input)."""
        return self._state.weights

    def predict(self, x: Floats) -> float:
        """The forecast for x (inputs,)."""
        return float(predict_ridge(self._state, x))

    def learn(self, x: Floats, y: float, usual: float = 1.0) -> None:
        """Take in one step, whose errors are expected to be of the size ``usual``."""
        learn_ridge(self._state, x, y, usual, self._keep, self._ridge, self._width)

    def loosen(self, share: float) -> None:
        """Let only ``share`` of what was learned count from here on."""
        loosen_ridge(self._state, share)
