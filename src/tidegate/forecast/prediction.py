"""What a forecaster says of a coming value, and of one that came."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from tidegate.forecast.judging.alarms import Shift
from tidegate.forecast.parts import Floats

__all__ = ["Outcome", "Prediction", "Weights"]

NONE: Mapping[Any, Any] = MappingProxyType({})


class Weights(Mapping[str, float]):
    """What each expert weighs, by its name: a mapping that costs nothing until it is read.

    Args:
        names: of the experts.
        numbers: (expert), not changed any more.

    >>> import numpy as np
    >>> Weights(("near", "wide"), np.array([0.25, 0.75]))
    {'near': 0.25, 'wide': 0.75}
    """

    __slots__ = ("_names", "_numbers", "_read")

    def __init__(self, names: Sequence[str], numbers: Floats) -> None:
        self._names, self._numbers = names, numbers
        self._read: dict[str, float] | None = None

    def read(self) -> dict[str, float]:
        """All of them, as a dictionary that is made once."""
        if self._read is None:
            self._read = dict(zip(self._names, self._numbers.tolist(), strict=True))
        return self._read

    def __getitem__(self, name: str) -> float:
        return self.read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return repr(self.read())


class Prediction(NamedTuple):
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
    intervals: Mapping[float, tuple[float, float]] = NONE
    experts: Mapping[str, float] = NONE
    seconds: float | None = None


class Outcome(NamedTuple):
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
