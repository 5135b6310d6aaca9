"""The numbers of a forecaster's model: how they lie in one memory.

Everything that the model knows, but for its gated experts, is one array of float64; what it makes
of a coming step is another. ``asking`` and ``observing`` hold the phases of a step on them, each
one call into machine code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tidegate.forecast.compiled import Integers, compiled, inner
from tidegate.forecast.model.blips import BLIPS
from tidegate.forecast.model.calendar import CALENDAR
from tidegate.forecast.model.feature_state import FeatureState, features_in, features_size
from tidegate.forecast.model.ferns import FernState, ferns_in, ferns_size
from tidegate.forecast.model.mixing import mixture_size
from tidegate.forecast.model.ridge import RidgeState, ridge_in
from tidegate.forecast.model.sections import section_at
from tidegate.forecast.model.slots import COLUMNS
from tidegate.forecast.model.stacking import StackState, stack_in, stack_size
from tidegate.forecast.parts import Floats

__all__ = [
    "Asked",
    "Plan",
    "around_size",
    "asked_in",
    "asked_size",
    "at_in",
    "base_of",
    "count_chosen",
    "ferns",
    "last_word",
    "linear_expert",
    "mind_sizes",
    "packed",
    "part",
    "section_of",
    "past",
    "plan_in",
    "table",
]

OWN = 7  #: inputs of a gated expert beside features: two errors, three forecasts, two of a day
DOUBTS = 5  #: what the size of an error may depend on
RIDGE, WIDTH = 1.0, 1.0
NEAR, WIDE, LAGS = 0, 1, 3  #: linear experts that others look at
MIXED, LAST = -1, -2  #: other forecasts that gated experts correct

#: parts of the memory, in the order in which they lie there; those from RIDGES to LAST_TWO are what
#: one stream can learn for another
FEATURES, RIDGES, BLEND, STACK, FERNS, LAST_TWO, SIZES, OWN_SIZES, ERRORS = range(9)
SURPRISES, DAYS, LOADS, LOAD, SCALES, STEPS, BLIP = range(9, 16)


class Plan(NamedTuple):
    """What follows from how a model was made.

    Attributes:
        starts: first rows of the periods in tables, and their end.
        linear: (linear expert, feature) which features each sees, -1 after the last.
        windows: (linear expert,) steps over which it forgets.
        splits: (linear expert,) by what its sections are told apart.
        sections: (linear expert,) how many it has, each with weights of its own.
        ridges: (linear expert + 1,) where the weights of each start, and their end.
        gated: (gated expert, input) what each sees of the scaled features and, after them, the
            scaled numbers of its own; -1 after the last.
        corrects: (gated expert,) the forecast that each corrects, as in :func:`base_of`.
        ferns: (fern, test) which of the numbers that ferns see each compares.
        sizes: of features, further columns, numbers of their own, and the loads' table.
    """

    starts: Integers
    linear: Integers
    windows: Integers
    splits: Integers
    sections: Integers
    ridges: Integers
    gated: Integers
    corrects: Integers
    ferns: Integers
    sizes: Integers


def packed(plan: Plan, at: Integers) -> Integers:
    """A plan, and where the parts of a memory start, in one array: a call into machine code costs
    by the arrays that it is handed.

    First stand, for every part, where it starts, its rows and its columns.
    """
    parts = (*plan, at)
    shapes = [(len(part), part.shape[1] if part.ndim > 1 else 1) for part in parts]
    starts = np.cumsum([3 * len(parts), *(part.size for part in parts)])
    header = [(start, *shape) for start, shape in zip(starts[:-1], shapes, strict=True)]
    flat = [np.ravel(part) for part in (header, *parts)]
    return np.concatenate(flat).astype(np.int64)


@inner
def _table_in(shape: Integers, k: int) -> Integers:
    """Part k of what was packed, as a table (row, column)."""
    start, rows, columns = shape[3 * k], shape[3 * k + 1], shape[3 * k + 2]
    return shape[start : start + rows * columns].reshape((rows, columns))


@inner
def _list_in(shape: Integers, k: int) -> Integers:
    """Part k of what was packed, as a list."""
    return shape[shape[3 * k] : shape[3 * k] + shape[3 * k + 1]]


@inner
def plan_in(shape: Integers) -> Plan:
    """The plan that was :func:`packed`."""
    return Plan(
        _list_in(shape, 0),
        _table_in(shape, 1),
        _list_in(shape, 2),
        _list_in(shape, 3),
        _list_in(shape, 4),
        _list_in(shape, 5),
        _table_in(shape, 6),
        _list_in(shape, 7),
        _table_in(shape, 8),
        _list_in(shape, 9),
    )


@inner
def at_in(shape: Integers) -> Integers:
    """Where the parts of a memory start, as it was :func:`packed` beside a plan."""
    return _list_in(shape, 10)


class Asked(NamedTuple):
    """What experts see of a coming step, and say; in usual changes.

    Attributes:
        x: (feature).
        linear: forecasts of the linear experts.
        base: (1,) their mixture.
        own: raw numbers that only gated experts see.
        inputs: (gated expert, input).
        forecasts: of all experts, persistence (0) last.
        two: their mixture, and what ferns make of it.
        after: (2,) what is said if the last value counts, and if it was a blip.
        mixed: (1,) the forecast.
        doubts: what the size of its error may depend on, each at least 0.
        around: what else it may depend on, the features of the linear expert ``WIDE``.
    """

    x: Floats
    linear: Floats
    base: Floats
    own: Floats
    inputs: Floats
    forecasts: Floats
    two: Floats
    after: Floats
    mixed: Floats
    doubts: Floats
    around: Floats


def mind_sizes(plan: Plan, periods: Sequence[int]) -> list[int]:
    """Numbers of every part of a memory, in the order in which they lie there."""
    features, columns, own, longest = plan.sizes.tolist()
    linear = len(plan.linear)
    return [
        features_size(periods, columns),
        int(plan.ridges[-1]),
        mixture_size(linear),
        stack_size(linear + len(plan.gated) + 1),
        ferns_size(*plan.ferns.shape),
        mixture_size(2),
        features,
        own,
        2,
        int(plan.starts[-1]) * COLUMNS,
        CALENDAR,
        longest * COLUMNS,
        2,
        2 * len(plan.gated),
        1,
        BLIPS,
    ]


@inner
def part(memory: Floats, at: Integers, which: int) -> Floats:
    """One of the parts of a memory."""
    return memory[at[which] : at[which + 1]]


@inner
def table(memory: Floats, at: Integers, which: int) -> Floats:
    """One of the parts, as the table (slot, column) of a slot memory."""
    return part(memory, at, which).reshape((-1, COLUMNS))


@inner
def past(memory: Floats, plan: Plan, at: Integers) -> FeatureState:
    """What features are made of."""
    return features_in(memory, at[FEATURES], plan.starts, plan.sizes[1])


@inner
def linear_expert(
    memory: Floats, plan: Plan, at: Integers, k: int, place: Integers, x: Floats
) -> RidgeState:
    """The linear expert number k, as it is for a step at ``place`` with features x."""
    section = section_at(plan.splits[k], plan.sections[k], plan.starts, place, x)
    return section_of(memory, plan, at, k, section)


@inner
def section_of(memory: Floats, plan: Plan, at: Integers, k: int, section: int) -> RidgeState:
    """The linear expert number k in one of its sections."""
    size = (plan.ridges[k + 1] - plan.ridges[k]) // plan.sections[k]
    start = at[RIDGES] + plan.ridges[k] + section * size
    return ridge_in(memory, start, count_chosen(plan.linear[k]))


@inner
def last_word(memory: Floats, plan: Plan, at: Integers) -> StackState:
    """What mixes all experts."""
    return stack_in(memory, at[STACK], len(plan.linear) + len(plan.gated) + 1)


@inner
def ferns(memory: Floats, plan: Plan, at: Integers) -> FernState:
    """What corrects the mixture of all experts."""
    return ferns_in(memory, at[FERNS], plan.ferns.shape[0], plan.ferns.shape[1])


@compiled
def count_chosen(chosen: Integers) -> int:
    """How many there are before -1."""
    count = 0
    while count < len(chosen) and chosen[count] >= 0:
        count += 1
    return count


@inner
def base_of(asked: Asked, corrected: int) -> float:
    """A forecast to correct: the last value (-2), all linear experts (-1), or one of them."""
    if corrected >= 0:
        return float(asked.linear[corrected])
    return float(asked.base[0]) if corrected == MIXED else 0.0


def around_size(plan: Plan) -> int:
    """How much there is around a forecast that its error may depend on."""
    return count_chosen(plan.linear[WIDE]) - 1


def asked_size(plan: Plan) -> int:
    """Numbers that a step asked for takes."""
    features, _, own, _ = plan.sizes.tolist()
    said = 2 * len(plan.linear) + len(plan.gated) + 7
    return int(features + own + plan.gated.size + said + DOUBTS + around_size(plan))


@compiled
def asked_in(numbers: Floats, plan: Plan) -> Asked:
    """What lies in ``numbers``."""
    linear = plan.sizes[0]
    base = linear + len(plan.linear)
    own = base + 1
    inputs = own + plan.sizes[2]
    forecasts = inputs + plan.gated.size
    two = forecasts + len(plan.linear) + len(plan.gated) + 1
    after = two + 2
    mixed = after + 2
    return Asked(
        numbers[:linear],
        numbers[linear:base],
        numbers[base:own],
        numbers[own:inputs],
        numbers[inputs:forecasts].reshape(plan.gated.shape),
        numbers[forecasts:two],
        numbers[two:after],
        numbers[after:mixed],
        numbers[mixed : mixed + 1],
        numbers[mixed + 1 : mixed + 1 + DOUBTS],
        numbers[mixed + 1 + DOUBTS :],
    )
