"""Sections of a stream, each of which has a linear expert's weights to itself."""

from __future__ import annotations

from collections.abc import Sequence

from tidegate.forecast.compiled import Integers, inner
from tidegate.forecast.model.layout import BEFORE_AT, LEVEL_AT
from tidegate.forecast.parts import Floats

__all__ = [
    "BY_CHANGE",
    "BY_LEVEL",
    "BY_LONGEST",
    "BY_SHORTEST",
    "WHOLE",
    "count_sections",
    "section_at",
]

WHOLE, BY_SHORTEST, BY_LONGEST, BY_CHANGE, BY_LEVEL = range(5)  #: what tells sections apart
HOURS, WEEK_HOURS = 24, 56  #: sections at most of the shortest and the longest period
# in usual changes: of sections by the last change, and by how far the last value is from its level
CHANGES = (-3.0, -1.0, -0.3, 0.3, 1.0, 3.0)
LEVELS = (-6.0, -3.0, -1.0, 1.0, 3.0, 6.0)


def count_sections(split: int, periods: Sequence[int]) -> int:
    """How many sections there are; 0 where the periods that tell them apart are missing.

    >>> [count_sections(split, (48, 336)) for split in (WHOLE, BY_SHORTEST, BY_LONGEST, BY_LEVEL)]
    [1, 24, 56, 7]
    >>> count_sections(BY_SHORTEST, (7,)), count_sections(BY_LONGEST, (7,))
    (7, 0)
    """
    if split == BY_SHORTEST:
        return min(HOURS, periods[0]) if periods else 0
    if split == BY_LONGEST:
        return min(WEEK_HOURS, periods[-1]) if len(periods) > 1 else 0
    if split == BY_CHANGE:
        return len(CHANGES) + 1
    return len(LEVELS) + 1 if split == BY_LEVEL else 1


@inner
def _between(edges: tuple[float, ...], value: float) -> int:
    """How many of the edges the value has passed."""
    passed = 0
    for edge in edges:
        passed += value >= edge
    return passed


@inner
def section_at(split: int, sections: int, starts: Integers, place: Integers, x: Floats) -> int:
    """The section, of so many, in which a step at ``place`` with features x lies."""
    if split == WHOLE:
        return 0
    if split == BY_CHANGE:
        return _between(CHANGES, -x[BEFORE_AT])
    if split == BY_LEVEL:
        return _between(LEVELS, -x[LEVEL_AT])
    k = 0 if split == BY_SHORTEST else len(starts) - 2
    period = starts[k + 1] - starts[k]
    return int(place[k] % period * sections // period)
