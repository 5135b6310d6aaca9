"""Several steps ahead: iterated, direct and seasonal forecasts mixed for every lead."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, nan
from typing import NamedTuple

import numpy as np

from tidegate.forecast.compiled import compiled, inner
from tidegate.forecast.judging.intervals import (
    Conformal,
    ScoreState,
    learn_late_score,
    quantile_of,
    scores_in,
    scores_size,
)
from tidegate.forecast.model.asking import iterate
from tidegate.forecast.model.core import Core
from tidegate.forecast.model.feature_state import FARTHEST, within
from tidegate.forecast.model.features import Place
from tidegate.forecast.model.mixing import (
    Mixture,
    MixtureState,
    learn_mixture,
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
from tidegate.forecast.model.scale import VALUE, RunningScale, take_size
from tidegate.forecast.parts import Flat, Floats

__all__ = ["Horizons", "Lead", "iterated"]

KEEP, RIDGE, WIDTH = 0.999, 1.0, 1.0
SCALE_WINDOW = 500.0
CANDIDATES = 5  #: iterated, direct, the usual and the last of the slot, the last value
LAST, USUAL = 0, 1  #: of an origin


class LeadState(NamedTuple):
    """What is known of one number of steps ahead: see :class:`Lead`."""

    direct: RidgeState
    mixture: MixtureState
    scale: Floats
    scores: ScoreState


def _lead_sizes(inputs: int, levels: int) -> list[int]:
    return [ridge_size(inputs), mixture_size(CANDIDATES), 2, scores_size(levels)]


@compiled
def _lead_in(memory: Floats, start: int, inputs: int, levels: int) -> LeadState:
    mixture = start + inputs * (inputs + 3) + 3
    scale = mixture + 3 * CANDIDATES
    return LeadState(
        ridge_in(memory, start, inputs),
        mixture_in(memory, mixture, CANDIDATES),
        memory[scale : scale + 2],
        scores_in(memory, scale + 2, levels),
    )


@inner
def _all(lead: LeadState, x: Floats, candidates: Floats) -> Floats:
    """What all candidates say, the direct regression second."""
    said = np.empty(CANDIDATES)
    said[0], said[1] = candidates[0], predict_ridge(lead.direct, x)
    said[2:] = candidates[1:]
    return said


@compiled
def _said(lead: LeadState, x: Floats, candidates: Floats) -> float:
    return mixed(lead.mixture, _all(lead, x, candidates))


@compiled
def _learn_lead(
    lead: LeadState, x: Floats, candidates: Floats, issued: Floats, change: float
) -> float:
    """The change that came, and what was issued when it was asked for; the size of the error."""
    said, scale = _all(lead, x, candidates), issued[0]
    error = abs(change - mixed(lead.mixture, said))
    if scale > 0:
        learn_late_score(lead.scores, error / scale, issued[1:])
    take_size(lead.scale, error, SCALE_WINDOW)
    learn_mixture(lead.mixture, said, change, KEEP)
    learn_ridge(lead.direct, x, change, 1.0, KEEP, RIDGE, WIDTH)
    return error


@compiled
def _issue(lead: LeadState, issued: Floats) -> None:
    """The scale of errors, and after it the half-width (level) of every interval in scales."""
    issued[0] = lead.scale[VALUE]
    for k in range(len(lead.scores.levels)):
        issued[1 + k] = quantile_of(lead.scores, 1 - lead.scores.misses[k])


class Lead(Flat):
    """The forecast for one number of steps ahead.

    Args:
        inputs: features that the direct regression sees.
        levels: coverages of its intervals.

    >>> lead = Lead(inputs=1, levels=(0.9,))
    >>> lead.learn(np.ones(1), np.zeros(4), change=1.0)
    >>> lead.predict(np.ones(1), np.zeros(4)) > 0
    True
    """

    def __init__(self, inputs: int, levels: Sequence[float], memory: Floats | None = None) -> None:
        sizes = _lead_sizes(inputs, len(levels))
        super().__init__(sum(sizes), memory)
        at = np.cumsum(sizes).tolist()
        Ridge(inputs, KEEP, RIDGE, WIDTH, self.memory[: at[0]])
        Mixture(CANDIDATES, self.memory[at[0] : at[1]])
        self.scale = RunningScale(SCALE_WINDOW, self.memory[at[1] : at[2]])
        self.conformal = Conformal(levels, self.memory[at[2] :])
        self._state = _lead_in(self.memory, 0, inputs, len(levels))

    def predict(self, x: Floats, candidates: Floats) -> float:
        """The change from the last value on, given those that others expect (4)."""
        return float(_said(self._state, x, candidates))

    def learn(self, x: Floats, candidates: Floats, change: float) -> None:
        """The change that came, and what stood there when it was asked for."""
        issued = np.empty(1 + len(self.conformal.levels))
        _issue(self._state, issued)
        _learn_lead(self._state, x, candidates, issued, float(change))

    def widths(self) -> list[float]:
        """Half-widths of the intervals; infinite while little is known."""
        return [width * self.scale.value for width in self.conformal.widths()]


def iterated(core: Core, places: Sequence[Place]) -> Floats:
    """The path (step) on which every forecast is taken for what came; the core stays as it is.

    The first step is that of all experts; further ones of the linear experts, whose mixture does
    not die down where the stream does not.

    >>> core = Core(periods=(2,), inputs=0, units=0, seed=0)
    >>> for step in range(100):
    ...     core.observe(Place((step,)), float(step % 2))
    >>> iterated(core, [Place((step,)) for step in range(100, 104)]).round(1) + 0.0
    array([0., 1., 0., 1.])
    """
    return _iterated(core, places)[:, 0]


def _iterated(core: Core, places: Sequence[Place]) -> Floats:
    """The path (step, 3), and the usual and the last value of every place beside it."""
    path = np.full((len(places), 3), core.features.last)
    if core.ready:
        path[0, 0] = core.predict(places[0])
        where = np.array([place.numbers for place in places])
        iterate(core.memory, core.plan, core.at, where, path)
    return path


class Waiting(NamedTuple):
    """What was asked at the last rows and waits in a ring for its value.

    Attributes:
        x: (row, input) features of the direct regressions.
        candidates: (row, step, 4) what others said.
        origin: (row, 2) the last value, and the usual change.
        issued: (row, step, 1 + level) the scale of errors, and the half-widths in scales.
    """

    x: Floats
    candidates: Floats
    origin: Floats
    issued: Floats


@compiled
def _learn_leads(
    leads: Floats, waiting: Waiting, errors: Floats, count: int, levels: int, value: float
) -> None:
    """The value that came, for every lead (lead, number) that waits for it."""
    steps, inputs = waiting.x.shape
    for k in range(min(count, steps)):
        row = (count - 1 - k) % steps
        last, usual = waiting.origin[row, LAST], waiting.origin[row, USUAL]
        if usual > 0:
            change = within((value - last) / usual, FARTHEST)
            lead = _lead_in(leads[k], 0, inputs, levels)
            candidates, issued = waiting.candidates[row, k], waiting.issued[row, k]
            error = _learn_lead(lead, waiting.x[row], candidates, issued, change)
            errors[k] += (error * usual - errors[k]) / SCALE_WINDOW


@compiled
def _issue_all(leads: Floats, inputs: int, levels: int, issued: Floats) -> None:
    """For every lead (lead, number) what it issues now (lead, 1 + level)."""
    for k in range(len(leads)):
        _issue(_lead_in(leads[k], 0, inputs, levels), issued[k])


class Horizons(Flat):
    """The leads 1 to ``steps``, scored and corrected as the values come.

    What was asked at the last ``steps`` rows waits in a ring for its value.

    Args:
        steps: the furthest ahead, at least 1.
        inputs: features of a direct regression.
        levels: coverages of the intervals.

    Attributes:
        errors: (step) the running mean absolute error of every lead.

    >>> core, horizons = Core((), 0, 0, seed=0), Horizons(2, 10, (0.9,))
    >>> horizons.learn(1.0, core, [Place(), Place()])
    >>> horizons.count
    1
    """

    def __init__(self, steps: int, inputs: int, levels: Sequence[float]) -> None:
        lead = sum(_lead_sizes(inputs, len(levels)))
        square = steps * steps
        waiting = [steps * inputs, square * (CANDIDATES - 1), 2 * steps, square * (1 + len(levels))]
        sizes = [steps * lead, *waiting, steps]
        super().__init__(sum(sizes) + 1)
        self.steps, self._levels = steps, len(levels)
        leads, x, candidates, origin, issued, self.errors, self._count = np.split(
            self.memory, np.cumsum(sizes)
        )
        self._leads: Floats = leads.reshape(steps, lead)
        self.leads = [Lead(inputs, levels, memory) for memory in self._leads]
        self._waiting = Waiting(
            x.reshape(steps, inputs),
            candidates.reshape(steps, steps, CANDIDATES - 1),
            origin.reshape(steps, 2),
            issued.reshape(steps, steps, 1 + len(levels)),
        )
        self._waiting.origin[:] = nan

    @property
    def count(self) -> int:
        """Rows so far."""
        return int(self._count[0])

    def ask(self, core: Core, places: Sequence[Place]) -> tuple[Floats, Floats, Floats]:
        """Features, candidates (step, 4) and origin (2) of the coming steps; changes nothing."""
        last, usual = core.features.last, core.features.scale.value
        over = 1 / usual if usual > 0 else 0.0
        said = np.zeros((len(places), CANDIDATES - 1))
        said[:, :3] = (_iterated(core, places) - last) * over
        x = core.features.at(places[0])[core.features.layout.small]
        return x, np.minimum(np.maximum(said, -FARTHEST), FARTHEST), np.array([last, usual])

    def path(self, core: Core, places: Sequence[Place]) -> list[tuple[float, list[float]]]:
        """For every coming step the forecast and the half-widths of its intervals."""
        x, candidates, (last, usual) = self.ask(core, places)
        return [
            (last + usual * lead.predict(x, said), [usual * width for width in lead.widths()])
            for lead, said in zip(self.leads, candidates, strict=True)
        ]

    def learn(self, value: float, core: Core, ahead: Sequence[Place]) -> None:
        """The value that came, NaN where missing; the core after it, and what comes next."""
        if isfinite(value):
            _learn_leads(
                self._leads, self._waiting, self.errors, self.count, self._levels, float(value)
            )
        row, waiting = self.count % self.steps, self._waiting
        waiting.x[row], waiting.candidates[row], waiting.origin[row] = self.ask(core, ahead)
        _issue_all(self._leads, waiting.x.shape[1], self._levels, waiting.issued[row])
        self._count[0] += 1
