"""What a forecaster says of a coming value, and of one that came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tidegate.forecast.judging.alarms import Shift

__all__ = ["Outcome", "Prediction"]


@dataclass(frozen=True)
class Prediction:
    """Of one coming value, in the units of the target.

    Attributes:
        value: NaN before anything was seen.
        intervals: for every level the low and the high end.
        experts: what each expert weighs.
        seconds: since 1970, of the time it is for; None without times.

    >>> Prediction(5.0, {0.9: (4.0, 6.0)}).intervals[0.9]
    (4.0, 6.0)
    """

    value: float
    intervals: Mapping[float, tuple[float, float]] = field(default_factory=dict)
    experts: Mapping[str, float] = field(default_factory=dict)
    seconds: float | None = None


@dataclass(frozen=True)
class Outcome:
    """Of a row that came.

    Attributes:
        flags: ``missing``, ``late``, ``gap``, ``alarm``.
        score: how unusual the error was, 0 to 1: the share of recent ones that were smaller for
            their scale; None while nothing is known or nothing came.
        shift: of the level, at the step that settles it.

    >>> Outcome(flags=("missing",)).score is None
    True
    """

    flags: tuple[str, ...] = ()
    score: float | None = None
    shift: Shift | None = None
