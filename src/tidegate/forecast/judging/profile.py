"""How large errors are above and below a forecast, by how large a number is."""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

import numpy as np

from tidegate.forecast.compiled import compiled, inner
from tidegate.forecast.model.feature_state import within
from tidegate.forecast.parts import Flat, Floats

__all__ = [
    "ABOVE",
    "BELOW",
    "ErrorProfile",
    "ProfileState",
    "learn_profile",
    "look_up",
    "profile_in",
    "profile_size",
]

KNOTS = 16
REACH = 2.5  #: mean deviations of the number from its mean at which the outermost knots lie
RATE, SLOW_RATE = 0.005, 0.0005  #: of the errors at a knot, of mean and deviation
LARGEST = 50.0  #: usual errors that one counts for
KNOWN = 20  #: numbers after which none counts for more than FARTHEST deviations
FARTHEST = 8.0
COUNT, MEAN, DEVIATION = range(3)
BELOW, ABOVE, WEIGHT = range(3)


class ProfileState(NamedTuple):
    """What is known of the errors at every size of a number.

    Attributes:
        number: how often it came, its mean, and its mean deviation.
        knots: (knot, 3) mean error below and above, in usual errors, and the weight seen there.
    """

    number: Floats
    knots: Floats


def profile_size() -> int:
    """Numbers in the memory of a profile."""
    return 3 + 3 * KNOTS


@compiled
def profile_in(memory: Floats, start: int) -> ProfileState:
    """The state that lies in ``memory`` from ``start`` on."""
    knots = start + 3
    return ProfileState(memory[start:knots], memory[knots : knots + 3 * KNOTS].reshape((KNOTS, 3)))


@inner
def _position(state: ProfileState, number: float) -> tuple[int, float]:
    """The knot before the number, and how far on the way to the next one it lies."""
    mean, deviation = state.number[MEAN], state.number[DEVIATION]
    standard = (number - mean) / (REACH * deviation) if deviation > 0 else 0.0
    if not isfinite(standard):
        standard = 0.0
    place = 0.5 * (within(standard, 1.0) + 1.0) * (KNOTS - 1)
    knot = min(int(place), KNOTS - 2)
    return knot, place - knot


@compiled
def look_up(state: ProfileState, number: float, sides: Floats) -> None:
    """Fill in the mean error below and above, in usual errors, where the number is so large."""
    knot, share = _position(state, number)
    for side in range(2):
        sides[side] = (1 - share) * state.knots[knot, side] + share * state.knots[knot + 1, side]


@compiled
def learn_profile(state: ProfileState, number: float, error: float) -> None:
    """The error that came, in usual errors, where the number was so large."""
    size = min(abs(error), LARGEST)
    above = size if error > 0 else 0.0
    knot, share = _position(state, number)
    for k in range(2):
        near = state.knots[knot + k]
        weight = share if k else 1 - share
        near[WEIGHT] += weight
        rate = weight * max(RATE, 1 / (1 + near[WEIGHT]))
        near[BELOW] += rate * (size - above - near[BELOW])
        near[ABOVE] += rate * (above - near[ABOVE])
    if isfinite(number):
        _learn_number(state.number, number)


@inner
def _learn_number(known: Floats, number: float) -> None:
    known[COUNT] += 1
    rate, apart = max(1 / known[COUNT], SLOW_RATE), number - known[MEAN]
    if known[COUNT] > KNOWN and known[DEVIATION] > 0:
        apart = within(apart, FARTHEST * known[DEVIATION])
    known[MEAN] += rate * apart
    known[DEVIATION] += rate * (abs(apart) - known[DEVIATION])


class ErrorProfile(Flat):
    """The mean error on either side as a line with knots over a number that goes along with it.

    Where demand is low it can hardly fall further, and where it is forecast to rise errors are
    larger: neither is linear, so the number is cut into knots between which the line is straight.
    They lie evenly within 2.5 mean deviations of its mean.

    >>> profile = ErrorProfile()
    >>> for step in range(2_000):
    ...     profile.learn(step % 10, error=3.0 if step % 10 > 6 else -1.0)
    >>> profile.sides(1.0).round(1), profile.sides(8.0).round(1)
    (array([1., 0.]), array([0., 3.]))
    """

    def __init__(self, memory: Floats | None = None) -> None:
        super().__init__(profile_size(), memory)
        self._state = profile_in(self.memory, 0)
        self._state.knots[:, : ABOVE + 1] = 0.5

    def sides(self, number: float) -> Floats:
        """Float64 (2): the mean error below and above, in usual errors."""
        sides = np.empty(2)
        look_up(self._state, float(number), sides)
        return sides

    def learn(self, number: float, error: float) -> None:
        """The error that came, in usual errors."""
        learn_profile(self._state, float(number), float(error))
