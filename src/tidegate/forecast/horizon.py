"""Several steps ahead: iterated, direct and seasonal forecasts mixed for every lead."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

import numpy as np

from tidegate.forecast.compiled import Integers, compiled, inner
from tidegate.forecast.lead import (
    CANDIDATES,
    ITERATED,
    LAST,
    SAID,
    SIZE,
    SLOT,
    USUAL,
    WIDTHS,
    Lead,
    ask_lead,
    lead_in,
    lead_size,
    learn_lead,
)
from tidegate.forecast.model.asking import choose, iterate
from tidegate.forecast.model.core import Core
from tidegate.forecast.model.feature_state import FARTHEST, within
from tidegate.forecast.model.feature_values import features_at
from tidegate.forecast.model.features import Place
from tidegate.forecast.model.layout import Layout
from tidegate.forecast.model.mind import Plan, past
from tidegate.forecast.parts import Flat, Floats

__all__ = ["Horizons", "iterated"]

ERROR_WINDOW = 500.0
VALUE, CHANGE = 0, 1  #: of an origin: the last value, and the usual change


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
    return _iterated(core, places, _where(places))[:, 0]


def _where(places: Sequence[Place]) -> Integers:
    return np.array([place.numbers for place in places])


def _iterated(core: Core, places: Sequence[Place], where: Integers) -> Floats:
    """The path (step, 3), and the usual and the last value of every place beside it."""
    path = np.full((len(places), 3), core.features.last)
    if core.ready:
        path[0, 0] = core.predict(places[0])
        iterate(core.memory, core.plan, core.at, where, path)
    return path


class Waiting(NamedTuple):
    """What was asked at some rows, and waits for the values.

    Attributes:
        origin: (row, 2) the last value, and the usual change.
        near: (row, input) features of the first step.
        far: (row, step, input) features of every step.
        candidates: (row, step, candidate) what is said of it.
        issued: (row, step, 5 + level) forecasts, sizes of errors, and widths.
    """

    origin: Floats
    near: Floats
    far: Floats
    candidates: Floats
    issued: Floats


class Seen(NamedTuple):
    """Which features enter.

    Attributes:
        all: how many there are.
        near: those of the first step.
        far: those of every step.
    """

    all: int
    near: Integers
    far: Integers


def _seen(layout: Layout) -> Seen:
    return Seen(layout.size, layout.origin.astype(np.int64), layout.ahead.astype(np.int64))


@compiled
def _see(
    memory: Floats, plan: Plan, at: Integers, places: Integers, seen: Seen, asked: Waiting, row: int
) -> None:
    """The features, of the last row as it stands, for every step of a path."""
    now, x = past(memory, plan, at), np.empty(seen.all)
    for k in range(len(places)):
        features_at(now, places[k], x)
        if k == 0:
            choose(x, seen.near, asked.near[row])
        choose(x, seen.far, asked.far[row, k])


@compiled
def _propose(path: Floats, asked: Waiting, row: int) -> None:
    """The candidates, from a path (step, 3) in the units of the target."""
    last, usual = asked.origin[row, VALUE], asked.origin[row, CHANGE]
    over = 1 / usual if usual > 0 else 0.0
    candidates = asked.candidates[row]
    for k in range(len(path)):
        candidates[k, ITERATED] = within((path[k, 0] - last) * over, FARTHEST)
        candidates[k, USUAL] = within((path[k, 1] - last) * over, FARTHEST)
        candidates[k, SLOT] = within((path[k, 2] - last) * over, FARTHEST)
        candidates[k, LAST] = 0.0


@inner
def _inputs(asked: Waiting, row: int, k: int, x: Floats) -> None:
    """What the regression of lead number k sees: both features, and the iterated forecast."""
    near, far = asked.near.shape[1], asked.far.shape[2]
    x[:near] = asked.near[row]
    x[near : near + far] = asked.far[row, k]
    x[near + far] = asked.candidates[row, k, ITERATED]


@compiled
def _ask_leads(leads: Floats, levels: int, asked: Waiting, row: int) -> None:
    """Every lead (lead, number) says what it issues."""
    x = np.empty(asked.near.shape[1] + asked.far.shape[2] + 1)
    for k in range(len(leads)):
        _inputs(asked, row, k, x)
        lead = lead_in(leads[k], 0, len(x), levels)
        ask_lead(lead, x, asked.candidates[row, k], asked.issued[row, k])


@compiled
def _learn_leads(
    leads: Floats, levels: int, asked: Waiting, errors: Floats, count: int, value: float
) -> None:
    """The value that came, for every lead (lead, number) that waits for it."""
    x, steps = np.empty(asked.near.shape[1] + asked.far.shape[2] + 1), len(leads)
    for k in range(min(count, steps)):
        row = (count - 1 - k) % steps
        last, usual = asked.origin[row, VALUE], asked.origin[row, CHANGE]
        if usual > 0:
            _inputs(asked, row, k, x)
            change = within((value - last) / usual, FARTHEST)
            lead = lead_in(leads[k], 0, len(x), levels)
            error = learn_lead(lead, x, asked.candidates[row, k], asked.issued[row, k], change)
            errors[k] += (error * usual - errors[k]) / ERROR_WINDOW


class Horizons(Flat):
    """The leads 1 to ``steps``, scored and corrected as the values come.

    What was asked at the last ``steps`` rows waits in a ring for its value.

    Args:
        steps: the furthest ahead, at least 1.
        layout: of the features of a step.
        levels: coverages of the intervals.

    Attributes:
        errors: (step) the running mean absolute error of every lead.

    >>> core = Core((), 0, 0, seed=0)
    >>> horizons = Horizons(2, core.features.layout, (0.9,))
    >>> horizons.learn(1.0, core, [Place(), Place()])
    >>> horizons.count
    1
    """

    def __init__(self, steps: int, layout: Layout, levels: Sequence[float]) -> None:
        self.steps, self._levels = steps, len(levels)
        self._seen = _seen(layout)
        inputs = len(layout.origin) + len(layout.ahead) + 1
        lead, waiting = lead_size(inputs, len(levels)), self._shapes(steps)
        sizes = [steps * lead, steps, *(int(np.prod(shape)) for shape in waiting)]
        super().__init__(sum(sizes) + 1)
        leads, self.errors, *asked, self._count = np.split(self.memory, np.cumsum(sizes))
        self._leads: Floats = leads.reshape(steps, lead)
        for memory in self._leads:
            Lead(inputs, levels, memory)
        self._waiting = Waiting(
            *(part.reshape(shape) for part, shape in zip(asked, waiting, strict=True))
        )

    @property
    def count(self) -> int:
        """Rows so far."""
        return int(self._count[0])

    def path(self, core: Core, places: Sequence[Place]) -> list[tuple[float, list[float]]]:
        """For every coming step the forecast and the half-widths of its intervals."""
        asked = Waiting(*map(np.zeros, self._shapes(1)))
        self._ask(core, places, asked, 0)
        last, usual = asked.origin[0].tolist()
        return [
            (last + usual * said[SAID], [usual * said[SIZE] * width for width in said[WIDTHS:]])
            for said in asked.issued[0].tolist()
        ]

    def learn(self, value: float, core: Core, ahead: Sequence[Place]) -> None:
        """The value that came, NaN where missing; the core after it, and what comes next."""
        count, waiting = self.count, self._waiting
        if isfinite(value):
            _learn_leads(self._leads, self._levels, waiting, self.errors, count, float(value))
        self._ask(core, ahead, waiting, count % self.steps)
        self._count[0] += 1

    def _ask(self, core: Core, places: Sequence[Place], asked: Waiting, row: int) -> None:
        """What is said of the coming steps, written down in a row; changes nothing else."""
        features, where = core.features, _where(places)
        asked.origin[row] = features.last, features.scale.value
        _propose(_iterated(core, places, where), asked, row)
        _see(core.memory, core.plan, core.at, where, self._seen, asked, row)
        _ask_leads(self._leads, self._levels, asked, row)

    def _shapes(self, rows: int) -> list[tuple[int, ...]]:
        """Of the parts of what is asked at so many rows."""
        near, far, steps = len(self._seen.near), len(self._seen.far), self.steps
        return [
            (rows, 2),
            (rows, near),
            (rows, steps, far),
            (rows, steps, CANDIDATES),
            (rows, steps, WIDTHS + self._levels),
        ]
