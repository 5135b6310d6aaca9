"""Lone wild values: what is said right after one, and how the past is mended of it."""

from __future__ import annotations

from typing import NamedTuple

from tidegate.forecast.compiled import compiled, inner
from tidegate.forecast.model.feature_state import FeatureState
from tidegate.forecast.model.layout import AVERAGES, LAGS
from tidegate.forecast.model.mixing import MixtureState, learn_mixture, mixture_in, mixture_size
from tidegate.forecast.parts import Floats

__all__ = ["BLIPS", "BlipState", "as_if_passed", "blips_in", "doubt", "settle"]

WILD = 10.0  #: usual errors beyond which a value is wild
BLIPS = mixture_size(2) + 1 + LAGS + len(AVERAGES)  #: numbers in the memory


class BlipState(NamedTuple):
    """What is known of wild values.

    Attributes:
        mixture: of two forecasts of the value after one: it counts, and it was a blip.
        open: (1,) whether the last value was wild, and may be a blip.
        recent: (lag) the last values, with its forecast in the place of the wild one.
        averages: (rate) of the target, likewise.
    """

    mixture: MixtureState
    open: Floats
    recent: Floats
    averages: Floats


@compiled
def blips_in(memory: Floats, start: int) -> BlipState:
    """The state that lies in ``memory`` from ``start`` on."""
    wild = start + 6
    recent = wild + 1
    return BlipState(
        mixture_in(memory, start, 2),
        memory[wild:recent],
        memory[recent : recent + LAGS],
        memory[recent + LAGS : start + BLIPS],
    )


@inner
def as_if_passed(state: BlipState, now: FeatureState) -> FeatureState:
    """What features are made of, had the forecast come in the place of the wild value."""
    return FeatureState(
        now.starts, now.level, now.scale, state.recent, state.averages, now.table,
        now.sums, now.common, now.days, now.past_days, now.columns,
    )  # fmt: skip


@inner
def settle(state: BlipState, now: FeatureState, said: Floats, change: float) -> float:
    """The change that came, after ``said``: that if the last value counts, that if it was a blip.

    Where it was one, the past is mended.

    Returns:
        the error of the better of the two.
    """
    follows, passes = abs(change - said[0]), abs(change - said[1])
    if state.open[0] == 0:
        return float(follows)
    learn_mixture(state.mixture, said, change)
    state.open[0] = 0.0
    if passes < follows:
        _copy(state.recent, now.recent)
        _copy(state.averages, now.averages)
    return float(min(follows, passes))


@inner
def doubt(state: BlipState, now: FeatureState, error: float, usual: float, said: float) -> None:
    """Whether the value that came, in whose place ``said`` was forecast, is wild."""
    if not error > WILD * usual > 0:
        return
    state.open[0] = 1.0
    for k in range(LAGS - 1, 0, -1):
        state.recent[k] = now.recent[k - 1]
    state.recent[0] = said
    for k, rate in enumerate(AVERAGES):
        state.averages[k] = now.averages[k] + rate * (said - now.averages[k])


@inner
def _copy(numbers: Floats, into: Floats) -> None:
    for k in range(len(numbers)):
        into[k] = numbers[k]
