"""Parts of a forecaster are put down and taken up to the bit, wherever that is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tidegate import UsageError
from tidegate.forecast.judging.alarms import ShiftDetector
from tidegate.forecast.judging.error_scale import ErrorScale
from tidegate.forecast.judging.intervals import Conformal
from tidegate.forecast.model.calendar import CalendarMemory
from tidegate.forecast.model.carry import SlotCarry
from tidegate.forecast.model.core import Core
from tidegate.forecast.model.features import Features, Place
from tidegate.forecast.model.gated import GatedExperts, Recipe
from tidegate.forecast.model.mixing import Mixture
from tidegate.forecast.model.ridge import Ridge
from tidegate.forecast.model.scale import RunningScale
from tidegate.forecast.model.slots import SlotMemory
from tidegate.forecast.model.stacking import Stack
from tidegate.forecast.parts import Part
from tidegate.forecast.timing.periods import PeriodFinder

Feed = Callable[[Any, int, float], object]


def vector(value: float) -> np.ndarray:
    return np.array([1.0, value, value * value])


def place(step: int) -> Place:
    return Place((step, step), (step % 372, step % 420))


def learn_gated(part: GatedExperts, step: int, value: float) -> object:
    part.xs[0], part.xs[1, :1] = vector(value), value
    part.targets[:] = value, np.nan if step % 5 == 0 else -value
    part.learn()
    return part.predict().tolist()


def learn_features(part: Features, step: int, value: float) -> object:
    part.observe(place(step), value)
    part.see_columns(np.array([value**2]))
    return part.at(place(step + 1)).tolist()


def learn_core(part: Core, step: int, value: float) -> object:
    part.observe(place(step), value)
    return part.predict(place(step + 1))


def learn_conformal(part: Conformal, step: int, value: float) -> object:
    part.learn(abs(value))
    return part.widths(), part.rank(0.5)


# name: (how it is made, one step of learning that says what it would say)
PARTS: dict[str, tuple[Callable[[], Part], Feed]] = {
    "scale": (lambda: RunningScale(50), lambda p, n, v: (p.update(v), p.value)),
    "slots": (lambda: SlotMemory(5), lambda p, n, v: (p.update(n, v), p.read(n).tolist())),
    "carry": (lambda: SlotCarry(5), lambda p, n, v: (p.update(n, v, 0.5 * v), p.share(n))),
    "calendar": (
        CalendarMemory,
        lambda p, n, v: (p.update((n // 3, n // 3), v), p.read((n // 4, n // 5)).tolist()),
    ),
    "ridge": (
        lambda: Ridge(3, 0.99, 0.1),
        lambda p, n, v: (p.learn(vector(v), 2 * v), p.predict(vector(v))),
    ),
    "mixture": (lambda: Mixture(3), lambda p, n, v: (p.learn(vector(v), v), p.weights.tolist())),
    "stack": (
        lambda: Stack(3),
        lambda p, n, v: (p.learn(vector(v), v), p.predict(vector(v))),
    ),
    "gated": (
        lambda: GatedExperts([Recipe(0.01, 1.0, 0.0), Recipe(0.02, 0.3, 1.0)], [3, 1], 8, seed=1),
        learn_gated,
    ),
    "error scale": (
        lambda: ErrorScale(2, 1),
        lambda p, n, v: (p.learn([1.0, abs(v), v, v, v], v), p.predict([1.0, abs(v), v, v, v])),
    ),
    "conformal": (lambda: Conformal((0.5, 0.9)), learn_conformal),
    "detector": (ShiftDetector, lambda p, n, v: (p.update(v), p.level)),
    "periods": (PeriodFinder, lambda p, n, v: (p.update(v), p.periods())),
    "features": (lambda: Features((3, 6), inputs=1), learn_features),
    "core": (lambda: Core((3, 6), inputs=0, units=8, seed=0), learn_core),
}


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("cut", [1, 57, 130])
def test_a_part_restored_anywhere_goes_on_to_the_bit(name: str, cut: int) -> None:
    make, feed = PARTS[name]
    values = np.random.default_rng(3).normal(size=160).cumsum().tolist()
    whole, half, resumed = make(), make(), make()
    expected = [feed(whole, n, v) for n, v in enumerate(values)]
    for n, value in enumerate(values[:cut]):
        feed(half, n, value)
    resumed.restore(half.state())
    said = [feed(resumed, n, values[n]) for n in range(cut, 160)]
    assert repr(said) == repr(expected[cut:])  # NaN is not itself


@pytest.mark.parametrize("name", PARTS)
def test_a_state_is_a_copy_and_of_constant_size(name: str) -> None:
    make, feed = PARTS[name]
    part = make()
    feed(part, 0, 1.0)
    early = part.state()
    kept = {key: array.copy() for key, array in early.items()}
    for n in range(1, 40):
        feed(part, n, float(np.sin(n)))
    assert all(np.array_equal(early[key], kept[key], equal_nan=True) for key in kept)
    assert {k: (v.shape, v.dtype) for k, v in part.state().items()} == {
        k: (v.shape, v.dtype) for k, v in early.items()
    }


def test_a_state_of_another_size_is_refused() -> None:
    with pytest.raises(UsageError, match="memory"):
        Ridge(3, 0.99, 0.1).restore(Ridge(4, 0.99, 0.1).state())


def test_a_state_that_lacks_something_is_refused() -> None:
    with pytest.raises(UsageError, match="nothing"):
        RunningScale(10).restore({})


def test_a_scale_that_is_given_too_little_says_so() -> None:
    with pytest.raises(UsageError, match="5 numbers"):
        ErrorScale(2, 1).predict([1.0, 2.0])
