"""Several steps ahead: iterated, direct and seasonal forecasts mixed for every lead."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, nan

import numpy as np

from tidegate.forecast.core import Core
from tidegate.forecast.features import FARTHEST, Features, Place
from tidegate.forecast.intervals import Conformal
from tidegate.forecast.mixing import Mixture
from tidegate.forecast.parts import Floats, Part
from tidegate.forecast.ridge import Ridge
from tidegate.forecast.scale import RunningScale
from tidegate.forecast.slots import AVERAGE

__all__ = ["Horizons", "Lead", "iterated"]

KEEP, RIDGE = 0.999, 1.0
SCALE_WINDOW = 500
CANDIDATES = 4  #: iterated, direct, the usual of the slot, the last value


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
    if not core.ready:
        return np.full(len(places), core.features.last)
    ahead = Features(core.periods, core.features.layout.inputs)
    ahead.restore(core.features.state())
    path = np.empty(len(places))
    for k, place in enumerate(places):
        value = (
            core.predict(place)
            if k == 0
            else ahead.last + core.linear(ahead.at(place)) * (ahead.scale.value)
        )
        path[k] = value
        ahead.pass_over(place, float(value))
    return path


class Lead(Part):
    """The forecast for one number of steps ahead.

    Args:
        inputs: features that the direct regression sees.
        levels: coverages of its intervals.

    >>> lead = Lead(inputs=1, levels=(0.9,))
    >>> lead.learn(np.ones(1), np.zeros(3), change=1.0)
    >>> lead.predict(np.ones(1), np.zeros(3)) > 0
    True
    """

    learned = ("direct", "mixture", "scale", "conformal")

    def __init__(self, inputs: int, levels: Sequence[float]) -> None:
        self.direct = Ridge(inputs, KEEP, RIDGE)
        self.mixture = Mixture(CANDIDATES)
        self.scale = RunningScale(SCALE_WINDOW)
        self.conformal = Conformal(levels)

    def predict(self, x: Floats, candidates: Floats) -> float:
        """The change from the last value on, given those that others expect (3)."""
        return self.mixture.predict(self._all(x, candidates))

    def learn(self, x: Floats, candidates: Floats, change: float) -> None:
        """The change that came, and what stood there when it was asked for."""
        said = self._all(x, candidates)
        error = abs(change - self.mixture.predict(said))
        if self.scale.value > 0:
            self.conformal.learn(error / self.scale.value)
        self.scale.update(error)
        self.mixture.learn(said, change)
        self.direct.learn(x, change)

    def widths(self) -> list[float]:
        """Half-widths of the intervals; infinite while little is known."""
        return [width * self.scale.value for width in self.conformal.widths()]

    def _all(self, x: Floats, candidates: Floats) -> Floats:
        return np.concatenate((candidates[:1], [self.direct.predict(x)], candidates[1:]))


class Horizons(Part):
    """The leads 1 to ``steps``, scored and corrected as the values come.

    What was asked at the last ``steps`` rows waits in a ring for its value.

    Args:
        steps: the furthest ahead, at least 1.
        inputs: features of a direct regression.
        levels: coverages of the intervals.

    >>> core, horizons = Core((), 0, 0, seed=0), Horizons(2, 10, (0.9,))
    >>> horizons.learn(1.0, core, [Place(), Place()])
    >>> horizons.count
    1
    """

    learned = ("leads", "x", "candidates", "origin", "count", "errors")

    def __init__(self, steps: int, inputs: int, levels: Sequence[float]) -> None:
        self.steps = steps
        self.leads = [Lead(inputs, levels) for _ in range(steps)]
        self.x: Floats = np.zeros((steps, inputs))
        self.candidates: Floats = np.zeros((steps, steps, CANDIDATES - 1))
        self.origin: Floats = np.full((steps, 2), nan)  # the last value, and the usual change
        self.errors: Floats = np.zeros(steps)
        self.count = 0

    def ask(self, core: Core, places: Sequence[Place]) -> tuple[Floats, Floats, Floats]:
        """Features, candidates (step, 3) and origin (2) of the coming steps; changes nothing."""
        last, usual = core.features.last, core.features.scale.value
        path = iterated(core, places)
        seasonal = [_usual(core, place, last) for place in places]
        over = 1 / usual if usual > 0 else 0.0
        said = np.stack((path - last, np.array(seasonal) - last, np.zeros(len(places))), axis=1)
        x = core.features.at(places[0])[core.features.layout.small]
        within = np.minimum(np.maximum(said * over, -FARTHEST), FARTHEST)
        return x, within, np.array([last, usual])

    def path(self, core: Core, places: Sequence[Place]) -> list[tuple[float, list[float]]]:
        """For every coming step the forecast and the half-widths of its intervals."""
        x, candidates, (last, usual) = self.ask(core, places)
        return [
            (last + usual * lead.predict(x, said), [usual * width for width in lead.widths()])
            for lead, said in zip(self.leads, candidates, strict=True)
        ]

    def learn(self, value: float, core: Core, ahead: Sequence[Place]) -> None:
        """The value that came, NaN where missing; the core after it, and what comes next."""
        for k in range(min(self.count, self.steps)):
            place = (self.count - 1 - k) % self.steps
            last, usual = self.origin[place]
            if isfinite(value) and usual > 0:
                change = min(max((value - last) / usual, -FARTHEST), FARTHEST)
                said = self.candidates[place, k]
                error = abs(change - self.leads[k].predict(self.x[place], said)) * usual
                self.errors[k] += (error - self.errors[k]) / SCALE_WINDOW
                self.leads[k].learn(self.x[place], said, change)
        place = self.count % self.steps
        self.x[place], self.candidates[place], self.origin[place] = self.ask(core, ahead)
        self.count += 1


def _usual(core: Core, place: Place, last: float) -> float:
    slots = core.features.slots
    if not slots:
        return core.features.level
    found = slots[-1].table[place.slots[-1] % slots[-1].period, AVERAGE]
    return float(found) if isfinite(found) else last
