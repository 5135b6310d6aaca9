"""The experts of a forecaster: what each sees, how it learns, and the plan that follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tidegate.forecast.compiled import Integers
from tidegate.forecast.model.feature_state import starts_of
from tidegate.forecast.model.gated import Recipe
from tidegate.forecast.model.layout import Layout
from tidegate.forecast.model.mind import LAST, MIXED, OWN, Plan, asked_in, asked_size
from tidegate.forecast.model.ridge import ridge_size
from tidegate.forecast.model.sections import (
    BY_CHANGE,
    BY_LEVEL,
    BY_LONGEST,
    BY_SHORTEST,
    WHOLE,
    count_sections,
)

__all__ = ["Gated", "Linear", "expert_names", "gated_experts", "linear_experts", "plan_of"]


class Linear(NamedTuple):
    """A linear expert.

    Attributes:
        name: of the expert.
        sees: which features, by their name in the layout.
        window: steps over which it forgets: it keeps 1 - 1 / window of a step.
        split: what tells the sections apart that have weights of their own.
    """

    name: str
    sees: str
    window: int
    split: int = WHOLE


class Gated(NamedTuple):
    """A gated expert.

    Attributes:
        name: of the expert.
        sees: which features, by their name in the layout.
        own: whether it sees the numbers that only gated experts see as well.
        corrects: the forecast whose error it learns, as in :func:`base_of`.
        recipe: how it learns.
    """

    name: str
    sees: str
    own: bool
    corrects: int
    recipe: Recipe


LINEAR = (
    Linear("near", "small", 1_000),
    Linear("wide", "full", 2_000),
    Linear("fast", "full", 500),
    Linear("lags", "recent", 2_000),
)
SECTIONED = (
    Linear("by phase", "sectioned", 200, split=BY_SHORTEST),
    Linear("by long phase", "sectioned", 100, split=BY_LONGEST),
    Linear("by change", "sectioned", 2_000, split=BY_CHANGE),
    Linear("by level", "sectioned", 2_000, split=BY_LEVEL),
)
GATED = (
    Gated("gated", "gated", True, MIXED, Recipe(0.003, 0.2, 0.0)),
    Gated("gated slow", "gated", True, MIXED, Recipe(0.001, 1.0, 0.0)),
    Gated("gated alone", "gated", True, LAST, Recipe(0.001, 1.0, 0.0)),
    Gated("lean", "lean", False, LAST, Recipe(0.003, 1.0, 1.0)),
    Gated("smooth", "smooth", False, LAST, Recipe(0.002, 1.0, 1.0)),
    Gated("smooth long", "smooth", False, LAST, Recipe(0.001, 0.5, 3.0)),
    Gated("smooth wide", "smooth", False, LAST, Recipe(0.002, 2.0, 2.0)),
    Gated("changes", "lags_only", False, LAST, Recipe(0.001, 1.0, 0.0)),
)
FERNS, TESTS = 200, 6
# how often ferns ask for the mixed forecast, for recent values and their averages, and for others
MIXED_OFTEN, RECENT_OFTEN, OTHERS_OFTEN = 20.0, 3.0, 1.0


def linear_experts(periods: Sequence[int], light: bool) -> tuple[Linear, ...]:
    """The linear ones: a light forecaster has no memory for those with sections.

    >>> [expert.name for expert in linear_experts((7,), light=False)][-2:]
    ['by change', 'by level']
    """
    sectioned = () if light else SECTIONED
    return *LINEAR, *(e for e in sectioned if count_sections(e.split, periods))


def gated_experts(light: bool) -> tuple[Gated, ...]:
    """The gated ones: a light forecaster has none."""
    return () if light else GATED


def expert_names(light: bool, periods: Sequence[int] | None = None) -> tuple[str, ...]:
    """Of all experts, in the order of their weights; of all there can be where periods are None.

    >>> expert_names(light=True)
    ('near', 'wide', 'fast', 'lags', 'persistence')
    """
    sectioned = () if light else SECTIONED
    linear = linear_experts(periods, light) if periods is not None else (*LINEAR, *sectioned)
    return *(e.name for e in linear), *(e.name for e in gated_experts(light)), "persistence"


def plan_of(periods: Sequence[int], inputs: int, light: bool, seed: int) -> Plan:
    """What the machine code needs to know of the experts.

    Args:
        periods: lengths in slots, the shortest first.
        inputs: further columns.
        light: whether all that takes much memory is left out: networks, sections, ferns.
        seed: by which the questions of ferns are drawn.
    """
    layout, own = Layout(len(periods), inputs), OWN + 2 * len(periods)
    linear, gated = linear_experts(periods, light), gated_experts(light)
    sees = [getattr(layout, expert.sees).tolist() for expert in linear]
    extra = list(range(layout.size, layout.size + own))
    sections = [count_sections(expert.split, periods) for expert in linear]
    sizes = [n * ridge_size(len(seen)) for n, seen in zip(sections, sees, strict=True)]
    plan = Plan(
        starts=starts_of(periods),
        linear=_table(sees),
        windows=np.array([expert.window for expert in linear], np.int64),
        splits=np.array([expert.split for expert in linear], np.int64),
        sections=np.array(sections, np.int64),
        ridges=np.cumsum([0, *sizes], dtype=np.int64),
        gated=_table([getattr(layout, e.sees).tolist() + extra * e.own for e in gated]),
        corrects=np.array([expert.corrects for expert in gated], np.int64),
        ferns=np.zeros((0, TESTS), np.int64),
        sizes=np.array([layout.size, inputs, own, periods[-1] if periods else 0], np.int64),
    )
    return plan if light else plan._replace(ferns=_questions(plan, layout, seed))


def _questions(plan: Plan, layout: Layout, seed: int) -> Integers:
    """(fern, test) which of the numbers of a step each compares."""
    often = np.zeros(asked_size(plan))
    asked = asked_in(often, plan)  # views
    asked.x[1:] = OTHERS_OFTEN
    asked.x[1:7] = asked.x[layout.averages] = RECENT_OFTEN
    asked.forecasts[:-1] = OTHERS_OFTEN
    asked.two[0] = MIXED_OFTEN
    rng = np.random.default_rng(seed)
    return rng.choice(len(often), (FERNS, TESTS), p=often / often.sum())


def _table(rows: Sequence[Sequence[int]]) -> Integers:
    """Rows of one length: -1 stands after the last number."""
    table = np.full((len(rows), max(map(len, rows), default=0)), -1, np.int64)
    for row, chosen in zip(table, rows, strict=True):
        row[: len(chosen)] = chosen
    return table
