"""The model behind a forecaster: experts on the features of a step, mixed without a rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidegate.forecast.model.asking import conclude, prepare
from tidegate.forecast.model.calendar import CalendarMemory
from tidegate.forecast.model.feature_state import starts_of
from tidegate.forecast.model.features import Features, Place
from tidegate.forecast.model.gated import GatedExperts, Recipe
from tidegate.forecast.model.layout import Layout
from tidegate.forecast.model.mind import (
    BLEND,
    DAYS,
    DOUBTS,
    FEATURES,
    KEEPS,
    LAST,
    LINEAR,
    LOADS,
    MIXED,
    OWN,
    OWN_SIZES,
    RIDGE,
    RIDGES,
    SIZES,
    STACK,
    SURPRISES,
    Plan,
    around_size,
    asked_in,
    asked_size,
    count_chosen,
    mind_sizes,
    packed,
)
from tidegate.forecast.model.mixing import Mixture
from tidegate.forecast.model.observing import observe
from tidegate.forecast.model.ridge import Ridge
from tidegate.forecast.model.stacking import Stack
from tidegate.forecast.parts import Floats, Part

__all__ = ["Asked", "Core", "EXPERTS"]

# name and features of the linear experts
LINEAR_EXPERTS = (
    ("near", "small"),
    ("wide", "full"),
    ("fast", "full"),
    ("lags", "recent"),
    ("median", "full"),
)
# name, features, whether numbers of their own as well, what they correct, and how they learn
GATED_EXPERTS = (
    ("gated", "gated", True, MIXED, Recipe(0.003, 1.0, 0.0)),
    ("gated median", "gated", True, MIXED, Recipe(0.003, 0.2, 0.0)),
    ("gated slow", "gated", True, MIXED, Recipe(0.001, 1.0, 0.0)),
    ("gated alone", "gated", True, LAST, Recipe(0.001, 1.0, 0.0)),
    ("lean", "lean", False, LAST, Recipe(0.003, 1.0, 1.0)),
    ("smooth", "smooth", False, LAST, Recipe(0.002, 1.0, 1.0)),
    ("smooth long", "smooth", False, LAST, Recipe(0.001, 0.5, 3.0)),
    ("smooth wide", "smooth", False, LAST, Recipe(0.002, 2.0, 2.0)),
    ("changes", "lags_only", False, LAST, Recipe(0.001, 1.0, 0.0)),
)
EXPERTS = (
    *(name for name, _ in LINEAR_EXPERTS),
    *(name for name, *_ in GATED_EXPERTS),
    "persistence",
)
LINEAR_ALONE = (*EXPERTS[:LINEAR], EXPERTS[-1])


@dataclass(frozen=True)
class Asked:
    """A coming step as the experts see it, and what they say; changes in usual changes.

    Attributes:
        place: where it stands.
        numbers: what they see and say, as the machine code has it.
        mixed: the forecast.
    """

    place: Place
    numbers: Floats
    mixed: float


class Core(Part):
    """Predicts the next value of a target on a grid of steps, and learns from it.

    Args:
        periods: lengths in slots, the shortest first.
        inputs: further columns.
        units: of every gated expert; 0 leaves them out.
        seed: of their start weights.

    Attributes:
        memory: all that it knows, but for the gated experts.
        plan: what follows from the arguments.
        at: where the parts of the memory start.
        shape: plan and starts as machine code is handed them.
        around: how many features follow the doubts about a forecast.

    >>> core = Core(periods=(), inputs=0, units=8, seed=0)
    >>> for value in (1.0, 2.0, 1.0, 2.0) * 50:
    ...     core.observe(Place(), value)
    >>> round(core.predict(Place()))
    1
    """

    learned = ("memory", "gated")

    def __init__(self, periods: Sequence[int], inputs: int, units: int, seed: int) -> None:
        self.plan = _plan(periods, inputs, units)
        self._asked, self.around = asked_size(self.plan), around_size(self.plan)
        sizes = mind_sizes(self.plan, periods)
        self.at = np.cumsum([0, *sizes], dtype=np.int64)
        self.shape = packed(self.plan, self.at)
        self.memory: Floats = np.zeros(int(self.at[-1]))
        at = self.at.tolist()
        parts = [self.memory[start:stop] for start, stop in zip(at, at[1:], strict=False)]
        self.features = Features(periods, inputs, parts[FEATURES])
        self.ridges = [
            Ridge(count_chosen(chosen), keep, RIDGE, memory=part)
            for keep, chosen, part in zip(KEEPS, self.plan.linear, parts[RIDGES:BLEND], strict=True)
        ]
        Mixture(LINEAR, parts[BLEND])
        self.stack = Stack(LINEAR + len(self.plan.gated) + 1, parts[STACK])
        CalendarMemory(parts[DAYS])
        parts[SIZES][:] = parts[OWN_SIZES][:] = 1.0
        parts[SURPRISES][:] = parts[LOADS][:] = np.nan
        experts = GATED_EXPERTS if units else ()
        seen = [count_chosen(chosen) for chosen in self.plan.gated]
        self.gated = GatedExperts([recipe for *_, recipe in experts], seen, units, seed)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the experts, in the order of the stack's weights."""
        return EXPERTS if len(self.gated) else LINEAR_ALONE

    @property
    def periods(self) -> tuple[int, ...]:
        """Lengths of the periods, in slots."""
        return self.features.periods

    @property
    def weights(self) -> Floats:
        """What the linear experts and the mixtures learned: a stretch of the memory.

        It is relative to the stream's own last value and usual change.
        """
        return self.memory[self.at[RIDGES] : self.at[SIZES]]

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

    def ask(self, place: Place) -> Asked:
        """What the experts say of the coming step."""
        numbers = self.look(place)
        mixed = conclude(self.memory, self.shape, place.numbers, numbers, self.gated.said)
        return Asked(place, numbers, mixed)

    def look(self, place: Place) -> Floats:
        """What every expert says of the coming step, before it is concluded what all say."""
        numbers = np.empty(self._asked)
        prepare(self.memory, self.shape, place.numbers, numbers, self.gated.xs)
        self.gated.predict()
        return numbers

    def observe(self, place: Place, value: float, asked: Asked | None = None) -> None:
        """The value that came at ``place``, NaN where it is missing.

        Args:
            place: where the step stands.
            value: of the target.
            asked: what :meth:`ask` said of it, if that is at hand.
        """
        ready, gated = self.ready, self.gated
        if asked is None:
            asked = self.ask(place)
        observe(
            self.memory, self.shape, place.numbers, asked.numbers, float(value),
            gated.xs, gated.targets,
        )  # fmt: skip
        if ready:
            gated.learn()

    def doubts(self, asked: Asked) -> Floats:
        """What the size of the coming error may depend on, in usual changes.

        The usual error of the slot, the size of the forecast change, how far the linear experts
        and all experts differ, and the last error, each at least 0; then ``around`` features.
        """
        return asked.numbers[-DOUBTS - self.around :]

    def shown(self, numbers: Floats) -> list[Floats]:
        """What each gated expert sees of a step (input), of what experts see and say of it."""
        rows = asked_in(numbers, self.plan).inputs
        return [row[: count_chosen(seen)] for row, seen in zip(rows, self.plan.gated, strict=True)]

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        memory = self.memory
        super().restore(state)
        memory[...] = self.memory
        self.memory = memory


def _plan(periods: Sequence[int], inputs: int, units: int) -> Plan:
    layout, own = Layout(len(periods), inputs), OWN + 2 * len(periods)
    linear = [getattr(layout, which).tolist() for _, which in LINEAR_EXPERTS]
    extra = list(range(layout.size, layout.size + own))
    experts = GATED_EXPERTS if units else ()
    gated = [getattr(layout, which).tolist() + extra * sees for _, which, sees, *_ in experts]
    return Plan(
        starts_of(periods),
        _table(linear),
        _table(gated),
        np.array([corrects for *_, corrects, _ in experts], np.int64),
        np.array([layout.size, inputs, own, periods[-1] if periods else 0], np.int64),
    )


def _table(rows: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """Rows of one length: -1 stands after the last number."""
    table = np.full((len(rows), max(map(len, rows), default=0)), -1, np.int64)
    for row, chosen in zip(table, rows, strict=True):
        row[: len(chosen)] = chosen
    return table
