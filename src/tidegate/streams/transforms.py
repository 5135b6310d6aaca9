"""Online transforms of rows: each sees the past alone, in constant memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tidegate._core.errors import UsageError

Floats = NDArray[np.float64]
State = dict[str, NDArray[np.float64] | NDArray[np.int64]]

# The difference of two values within +-HALF is finite.
HALF = np.finfo(np.float64).max / 2


class Standardised(NamedTuple):
    """Values in standard deviations from the mean, and which of them were capped.

    Attributes:
        values: float64 (column).
        capped: bool (column).

    >>> Standardised(np.array([5.0]), np.array([True])).capped.tolist()
    [True]
    """

    values: Floats
    capped: NDArray[np.bool_]


class Standardiser:
    """Running mean and standard deviation of each column.

    The t-th value of a column enters with weight ``1 / min(t, window)``: at first the statistics
    are those of all values so far (Welford 1962), later they forget as an exponential window does
    (West 1979). ``transform`` a row before ``update`` with it, and nothing looks ahead. Missing
    values pass as NaN and change nothing; before two values of a column, and where it has never
    changed, the result is 0. A change of what never changed is infinitely many deviations: it is
    capped, as all beyond ``cap`` is.

    Args:
        columns: how many.
        window: in steps, at least 2; ``math.inf`` never forgets.
        cap: in standard deviations.

    Raises:
        UsageError: ``columns``, ``window`` or ``cap`` is too small.

    >>> standardiser = Standardiser(columns=1, window=1000)
    >>> for value in (1.0, 3.0):
    ...     standardiser.update(np.array([value]))
    >>> standardiser.transform(np.array([4.0]))
    Standardised(values=array([2.]), capped=array([False]))
    >>> standardiser.inverse(np.array([2.0]))
    array([4.])
    """

    def __init__(self, columns: int, window: float, cap: float = 5.0) -> None:
        _require("columns", columns, 1)
        _require("window", window, 2)
        if not cap > 0:
            raise UsageError("cap", "a number above 0", repr(cap), "Try 5.")
        self.window = window
        self.cap = cap
        self.count: Floats = np.zeros(columns)
        self.mean: Floats = np.zeros(columns)
        self.deviation: Floats = np.zeros(columns)

    def transform(self, values: Floats) -> Standardised:
        """``values`` (column) by the statistics so far; changes nothing."""
        apart = _within(values) - self.mean
        apart[(self.count < 2) & ~np.isnan(apart)] = 0.0
        distance = np.abs(apart)
        # Division by the cap, not multiplication: a product could overflow.
        inside = distance / self.cap < self.deviation
        scaled = np.sign(apart) * self.cap
        np.divide(apart, self.deviation, out=scaled, where=inside)
        return Standardised(scaled, (distance > 0) & ~inside)

    def update(self, values: Floats) -> None:
        """Takes ``values`` (column) into the statistics; what is not finite is left out."""
        seen = np.isfinite(values)
        self.count += seen
        weight = seen / np.minimum(np.maximum(self.count, 1.0), self.window)
        step = np.where(seen, _within(values) - self.mean, 0.0)
        self.mean += weight * step
        # A deviation, not a variance: squares of 1e300 or 1e-300 do not fit a float64.
        self.deviation = np.sqrt(1 - weight) * np.hypot(self.deviation, np.sqrt(weight) * step)

    def inverse(self, standardised: Floats) -> Floats:
        """``standardised`` (column) in the units of the values."""
        return self.mean + self.deviation * standardised

    def state(self) -> State:
        """Everything that was learned, as copies."""
        return {
            "count": self.count.copy(),
            "mean": self.mean.copy(),
            "deviation": self.deviation.copy(),
        }

    def restore(self, state: Mapping[str, NDArray[np.float64] | NDArray[np.int64]]) -> None:
        """Goes on from ``state``, exactly.

        Raises:
            UsageError: the state is that of another number of columns.
        """
        arrays = [_fitting(state, name, self.count) for name in ("count", "mean", "deviation")]
        self.count, self.mean, self.deviation = arrays


class Lags:
    """The values of some steps back.

    Args:
        columns: how many values a step has.
        lags: how many steps back, each at least 1; 1 is the row pushed last.

    Raises:
        UsageError: there is no lag, or one below 1.

    >>> lags = Lags(columns=1, lags=[1, 3])
    >>> for value in (10.0, 20.0, 30.0):
    ...     lags.push(np.array([value]))
    >>> lags.values()
    array([[30.],
           [10.]])
    """

    def __init__(self, columns: int, lags: Sequence[int]) -> None:
        _require("columns", columns, 1)
        _require("number of lags", len(lags), 1)
        _require("lag", min(lags), 1)
        self.lags = np.array(lags, dtype=np.int64)
        self._ring: Floats = np.full((int(self.lags.max()), columns), np.nan)
        self._next = 0

    def push(self, values: Floats) -> None:
        """The newest row (column)."""
        self._ring[self._next] = values
        self._next = (self._next + 1) % len(self._ring)

    def values(self) -> Floats:
        """Float64 (lag, column); NaN before the beginning."""
        return self._ring[(self._next - self.lags) % len(self._ring)]

    def state(self) -> State:
        """Everything that is remembered, as copies: ``ring`` (step, column), ``next`` (1)."""
        return {"ring": self._ring.copy(), "next": np.array([self._next])}

    def restore(self, state: Mapping[str, NDArray[np.float64] | NDArray[np.int64]]) -> None:
        """Goes on from ``state``, exactly.

        Raises:
            UsageError: the state is that of other lags or columns.
        """
        self._ring = _fitting(state, "ring", self._ring)
        self._next = int(state["next"][0])


def _within(values: Floats) -> Floats:
    return np.minimum(np.maximum(values, -HALF), HALF)


def _require(name: str, value: float, least: int) -> None:
    if isnan(value) or value < least:
        raise UsageError(name, f"at least {least}", repr(value), f"Try {least}.")


def _fitting(
    state: Mapping[str, NDArray[np.float64] | NDArray[np.int64]], name: str, like: Floats
) -> Floats:
    found = np.array(state[name], dtype=np.float64)
    if found.shape != like.shape:
        raise UsageError(
            f"state {name!r}",
            f"shape {like.shape}",
            str(found.shape),
            "Restore it into what has the sizes it was made with.",
        )
    return found
