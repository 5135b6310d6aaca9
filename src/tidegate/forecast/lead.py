"""The forecast for one number of steps ahead: what others say of it, corrected and mixed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tidegate.forecast.compiled import compiled, inner, product
from tidegate.forecast.judging.error_scale import root_of
from tidegate.forecast.judging.intervals import (
    Conformal,
    ScoreState,
    learn_late_score,
    quantile_of,
    scores_in,
    scores_size,
)
from tidegate.forecast.model.feature_state import FARTHEST, within
from tidegate.forecast.model.mixing import (
    Mixture,
    MixtureState,
    learn_late_mixture,
    mixed,
    mixture_in,
    mixture_size,
)
from tidegate.forecast.model.ridge import (
    Ridge,
    RidgeState,
    learn_ridge,
    predict_ridge,
    ridge_in,
    ridge_size,
)
from tidegate.forecast.model.scale import COUNT, VALUE, take_size
from tidegate.forecast.parts import Flat, Floats

__all__ = [
    "CANDIDATES",
    "DIRECT",
    "ITERATED",
    "LAST",
    "SAID",
    "SCALE",
    "SIZE",
    "SLOT",
    "USUAL",
    "WIDTHS",
    "Lead",
    "ask_lead",
    "lead_in",
    "lead_size",
    "learn_lead",
]

KEEP, RIDGE, WIDTH = 0.999, 1.0, 1.0
SIZE_KEEP, SIZE_RIDGE, SIZE_WIDTH = 0.9995, 10.0, 1e9
WINDOWS = (10.0, 100.0, 500.0)  #: of the running mean absolute errors
LEAST = 1e-3  #: usual changes that mean errors are at least taken for
SURE = 100  #: errors after which the regression of their sizes is fully believed
LEAST_ROOT, LARGEST_ROOT = 0.2, 7.0
DOUBTS = 7
ITERATED, DIRECT, USUAL, SLOT, LAST, CANDIDATES = range(6)
SAID, SIZE, FAST, SCALE, SLOW, WIDTHS = range(6)  #: of what is issued


class LeadState(NamedTuple):
    """What is known of one number of steps ahead: see :class:`Lead`.

    Attributes:
        direct: the regression on features.
        mixture: of the candidates.
        means: (window, 2) running mean absolute errors.
        sizes: the regression of the sizes of errors.
        scores: errors in sizes.
    """

    direct: RidgeState
    mixture: MixtureState
    means: Floats
    sizes: RidgeState
    scores: ScoreState


def _lead_sizes(inputs: int, levels: int) -> list[int]:
    return [
        ridge_size(inputs),
        mixture_size(CANDIDATES),
        2 * len(WINDOWS),
        ridge_size(DOUBTS),
        scores_size(levels),
    ]


def lead_size(inputs: int, levels: int) -> int:
    """Numbers in the memory of a lead."""
    return sum(_lead_sizes(inputs, levels))


@compiled
def lead_in(memory: Floats, start: int, inputs: int, levels: int) -> LeadState:
    """The state that lies in ``memory`` from ``start`` on."""
    mixture = start + inputs * (inputs + 3) + 3
    means = mixture + 3 * CANDIDATES
    sizes = means + 2 * len(WINDOWS)
    scores = sizes + DOUBTS * (DOUBTS + 3) + 3
    return LeadState(
        ridge_in(memory, start, inputs),
        mixture_in(memory, mixture, CANDIDATES),
        memory[means:sizes].reshape((len(WINDOWS), 2)),
        ridge_in(memory, sizes, DOUBTS),
        scores_in(memory, scores, levels),
    )


@compiled
def ask_lead(lead: LeadState, x: Floats, candidates: Floats, issued: Floats) -> None:
    """Fill in the direct candidate, and what is issued (5 + level).

    That is the forecast, the size of its error, three running mean errors, and the half-width of
    every interval in sizes.
    """
    candidates[DIRECT] = within(predict_ridge(lead.direct, x), FARTHEST)
    issued[SAID] = mixed(lead.mixture, candidates)
    known = lead.means[0, VALUE] > 0
    for k in range(len(WINDOWS)):
        issued[FAST + k] = max(lead.means[k, VALUE], LEAST) if known else 0.0
    issued[SIZE] = _expected_size(lead, candidates, issued) if known else 0.0
    for k in range(len(lead.scores.levels)):
        issued[WIDTHS + k] = quantile_of(lead.scores, 1 - lead.scores.misses[k])


@inner
def _doubts(candidates: Floats, issued: Floats) -> Floats:
    """What an error may grow with: the last ones, the change, and how candidates differ."""
    x, said, direct, slow = np.empty(DOUBTS), issued[SAID], candidates[DIRECT], issued[SLOW]
    x[0] = 1.0
    x[1] = root_of(issued[FAST], slow)
    x[2] = root_of(abs(said), slow)
    x[3] = root_of(abs(candidates[ITERATED] - said), slow)
    x[4] = root_of(abs(candidates[ITERATED] - direct), slow)
    x[5] = root_of(abs(candidates[USUAL] - direct), slow)
    x[6] = root_of(abs(candidates[SLOT] - direct), slow)
    return x


@inner
def _expected_size(lead: LeadState, candidates: Floats, issued: Floats) -> float:
    sure = min(lead.means[0, COUNT] / SURE, 1.0)
    least, largest = 1 + sure * (LEAST_ROOT - 1), 1 + sure * (LARGEST_ROOT - 1)
    root = product(lead.sizes.weights, _doubts(candidates, issued))
    return float(issued[SLOW] * min(max(root, least), largest) ** 2)


@compiled
def learn_lead(
    lead: LeadState, x: Floats, candidates: Floats, issued: Floats, change: float
) -> float:
    """The change that came, and all as it stood when it was asked for; the size of the error.

    Errors of neighbouring steps overlap, so what is said now of that time has seen a part of the
    answer: only what was issued then tells how good a forecast is.
    """
    error = abs(change - issued[SAID])
    if issued[SIZE] > 0:
        learn_late_score(lead.scores, error / issued[SIZE], issued[WIDTHS:])
        doubts, root = _doubts(candidates, issued), root_of(error, issued[SLOW])
        learn_ridge(lead.sizes, doubts, root, 1.0, SIZE_KEEP, SIZE_RIDGE, SIZE_WIDTH)
        over = 1 / issued[SCALE]
        said = over * issued[SAID]
        learn_late_mixture(lead.mixture, over * candidates, said, over * change, KEEP)
        learn_ridge(lead.direct, over * x, over * change, 1.0, KEEP, RIDGE, WIDTH)
    for k, window in enumerate(WINDOWS):
        take_size(lead.means[k], error, window)
    return float(error)


class Lead(Flat):
    """The forecast for one number of steps ahead, as a change in usual changes.

    A direct regression on features joins the candidates that others give, and they are mixed
    without a rate. All learn on a scale on which errors are about 1, so that the first rows of a
    stream, of which little is known, do not weigh more than later ones. How large an error will be
    is learned from the last ones and from how far candidates differ.

    Args:
        inputs: features that the direct regression sees.
        levels: coverages of its intervals.

    >>> lead, x, candidates = Lead(inputs=1, levels=(0.9,)), np.ones(1), np.zeros(CANDIDATES)
    >>> for _ in range(30):
    ...     error = lead.learn(x, candidates, lead.ask(x, candidates), change=1.0)
    >>> forecast, size, *means, width = lead.ask(x, candidates)
    >>> round(forecast), error < 0.1
    (1, True)
    """

    def __init__(self, inputs: int, levels: Sequence[float], memory: Floats | None = None) -> None:
        sizes = _lead_sizes(inputs, len(levels))
        super().__init__(sum(sizes), memory)
        at = np.cumsum(sizes).tolist()
        Ridge(inputs, KEEP, RIDGE, WIDTH, self.memory[: at[0]])
        Mixture(CANDIDATES, self.memory[at[0] : at[1]])
        Ridge(DOUBTS, SIZE_KEEP, SIZE_RIDGE, SIZE_WIDTH, self.memory[at[2] : at[3]])
        Conformal(levels, self.memory[at[3] :])
        self._state = lead_in(self.memory, 0, inputs, len(levels))

    def ask(self, x: Floats, candidates: Floats) -> Floats:
        """Float64 (5 + level): what is issued; the direct candidate is filled in."""
        issued = np.empty(WIDTHS + len(self._state.scores.levels))
        ask_lead(self._state, x, candidates, issued)
        return issued

    def learn(self, x: Floats, candidates: Floats, issued: Floats, change: float) -> float:
        """The change that came, and all as it stood when asked for; the size of the error."""
        return float(learn_lead(self._state, x, candidates, issued, float(change)))
