"""The model behind a forecaster: experts on the features of a step, mixed without a rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan

import numpy as np

from tidegate.forecast.calendar import CalendarMemory
from tidegate.forecast.features import FARTHEST, Features, Place
from tidegate.forecast.gated import GatedExpert
from tidegate.forecast.layout import Indices, Layout
from tidegate.forecast.mixing import Mixture
from tidegate.forecast.parts import Floats, Part
from tidegate.forecast.ridge import Ridge
from tidegate.forecast.scale import RunningScale
from tidegate.forecast.slots import SlotMemory
from tidegate.forecast.stacking import Stack

__all__ = ["Asked", "Core", "EXPERTS"]

CAP = 5.0  #: usual sizes at which inputs of gated experts are cut
USUAL = 1.25  #: mean absolute value of a standard normal number, about, the other way round
SCALE_RATE, KNOWN = 0.002, 300
LEAST_SCALE = 1e-3
OWN = 7  #: inputs of a gated expert beside features: two errors, three forecasts, two of a day
RIDGE = 1.0

# keep, which features, width
LINEAR = (
    ("near", 0.999, "small", 1.0),
    ("wide", 0.9995, "full", 1.0),
    ("fast", 0.998, "full", 1.0),
    ("lags", 0.9995, "recent", 1.0),
    ("median", 0.9995, "full", 0.1),
)
# which inputs, what it corrects, rate, width, forget bias
GATED = (
    ("gated", "gated", "linear", 0.003, 1.0, 0.0),
    ("gated median", "gated", "linear", 0.003, 0.2, 0.0),
    ("gated slow", "gated", "linear", 0.001, 1.0, 0.0),
    ("gated alone", "gated", "last", 0.001, 1.0, 0.0),
    ("lean", "lean", "last", 0.003, 1.0, 1.0),
    ("smooth", "smooth", "last", 0.002, 1.0, 1.0),
    ("smooth long", "smooth", "last", 0.001, 0.5, 3.0),
    ("smooth wide", "smooth", "last", 0.002, 2.0, 2.0),
    ("changes", "lags_only", "last", 0.001, 1.0, 0.0),
)
EXPERTS = (*(name for name, *_ in LINEAR), *(name for name, *_ in GATED), "persistence")


@dataclass(frozen=True)
class Asked:
    """A coming step as the experts see it, and what they say; changes in usual changes.

    Attributes:
        place: where it stands.
        features: (feature).
        linear: forecasts of the linear experts.
        base: their mixture.
        own: raw inputs that only gated experts see.
        gated: for every gated expert its inputs and the forecast it corrects.
        forecasts: of all experts, persistence (0) last.
        mixed: the forecast.
    """

    place: Place
    features: Floats
    linear: Floats
    base: float
    own: Floats
    gated: tuple[tuple[Floats, float], ...]
    forecasts: Floats
    mixed: float


class Core(Part):
    """Predicts the next value of a target on a grid of steps, and learns from it.

    Args:
        periods: lengths in slots, the shortest first.
        inputs: further columns.
        units: of every gated expert; 0 leaves them out.
        seed: of their start weights.

    >>> core = Core(periods=(), inputs=0, units=8, seed=0)
    >>> for value in (1.0, 2.0, 1.0, 2.0) * 50:
    ...     core.observe(Place(), value)
    >>> round(core.predict(Place()))
    1
    """

    learned = (
        "features", "ridges", "blend", "gated", "stack", "sizes", "own_sizes", "errors",
        "surprises", "days", "loads", "load", "steps",
    )  # fmt: skip

    def __init__(self, periods: Sequence[int], inputs: int, units: int, seed: int) -> None:
        self.features = Features(periods, inputs)
        layout = self.features.layout
        self._linear = [_chosen(layout, which) for _, _, which, _ in LINEAR]
        self.ridges = [
            Ridge(len(chosen), keep, RIDGE, width)
            for chosen, (_, keep, _, width) in zip(self._linear, LINEAR, strict=True)
        ]
        self.blend = Mixture(len(LINEAR))
        own = OWN + 2 * len(periods)
        experts = GATED if units else ()
        self._gated = [(_chosen(layout, which), base) for _, which, base, *_ in experts]
        self.gated = [
            GatedExpert(
                len(chosen) + own * _sees_own(which), rate, width, bias, units, 10 * seed + k
            )
            for k, ((chosen, _), (_, which, _, rate, width, bias)) in enumerate(
                zip(self._gated, experts, strict=True)
            )
        ]
        self._own_seen = [_sees_own(which) for _, which, *_ in experts]
        self.stack = Stack(len(LINEAR) + len(experts) + 1)
        self.sizes: Floats = np.ones(layout.size)
        self.own_sizes: Floats = np.ones(own)
        self.errors: Floats = np.zeros(2)
        self.surprises = [SlotMemory(period) for period in periods]
        self.days = CalendarMemory()
        self.loads = [SlotMemory(period) for period in periods[-1:]]
        self.load = RunningScale(2_000)
        self.steps = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Of the experts, in the order of ``Asked.forecasts``."""
        return EXPERTS if self.gated else (*EXPERTS[: len(LINEAR)], EXPERTS[-1])

    @property
    def periods(self) -> tuple[int, ...]:
        """Lengths of the periods, in slots."""
        return self.features.periods

    @property
    def ready(self) -> bool:
        """Whether the stream has changed yet: before, the last value is all there is to say."""
        return self.features.ready

    def predict(self, place: Place) -> float:
        """The coming value at ``place``; NaN before any was seen. Changes nothing."""
        return self.value_of(self.ask(place).mixed) if self.ready else self.features.last

    def value_of(self, change: float) -> float:
        """A change in usual changes, from the last value on, in the units of the target."""
        return self.features.last + self.features.scale.value * change

    def linear(self, x: Floats) -> float:
        """The change that the linear experts expect for features x."""
        return self.blend.predict(self._said(x))

    def _said(self, x: Floats) -> Floats:
        return np.array(
            [expert.predict(x[c]) for expert, c in zip(self.ridges, self._linear, strict=True)]
        )

    def ask(self, place: Place) -> Asked:
        """What the experts say of the coming step."""
        x = self.features.at(place)
        linear = self._said(x)
        base = self.blend.predict(linear)
        said = (base, linear[0], linear[3])
        own = np.concatenate((self.errors, said, self._day(place), self._surprises(place)))
        inputs = self._inputs(x, own, base)
        gated = [e.predict(*given) for e, given in zip(self.gated, inputs, strict=True)]
        forecasts = np.concatenate((linear, gated, (0.0,)))
        mixed = self.stack.predict(forecasts)
        return Asked(place, x, linear, base, own, inputs, forecasts, mixed)

    def observe(self, place: Place, value: float, asked: Asked | None = None) -> None:
        """The value that came at ``place``, NaN where it is missing.

        Args:
            place: where the step stands.
            value: of the target.
            asked: what :meth:`ask` said of it, if that is at hand.
        """
        known, features = isfinite(value), self.features
        if self.ready:
            asked = asked or self.ask(place)
            change = (value - features.last) / features.scale.value if known else nan
            self._learn(asked, min(max(change, -FARTHEST), FARTHEST) if known else nan)
        if known:
            features.observe(place, value)
        elif asked is not None:
            features.pass_over(place, self.value_of(asked.mixed))
        self.steps += 1

    def doubts(self, asked: Asked) -> list[float]:
        """What the size of the coming error may depend on, in usual changes, each at least 0.

        The usual error of the slot, the size of the forecast change, and how far experts differ.
        """
        slot = self.loads[0].average(asked.place.slots[-1]) if self.loads else nan
        usual = slot if isfinite(slot) else self.load.value
        linear, others = asked.linear, asked.forecasts[:-1] - asked.mixed
        spread, apart = float(np.std(linear)), float(np.abs(others).mean())
        return [usual, abs(asked.mixed), spread, apart, abs(float(self.errors[0]))]

    def loosen(self, share: float) -> None:
        """Let only ``share`` of what the linear experts learned count from here on."""
        for expert in self.ridges:
            expert.loosen(share)

    def _learn(self, asked: Asked, y: float) -> None:
        for expert, (x, base) in zip(self.gated, asked.gated, strict=True):
            expert.learn(x, base, y)
        if not isfinite(y):
            self.errors = np.zeros(2)
            return
        usual = self._usual(asked.place)
        for ridge, chosen in zip(self.ridges, self._linear, strict=True):
            ridge.learn(asked.features[chosen], y, usual)
        error = y - asked.base
        self.blend.learn(asked.linear, y)
        self.stack.learn(asked.forecasts, y)
        self.errors = np.array([error, self.errors[0]])
        for memory, slot in zip(self.surprises, asked.place.slots, strict=True):
            memory.update(slot, error)
        if asked.place.days is not None and self.ridges[1].scale.value > 0:
            surprise = error / self.ridges[1].scale.value
            self.days.update(asked.place.days, min(max(surprise, -CAP), CAP))
        self.load.update(error)
        for memory in self.loads:
            memory.update(asked.place.slots[-1], abs(error))
        self._learn_sizes(asked)

    def _learn_sizes(self, asked: Asked) -> None:
        rate = SCALE_RATE if self.steps > KNOWN else 1 / (self.steps + 1)
        for sizes, seen in ((self.sizes, asked.features), (self.own_sizes, asked.own)):
            sizes += rate * (np.abs(seen) - sizes)
            np.maximum(sizes, LEAST_SCALE, out=sizes)

    def _usual(self, place: Place) -> float:
        """How large errors are at this slot, over how large they are."""
        if not self.loads or not self.load.value > 0:
            return 1.0
        slot = place.slots[-1]
        near = [self.loads[0].average(slot + k) for k in (0, -1, 1)]
        known = [load for load in near if isfinite(load)]
        if not isfinite(near[0]):
            return 1.0
        return min(max(sum(known) / len(known) / self.load.value, 0.2), 5.0)

    def _day(self, place: Place) -> Floats:
        return np.zeros(2) if place.days is None else self.days.read(place.days)

    def _surprises(self, place: Place) -> list[float]:
        found: list[float] = []
        for memory, slot in zip(self.surprises, place.slots, strict=True):
            _, _, slow, fast = memory.table[slot % memory.period].tolist()
            found += [slow, fast] if isfinite(slow) else [0.0, 0.0]
        return found

    def _inputs(self, x: Floats, own: Floats, base: float) -> tuple[tuple[Floats, float], ...]:
        if not self.gated:
            return ()
        scaled, extra = _capped(x / (USUAL * self.sizes)), _capped(own / (USUAL * self.own_sizes))
        bases = {"linear": base, "last": 0.0}
        return tuple(
            (np.concatenate((scaled[chosen], extra)) if sees else scaled[chosen], bases[corrects])
            for (chosen, corrects), sees in zip(self._gated, self._own_seen, strict=True)
        )


def _chosen(layout: Layout, which: str) -> Indices:
    chosen: Indices = getattr(layout, which)
    return chosen


def _sees_own(which: str) -> bool:
    return which == "gated"


def _capped(x: Floats) -> Floats:
    return np.minimum(np.maximum(x, -CAP), CAP)
