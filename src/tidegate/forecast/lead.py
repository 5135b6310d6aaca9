"""The forecast for one number of steps ahead: what others say of it, corrected and mixed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tidegate.forecast.compiled import compiled
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
from tidegate.forecast.model.scale import VALUE, take_size
from tidegate.forecast.parts import Flat, Floats

__all__ = [
    "CANDIDATES",
    "DIRECT",
    "ITERATED",
    "LAST",
    "SAID",
    "SCALE",
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
SCALE_WINDOW = 100.0
LEAST = 1e-3  #: usual changes that errors are at least taken for
ITERATED, DIRECT, USUAL, SLOT, LAST, CANDIDATES = range(6)
SAID, SCALE, WIDTHS = range(3)  #: of what is issued


class LeadState(NamedTuple):
    """What is known of one number of steps ahead: see :class:`Lead`."""

    direct: RidgeState
    mixture: MixtureState
    scale: Floats
    scores: ScoreState


def _lead_sizes(inputs: int, levels: int) -> list[int]:
    return [ridge_size(inputs), mixture_size(CANDIDATES), 2, scores_size(levels)]


def lead_size(inputs: int, levels: int) -> int:
    """Numbers in the memory of a lead."""
    return sum(_lead_sizes(inputs, levels))


@compiled
def lead_in(memory: Floats, start: int, inputs: int, levels: int) -> LeadState:
    """The state that lies in ``memory`` from ``start`` on."""
    mixture = start + inputs * (inputs + 3) + 3
    scale = mixture + 3 * CANDIDATES
    return LeadState(
        ridge_in(memory, start, inputs),
        mixture_in(memory, mixture, CANDIDATES),
        memory[scale : scale + 2],
        scores_in(memory, scale + 2, levels),
    )


@compiled
def ask_lead(lead: LeadState, x: Floats, candidates: Floats, issued: Floats) -> None:
    """Fill in the direct candidate, and what is issued (2 + level).

    That is the forecast, the scale of its error, and the half-width of every interval in scales.
    """
    candidates[DIRECT] = within(predict_ridge(lead.direct, x), FARTHEST)
    issued[SAID] = mixed(lead.mixture, candidates)
    issued[SCALE] = max(lead.scale[VALUE], LEAST) if lead.scale[VALUE] > 0 else 0.0
    for k in range(len(lead.scores.levels)):
        issued[WIDTHS + k] = quantile_of(lead.scores, 1 - lead.scores.misses[k])


@compiled
def learn_lead(
    lead: LeadState, x: Floats, candidates: Floats, issued: Floats, change: float
) -> float:
    """The change that came, and all as it stood when it was asked for; the size of the error.

    Errors of neighbouring steps overlap, so what is said now of that time has seen a part of the
    answer: only what was issued then tells how good a forecast is.
    """
    error = abs(change - issued[SAID])
    if issued[SCALE] > 0:
        over = 1 / issued[SCALE]
        learn_late_score(lead.scores, over * error, issued[WIDTHS:])
        said = over * issued[SAID]
        learn_late_mixture(lead.mixture, over * candidates, said, over * change, KEEP)
        learn_ridge(lead.direct, over * x, over * change, 1.0, KEEP, RIDGE, WIDTH)
    take_size(lead.scale, error, SCALE_WINDOW)
    return float(error)


class Lead(Flat):
    """The forecast for one number of steps ahead, as a change in usual changes.

    A direct regression on features joins the candidates that others give, and they are mixed
    without a rate. All learn on a scale on which errors are about 1, so that the first rows of a
    stream, of which little is known, do not weigh more than later ones.

    Args:
        inputs: features that the direct regression sees.
        levels: coverages of its intervals.

    >>> lead, x, candidates = Lead(inputs=1, levels=(0.9,)), np.ones(1), np.zeros(CANDIDATES)
    >>> for _ in range(30):
    ...     error = lead.learn(x, candidates, lead.ask(x, candidates), change=1.0)
    >>> forecast, scale, width = lead.ask(x, candidates)
    >>> round(forecast), error < 0.1
    (1, True)
    """

    def __init__(self, inputs: int, levels: Sequence[float], memory: Floats | None = None) -> None:
        sizes = _lead_sizes(inputs, len(levels))
        super().__init__(sum(sizes), memory)
        at = np.cumsum(sizes).tolist()
        Ridge(inputs, KEEP, RIDGE, WIDTH, self.memory[: at[0]])
        Mixture(CANDIDATES, self.memory[at[0] : at[1]])
        Conformal(levels, self.memory[at[2] :])
        self._state = lead_in(self.memory, 0, inputs, len(levels))

    def ask(self, x: Floats, candidates: Floats) -> Floats:
        """Float64 (2 + level): forecast, scale and widths; the direct candidate is filled in."""
        issued = np.empty(WIDTHS + len(self._state.scores.levels))
        ask_lead(self._state, x, candidates, issued)
        return issued

    def learn(self, x: Floats, candidates: Floats, issued: Floats, change: float) -> float:
        """The change that came, and all as it stood when asked for; the size of the error."""
        return float(learn_lead(self._state, x, candidates, issued, float(change)))
