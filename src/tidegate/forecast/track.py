"""One stream of a run: its clock, what predicts it, and the simple forecasts beside that."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import tzinfo

import numpy as np
from numpy.typing import NDArray

from tidegate.forecast.models import Model
from tidegate.forecast.parts import Arrays, Kept, state_of, states_of
from tidegate.forecast.scoring.leads import Paths
from tidegate.forecast.simple import Ago, Persistence, Simple
from tidegate.forecast.timing.clock import Clock

__all__ = ["Track"]

DEFAULT_WARMUP = 200  #: steps not scored where no period is known
WARMUP_PERIODS = 2  #: of the longest period, where one is known
LONGEST_WARMUP = 2_000


class Track:
    """What is known of one stream.

    Args:
        make: what makes its model.
        horizon: rows ahead that the model forecasts.
        warmup: first rows that are not scored; by default two of the longest period the clock
            makes known, but not above 2,000, and 200 where none is known.
        zone: in which times without one are meant.

    Attributes:
        steps: rows that came.

    >>> from tidegate.forecast import BareNetwork
    >>> track = Track(lambda: BareNetwork(1, "lstm", 4, seed=0))
    >>> for time in ("2021-01-01", "2021-01-02"):
    ...     event = track.date(time)
    >>> track.warmup, list(track.simple)
    (14, ['persistence', 'week ago'])
    """

    def __init__(
        self,
        make: Callable[[], Model],
        horizon: int = 1,
        warmup: int | None = None,
        zone: tzinfo | None = None,
    ) -> None:
        self.model = make()
        self._zone = zone
        self.clock = Clock(zone)
        self.paths = Paths(horizon)
        self.simple: dict[str, Simple] = {"persistence": Persistence()}
        self.steps = 0
        self.warmup = DEFAULT_WARMUP if warmup is None else warmup
        self._asked_warmup = warmup

    @property
    def warming(self) -> bool:
        """Whether the newest row is one of those that are not scored."""
        return self.steps <= self.warmup

    @property
    def last(self) -> float:
        """The last value that came; NaN before there was one."""
        return self.simple["persistence"].forecast()

    def date(self, time: str | None) -> str | None:
        """Take the time of the row that comes; what :meth:`Clock.observe` says of it.

        Raises:
            DataError: it cannot be read.
        """
        event = self.clock.observe(time)
        if event == "step":
            self._know()
        for simple in self.simple.values() if event == "gap" else ():
            simple.skip(self.clock.missed)
        return event

    def begin_clock(self) -> None:
        """Rows of another time come from here on."""
        self.clock = Clock(self._zone)
        self.paths.drop()

    def simple_forecasts(self) -> dict[str, float]:
        """Of the coming value."""
        return {name: simple.forecast() for name, simple in self.simple.items()}

    def observe(self, value: float) -> None:
        """The value that came, NaN where it is missing, for all but the model."""
        self.steps += 1
        for simple in self.simple.values():
            simple.observe(value)

    def next_time(self, seconds: float | None) -> str | None:
        """When the next row is due: at these ``seconds``, or a step after the last one."""
        return self.clock.next_time() if seconds is None else self.clock.next_at(seconds)

    def state(self) -> Arrays:
        parts: dict[str, Kept] = {"clock": self.clock, "model": self.model, "paths": self.paths}
        parts |= {f"simple.{name}": simple for name, simple in self.simple.items()}
        return states_of(parts) | {"steps": np.array(self.steps)}

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        self.steps = int(state["steps"])
        self.clock.restore(state_of(state, "clock"))
        if self.clock.step is not None:
            self._know()
        for name, simple in self.simple.items():
            simple.restore(state_of(state, f"simple.{name}"))
        self.paths.restore(state_of(state, "paths"))
        self.model.restore(state_of(state, "model"))

    def _know(self) -> None:
        periods = self.clock.periods()
        self.model.know(periods)
        self.simple |= {name: Ago(period) for name, period in periods.items()}
        if self._asked_warmup is None and periods:
            self.warmup = min(WARMUP_PERIODS * max(periods.values()), LONGEST_WARMUP)
