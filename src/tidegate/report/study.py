"""A study: one Trace, the stream it belongs to, given borders, and all that follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tidegate._core.errors import UsageError
from tidegate._core.trace import PARTS, Trace
from tidegate.memory import (
    Alarm,
    Alignment,
    Event,
    EventAverage,
    HalfLives,
    Pattern,
    alarms,
    align,
    direct_path,
    event_average,
    events_of,
    forget_score,
    half_lives,
    patterns,
)
from tidegate.report.category_stream import CategoryStream
from tidegate.report.networks import NetworkMemory
from tidegate.report.stream import Stream

__all__ = ["Study"]

Floats = NDArray[np.float64]

LEAST_FOR_PATTERNS = 100  #: steps below which no pattern of use is told
ROUND = 10  #: steps shown before and after an event
WITHIN = 2  #: steps between an event and the border it meets


@dataclass(frozen=True, eq=False)
class Study:
    """One row of a Trace with all that can be read from it.

    Args:
        title: what it is a study of.
        trace: of one layer with one row.
        stream: the same steps of the stream, where it is known.
        borders: numbers of steps at which something is known to begin; those outside the Trace
            are left out.
        units: numbers of the Trace's units; a selection keeps their numbers.
        networks: what is known of all networks of the forecaster whose run it is, the one that is
            looked at among them.
        looked_at: the name of that one.

    Attributes:
        start: number of the Trace's first step.

    Raises:
        UsageError: the Trace has several rows, or no memory with a direct path.

    >>> f = np.where(np.arange(300) % 50 == 49, 0.05, 0.95).reshape(300, 1, 1)
    >>> study = Study("demo", Trace({"c": np.log(f)}, {"c": np.ones((300, 1, 1))}))
    >>> [event.step for event in study.events][:2], study.patterns[0].kind
    ([149, 199], 'periodic')
    """

    title: str
    trace: Trace
    stream: Stream | CategoryStream | None = None
    borders: Sequence[int] = ()
    units: Sequence[int] = field(default=())
    networks: Sequence[NetworkMemory] = field(default=())
    looked_at: str = ""

    def __post_init__(self) -> None:
        if self.trace.rows != 1:
            raise UsageError(
                "Study", "a Trace of one stream", f"one of {self.trace.rows} rows", "Take one row."
            )
        stop = self.start + self.trace.steps
        inside = sorted({int(step) for step in self.borders if self.start <= step < stop})
        object.__setattr__(self, "borders", tuple(inside))
        object.__setattr__(self, "units", tuple(self.units) or tuple(range(self.trace.units)))
        self.memory  # noqa: B018  (a memory without a direct path is refused when it is made)

    @property
    def recorded(self) -> bool:
        """Whether there is a network to look at, and not a stream alone."""
        return self.trace.units > 0

    @property
    def start(self) -> int:
        return self.trace.meta.start

    @cached_property
    def memory(self) -> str:
        """Name of the memory that is read: the first with a direct path."""
        first = next(iter(self.trace.log_retention), None)
        return direct_path(self.trace, first).name

    @cached_property
    def log_kept(self) -> Floats:
        """log |R| in nats per step (steps, units)."""
        return np.asarray(self.trace.log_retention[self.memory][:, 0])

    @cached_property
    def half_lives(self) -> HalfLives:
        return half_lives(self.trace, self.memory)

    @cached_property
    def patterns(self) -> list[Pattern]:
        """The pattern of every unit; none where the Trace is too short or holds no memory."""
        enough = int((~self.trace.reset).sum()) >= LEAST_FOR_PATTERNS
        if not enough or not self.trace.memory or not self.recorded:
            return []
        return patterns(self.trace, 0, self.memory)

    @cached_property
    def score(self) -> Floats:
        """E_t, the forget score (steps,)."""
        if not self.recorded:
            return np.zeros(self.trace.steps)
        return forget_score(self.trace, self.memory)[:, 0]

    @cached_property
    def events(self) -> list[Event]:
        return events_of(self.score[:, None], self.start) if self.recorded else []

    @cached_property
    def alignment(self) -> Alignment | None:
        """Of events and borders; None where there are none of either."""
        if not self.events or not self.borders:
            return None
        return align(self._at(self.events), self._indices, self.trace.steps, within=WITHIN)

    @cached_property
    def average(self) -> EventAverage | None:
        """Mean retention of the layer round its events; None where no window is whole."""
        at = [t for t in self._at(self.events) if ROUND <= t < self.trace.steps - ROUND]
        if not at:
            return None
        return event_average(np.exp(self.log_kept).mean(axis=1), at, ROUND, ROUND)

    @cached_property
    def alarms(self) -> list[Alarm]:
        known = self.recorded and self.memory in self.trace.memory
        return alarms(self.trace, self.memory) if known else []

    def selected(self, units: Sequence[int]) -> Study:
        """The study of some units alone, in the order given.

        Raises:
            UsageError: there is no such unit.
        """
        strange = [unit for unit in units if unit not in self.units]
        if strange or not units:
            raise UsageError(
                "--units", f"numbers from {min(self.units)} to {max(self.units)}",
                ", ".join(map(str, strange)) or "none", "Units count from 0.",
            )  # fmt: skip
        places = [list(self.units).index(unit) for unit in units]
        cut = {p: {n: a[..., places] for n, a in getattr(self.trace, p).items()} for p in PARTS}
        trace = Trace(**cut, reset=self.trace.reset, meta=self.trace.meta)
        return replace(self, trace=trace, units=tuple(units))

    @property
    def _indices(self) -> list[int]:
        return [step - self.start for step in self.borders]

    def _at(self, events: Iterable[Event]) -> list[int]:
        return [event.step - self.start for event in events]
