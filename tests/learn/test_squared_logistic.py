"""Squared error of logistic outputs against differences; the geometric rate; the average."""

from __future__ import annotations

import numpy as np
import pytest

from tidegate._core.errors import UsageError
from tidegate.learn import SGD, Learner, Network, RunningAverage
from tidegate.learn.geometric import Geometric
from tidegate.learn.squared_logistic import SquaredLogistic


def test_slopes_are_differences_of_the_value() -> None:
    rng, loss = np.random.default_rng(1), SquaredLogistic()
    logits, targets = rng.normal(size=(50, 3)) * 4, rng.integers(0, 2, (50, 3)).astype(float)
    targets[::7, 1] = np.nan
    found = np.array([loss.error(z, t) for z, t in zip(logits, targets, strict=True)])
    for k in range(3):
        step = np.eye(3)[k] * 1e-6
        slope = (loss.value(logits + step, targets) - loss.value(logits - step, targets)) / 2e-6
        np.testing.assert_allclose(found[:, k], slope, atol=1e-9)
    assert (found[::7, 1] == 0).all()


def test_the_value_is_half_the_squared_error_of_predictions() -> None:
    logits, targets = np.array([[0.3, -2.0]]), np.array([[1.0, 0.0]])
    outputs = 1 / (1 + np.exp(-logits))
    expected = 0.5 * ((outputs - targets) ** 2).sum()
    assert SquaredLogistic().value(logits, targets)[0] == pytest.approx(expected)
    np.testing.assert_allclose(SquaredLogistic().prediction(logits), outputs)


def test_rates_shrink_by_the_factor_at_every_update() -> None:
    rates = Geometric(0.5, 0.99).rates(np.arange(2000))
    np.testing.assert_allclose(rates, [0.5 * 0.99**t for t in range(2000)], rtol=1e-10)
    assert rates[1000] == pytest.approx(0.5 * 4.3e-5, rel=0.01)


@pytest.mark.parametrize("rate, factor", [(-1, 0.9), (0.5, 0.0), (0.5, 1.1), (np.inf, 0.9)])
def test_impossible_rates_are_refused(rate: float, factor: float) -> None:
    with pytest.raises(UsageError, match="Geometric"):
        Geometric(rate, factor)


def test_an_average_without_a_floor_is_the_recursion_it_states() -> None:
    average = RunningAverage(floor=0.0, warmup=0.3)
    network = Network(1, 1, units=2)
    learner = Learner(network, optimiser=SGD(0.2), averaging=average, dtype=np.float64)
    mean, rng = learner.state.weights, np.random.default_rng(0)
    for t in range(60):
        learner.learn(rng.normal(size=1), rng.normal())
        mean = mean + (learner.state.weights - mean) / (1 + 0.3 * t)
    np.testing.assert_allclose(learner.state.average, mean, atol=1e-12)
