"""Intervals that hold: adaptive conformal prediction on any scale of errors."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite, nan
from typing import NamedTuple

import numpy as np

from tidegate._core.errors import UsageError
from tidegate.forecast.compiled import compiled, inner
from tidegate.forecast.parts import Flat, Floats

__all__ = [
    "Conformal",
    "ScoreState",
    "learn_late_score",
    "learn_score",
    "levels_in",
    "quantile_of",
    "rank_of",
    "scores_in",
    "scores_size",
]

WINDOW = 500  #: scores that quantiles are taken of
GAMMA = 0.005  #: step of the adaptive level
FIRST_SCORES = 20


class ScoreState(NamedTuple):
    """The last scores.

    Attributes:
        seen: (1,) how many scores.
        ring: (score) as they came, the place of the next one being seen % ``WINDOW``.
        ordered: (score) the same by size, infinity standing for those still to come.
        levels: wanted coverages.
        misses: (level) the shares outside that are aimed at to get them.
    """

    seen: Floats
    ring: Floats
    ordered: Floats
    levels: Floats
    misses: Floats


def scores_size(levels: int) -> int:
    """Numbers in a memory of scores."""
    return 1 + 2 * WINDOW + 2 * levels


@compiled
def levels_in(memory: Floats) -> int:
    """For how many levels a memory of scores is."""
    return (len(memory) - 1 - 2 * WINDOW) // 2


@compiled
def scores_in(memory: Floats, start: int, levels: int) -> ScoreState:
    """The state that lies in ``memory`` from ``start`` on."""
    ring = start + 1
    ordered, wanted = ring + WINDOW, ring + 2 * WINDOW
    misses = wanted + levels
    return ScoreState(
        memory[start:ring],
        memory[ring:ordered],
        memory[ordered:wanted],
        memory[wanted:misses],
        memory[misses : misses + levels],
    )


@compiled
def quantile_of(state: ScoreState, share: float) -> float:
    """The score that so large a share of the last ones stays below; infinite at first."""
    held, ordered = min(int(state.seen[0]), WINDOW), state.ordered
    if held < FIRST_SCORES or share >= 1:
        return ordered[held - 1] * max(share, 1.0) if held else inf
    return 0.0 if share <= 0 else ordered[min(int(share * (held + 1)), held - 1)]


@compiled
def learn_score(state: ScoreState, score: float) -> None:
    """The score that came, of a forecast made right before."""
    widths = np.empty(len(state.levels))
    for k in range(len(widths)):
        widths[k] = quantile_of(state, 1 - state.misses[k])
    learn_late_score(state, score, widths)


@compiled
def learn_late_score(state: ScoreState, score: float, widths: Floats) -> None:
    """The score that came, of a forecast whose intervals were then so wide (level)."""
    count = int(state.seen[0])
    if count >= FIRST_SCORES:
        for k in range(len(state.levels)):
            miss = 1.0 if score > widths[k] else 0.0
            state.misses[k] += GAMMA * (1 - state.levels[k] - miss)
    place = count % WINDOW
    _replace(state.ordered, state.ring[place], score)
    state.ring[place] = score
    state.seen[0] = count + 1


@inner
def _replace(ordered: Floats, old: float, new: float) -> None:
    """Take ``old`` out of ordered numbers and put ``new`` in."""
    place = np.searchsorted(ordered, old)
    while place > 0 and ordered[place - 1] > new:
        ordered[place] = ordered[place - 1]
        place -= 1
    while place < len(ordered) - 1 and ordered[place + 1] < new:
        ordered[place] = ordered[place + 1]
        place += 1
    ordered[place] = new


@compiled
def rank_of(state: ScoreState, score: float) -> float:
    """The share of recent scores that were smaller; NaN while there are few."""
    held = min(int(state.seen[0]), WINDOW)
    return np.searchsorted(state.ordered[:held], score) / held if held >= FIRST_SCORES else nan


class Conformal(Flat):
    """Half-widths of intervals of a wanted coverage, in scales of the coming error.

    The quantile of the last scores |error| / scale at a level that moves: up by a little whenever
    a value fell outside, down by less whenever it did not. So coverage is right in the long run
    whatever the stream does.

    Source: Gibbs & Candes, "Adaptive Conformal Inference Under Distribution Shift" (2021),
    equation 2; Romano, Patterson & Candes, "Conformalized Quantile Regression" (2019) for scores.

    Args:
        levels: wanted coverages, each between 0 and 1.

    Raises:
        UsageError: a level is not between 0 and 1.

    >>> conformal = Conformal(levels=(0.5, 0.9))
    >>> for score in range(1, 101):
    ...     conformal.learn(score / 100)
    >>> narrow, wide = conformal.widths()
    >>> narrow < wide
    True
    """

    def __init__(self, levels: Sequence[float], memory: Floats | None = None) -> None:
        for level in levels:
            if not 0 < level < 1:
                raise UsageError("level", "a coverage between 0 and 1", repr(level), "Try 0.9.")
        super().__init__(scores_size(len(levels)), memory)
        self.levels = tuple(levels)
        self._state = state = scores_in(self.memory, 0, len(levels))
        state.ring[:] = state.ordered[:] = inf
        state.levels[:] = levels
        state.misses[:] = 1 - state.levels

    @property
    def count(self) -> int:
        """Scores so far."""
        return int(self._state.seen[0])

    def widths(self) -> list[float]:
        """For every level; infinite while nothing is known, or where only that would do."""
        return [quantile_of(self._state, 1 - miss) for miss in self._state.misses.tolist()]

    def plain_width(self, level: float) -> float:
        """The quantile of the last scores as it stands, its level fixed; infinite at first."""
        return float(quantile_of(self._state, float(level)))

    def rank(self, score: float) -> float | None:
        """The share of recent scores that were smaller; None while there are few."""
        rank = float(rank_of(self._state, float(score)))
        return rank if isfinite(rank) else None

    def learn(self, score: float) -> None:
        """The score that came: its absolute error over its scale."""
        learn_score(self._state, float(score))
