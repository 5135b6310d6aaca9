"""The model behind a forecaster: experts on the features of a step, mixed without a rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidegate.forecast.model.asking import conclude, prepare
from tidegate.forecast.model.calendar import CalendarMemory
from tidegate.forecast.model.experts import expert_names, gated_experts, linear_experts, plan_of
from tidegate.forecast.model.features import Features, Place
from tidegate.forecast.model.gated import GatedExperts
from tidegate.forecast.model.mind import (
    BLEND,
    BLIP,
    DAYS,
    DOUBTS,
    FEATURES,
    LAST_TWO,
    LOADS,
    OWN_SIZES,
    RIDGE,
    RIDGES,
    SIZES,
    STACK,
    SURPRISES,
    WIDTH,
    around_size,
    asked_in,
    asked_size,
    count_chosen,
    mind_sizes,
    packed,
)
from tidegate.forecast.model.mixing import Mixture, mixture_size
from tidegate.forecast.model.observing import observe
from tidegate.forecast.model.ridge import Ridge
from tidegate.forecast.model.stacking import Stack
from tidegate.forecast.parts import Floats, Part

__all__ = ["Asked", "Core"]


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
        units: of every gated expert; 0 leaves out these and all else that takes much memory: the
            linear experts that learn for sections of a period, and the ferns.
        seed: of all that is drawn at the start.

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
        light = units == 0
        self.plan = plan_of(periods, inputs, light, seed)
        linear, gated = linear_experts(periods, light), gated_experts(light)
        self._names = expert_names(light, periods)
        self._asked, self.around = asked_size(self.plan), around_size(self.plan)
        sizes = mind_sizes(self.plan, periods)
        self.at = np.cumsum([0, *sizes], dtype=np.int64)
        self.shape = packed(self.plan, self.at)
        self.memory: Floats = np.zeros(int(self.at[-1]))
        self._looked: tuple[Place, Floats] | None = None
        at = self.at.tolist()
        parts = [self.memory[start:stop] for start, stop in zip(at, at[1:], strict=False)]
        self.features = Features(periods, inputs, parts[FEATURES])
        self.ridges = [
            Ridge(count_chosen(sees), 1 - 1 / expert.window, RIDGE, WIDTH, memory)
            for sees, expert, sections in zip(
                self.plan.linear, linear, self._sections(parts[RIDGES]), strict=True
            )
            for memory in sections
        ]
        Mixture(len(linear), parts[BLEND])
        self.stack = Stack(len(linear) + len(gated) + 1, parts[STACK])
        Mixture(2, parts[LAST_TWO])
        Mixture(2, parts[BLIP][: mixture_size(2)])
        CalendarMemory(parts[DAYS])
        parts[SIZES][:] = parts[OWN_SIZES][:] = 1.0
        parts[SURPRISES][:] = parts[LOADS][:] = np.nan
        seen = [count_chosen(chosen) for chosen in self.plan.gated]
        self.gated = GatedExperts([expert.recipe for expert in gated], seen, units, seed)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the experts, in the order of the stack's weights."""
        return self._names

    @property
    def possible_names(self) -> tuple[str, ...]:
        """Of the experts that it could have on other periods as well."""
        return expert_names(not len(self.gated))

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
        if self._looked is not None and self._looked[0] == place:
            return self._looked[1]
        # Zeros, as without gated experts their own numbers are not filled in.
        numbers = np.zeros(self._asked)
        prepare(self.memory, self.shape, place.numbers, numbers, self.gated.xs)
        self.gated.predict()
        self._looked = place, numbers
        return numbers

    def forget_looked(self) -> None:
        """Look anew: something was learned, or changed."""
        self._looked = None

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
        self.forget_looked()

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

    def _sections(self, ridges: Floats) -> list[Floats]:
        """(section, number) of every linear expert."""
        parts = np.split(ridges, self.plan.ridges[1:-1])
        sections = self.plan.sections.tolist()
        return [part.reshape(n, -1) for n, part in zip(sections, parts, strict=True)]

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        memory = self.memory
        super().restore(state)
        memory[...] = self.memory
        self.memory = memory
        self.forget_looked()
