"""One stream of categories of a run: its clock, what predicts it, and how long that remembers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo

import numpy as np
from numpy.typing import NDArray

from tidegate.forecast.categories import CategoryForecaster
from tidegate.forecast.half_lives import EVERY, HalfLives
from tidegate.forecast.parts import Arrays, Kept, restore_all, states_of
from tidegate.forecast.timing.clock import Clock

__all__ = ["CategoryTrack"]


class CategoryTrack:
    """What is known of one stream.

    Args:
        limit, units, seed: of its :class:`CategoryForecaster`.
        zone: in which times without one are meant.

    Attributes:
        steps: rows that came.
        forecaster: that predicts.
        clock: of the rows.

    >>> track = CategoryTrack(limit=8, units=4)
    >>> for day in ("sun", "rain") * 60:
    ...     bits = track.learn(day)
    >>> track.forecaster.predict().likely, track.steps
    ('sun', 120)
    """

    def __init__(self, limit: int, units: int, seed: int = 0, zone: tzinfo | None = None) -> None:
        self.forecaster = CategoryForecaster(limit=limit, units=units, seed=seed)
        self._half_lives = HalfLives(self.forecaster.networks())
        self._zone = zone
        self.clock = Clock(zone)
        self.steps = 0

    @property
    def half_lives(self) -> Mapping[str, float | None]:
        """Of the networks by name, in rows."""
        return self._half_lives.words()

    def date(self, time: str | None) -> str | None:
        """Take the time of the row that comes; what :meth:`Clock.observe` says of it.

        Raises:
            DataError: it cannot be read.
        """
        return self.clock.observe(time)

    def begin_clock(self) -> None:
        """Rows of another time come from here on."""
        self.clock = Clock(self._zone)

    def learn(self, category: str | None) -> float | None:
        """The category that came, None where it is missing; its log loss in bits."""
        if self.steps and self.steps % EVERY == 0:
            networks = self.forecaster.networks()
            self._half_lives.look([self.forecaster.input] * len(networks))
        self.steps += 1
        return self.forecaster.learn(category)

    def state(self) -> Arrays:
        return states_of(self._parts()) | {"steps": np.array(self.steps)}

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        self.steps = int(state["steps"])
        restore_all(self._parts(), state)

    def _parts(self) -> dict[str, Kept]:
        return {
            "clock": self.clock, "forecaster": self.forecaster, "half_lives": self._half_lives,
        }  # fmt: skip
