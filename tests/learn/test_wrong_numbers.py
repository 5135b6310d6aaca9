"""Numbers that are wrong, given to a learner itself: it is flagged, finite, and soon as before."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from tidegate.kernels.plan import Loss
from tidegate.learn import Adam, Gaussian, Huber, Learner, Network, Squared

Floats = NDArray[np.float64]

START, SOON, END = 1500, 1700, 2500
AFTER = np.arange(END) >= START

WRONG: dict[str, Callable[[Floats, np.random.Generator], Floats]] = {
    "spike": lambda x, rng: np.where(np.arange(END) == START, 1e6, x),
    "largest spike": lambda x, rng: np.where(np.arange(END) == START, -1.7e308, x),
    "spikes in 1 %": lambda x, rng: np.where(rng.random(END) < 0.01, 1e6 * rng.normal(size=END), x),
    "nothing, then a burst": lambda x, rng: np.where(AFTER, x, 0.0),
    "denormal, then a burst": lambda x, rng: np.where(AFTER, x, 1e-310 * x),
}
LOSSES: dict[str, tuple[Loss, int]] = {
    "squared": (Squared(), 1),
    "huber": (Huber(0.5), 1),
    "gaussian": (Gaussian(), 2),
}


def series(rng: np.random.Generator) -> Floats:
    x = np.zeros(END)
    for t in range(1, END):
        x[t] = 0.9 * x[t - 1] + 0.3 * rng.normal()
    return 0.5 * x + np.sin(np.arange(END) * 0.3)


def learned(x: Floats, loss: str, seed: int) -> tuple[Learner, Floats]:
    """A learner that has met the stream, and |error| of every step."""
    made, outputs = LOSSES[loss]
    learner = Learner(Network(1, outputs, units=8), made, Adam(0.005), seed=seed)
    said = learner.run(x[:-1, None], x[1:])[:, 0]
    return learner, np.abs(said - x[1:])


def finite(learner: Learner) -> bool:
    return all(np.isfinite(array).all() for array in vars(learner.state).values())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", WRONG)
def test_the_error_is_back_to_normal_within_200_steps(name: str, loss: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = series(rng)
    _, usual = learned(x, loss, seed)
    wrong = WRONG[name](x, rng)
    learner, errors = learned(wrong, loss, seed)
    assert finite(learner)
    last = np.median(np.abs(np.diff(wrong[SOON:])))
    # A burst is a stream that begins at START: what 200 steps can learn is not all there is.
    allowed = 2 * np.median(usual[SOON:]) if "spike" in name else 1.2 * last
    assert np.median(errors[SOON:]) < allowed
    if "spike" in name:
        assert learner.capped >= 1


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("scale", [1e-310, 1e-6, 1e6, 1e300])
def test_no_scale_makes_anything_infinite(loss: str, scale: float) -> None:
    x = np.where(AFTER, scale, 1.0) * series(np.random.default_rng(0))
    learner, _ = learned(x, loss, 0)
    assert finite(learner)
    assert (learner.capped > 900) == (scale > 1)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_constant_is_soon_known(loss: str) -> None:
    x = np.where(AFTER, 0.7, series(np.random.default_rng(0)))
    _, errors = learned(x, loss, 0)
    assert errors[SOON:].max() < 0.05
