"""How long the networks of a model remember, told as it goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from tidegate.forecast.parts import Floats, Part
from tidegate.gates import half_life_from_log_retention
from tidegate.kernels.looking import looking
from tidegate.learn import Learner

__all__ = ["EVERY", "HalfLives"]

EVERY = 127  #: rows from one look to the next: a prime, so that looks meet all hours of a day
LOOKS = 8  #: that are averaged
DIGITS = 3


class HalfLives(Part):
    """The half-life, in rows, of the unit in the middle of each network.

    Every 127th row the gates of every unit are looked at. Its mean log-retention over about the
    last 8 looks, a thousand rows, gives its effective half-life: forget events count.

    Args:
        learners: the networks by name, each of one layer, all of one size and cell.

    >>> from tidegate.learn import Network
    >>> learner = Learner(Network(inputs=1, outputs=1, units=3))
    >>> found = HalfLives({"lean": learner})
    >>> found.words()
    {'lean': None}
    >>> found.look([np.zeros(1)])
    >>> found.words()["lean"] > 0
    True
    """

    learned = ("looks", "kept")

    def __init__(self, learners: Mapping[str, Learner]) -> None:
        self.follow(learners)

    def follow(self, learners: Mapping[str, Learner]) -> None:
        """Begin with these networks, of which nothing is known yet."""
        self._names = tuple(learners)
        self._lookers = [looking(one._online, one._engine) for one in learners.values()]
        self._layer = next(iter(learners.values())).network.plan.layers[0]
        self.looks = 0
        self.kept: Floats = np.zeros((len(learners), self._layer.units))  # mean log-retention
        self._steps: dict[str, float | None] = {}
        self._say()

    def look(self, inputs: Sequence[Floats]) -> None:
        """See what the gates will do at the coming row; the networks are not changed.

        Args:
            inputs: of each network at that row.
        """
        eq = self._layer.equations
        seen = [look(x)[0] for look, x in zip(self._lookers, inputs, strict=True)]
        known = {
            f"{kind}.{name}": np.stack([getattr(one, rows)[k] for one in seen]).astype(np.float64)
            for kind, rows, names in (
                ("z", "slots", eq.slots),
                ("past", "past", tuple(eq.memory)),
                ("par", "parameters", eq.parameters),
            )
            for k, name in enumerate(names)
        }
        now = next(iter(eq.evaluate(eq.log_retention, known).values()))
        self.looks += 1
        self.kept = self.kept + (now - self.kept) / min(self.looks, LOOKS)
        self._say()

    def words(self) -> dict[str, float | None]:
        """By the names of the networks; None where nothing is known, or there is no half-life."""
        return self._steps

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        super().restore(state)
        self._say()

    def _say(self) -> None:
        if not self.looks:
            self._steps = dict.fromkeys(self._names)
            return
        middle = np.median(self.kept, axis=1)
        steps = half_life_from_log_retention(middle).tolist()
        self._steps = {
            name: float(f"{one:.{DIGITS}g}") if isfinite(one) else None
            for name, one in zip(self._names, steps, strict=True)
        }
