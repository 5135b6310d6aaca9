"""Exact real-time recurrent learning against automatic differentiation through all of the past."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from support.autograd import network_logits
from tidegate import cells
from tidegate._core.errors import UsageError
from tidegate.learn import SGD, Adam, Learner, Network, Softmax
from tidegate.learn.exact import ExactLearner

ONLINE = [name for name in cells.names() if name not in ("gru2014", "mgu", "layer_norm_lstm")]
STEPS = 12


def data(steps: int = STEPS):
    rng = np.random.default_rng(5)
    return rng.normal(size=(steps, 3)), rng.normal(size=(steps, 2))


def total_slopes(network: Network, weights: np.ndarray, xs, targets) -> np.ndarray:
    """d (sum of all losses) / d weights, nothing truncated."""
    leaf = torch.tensor(weights, requires_grad=True)
    logits = network_logits(network.plan, leaf, xs, truncated=False)
    errors = [(z - torch.tensor(t)) ** 2 for z, t in zip(logits, targets, strict=True)]
    return torch.autograd.grad(0.5 * torch.stack(errors).sum(), leaf)[0].numpy()


class Adding(SGD):
    """Gradients are added up beside weights that stay."""

    moments = ("sum",)

    def update(self, weight, gradient, moment, c):
        rule = super().update(weight, gradient * 0.0, moment, c)
        rule.moments["sum"] = moment.sum + gradient
        return rule


@pytest.mark.parametrize("cell", ONLINE)
def test_gradients_are_those_of_the_whole_past(cell: str) -> None:
    network = Network(3, 2, cell=cell, units=4, scale=0.6)
    learner = ExactLearner(network, optimiser=Adding(0.1), seed=3)
    xs, targets = data()
    learner.run(xs, targets)
    expected = total_slopes(network, network.initial(3), xs, targets)
    np.testing.assert_allclose(learner._state.moments[0], expected, atol=1e-10)
    assert abs(expected).max() > 0.01


def test_the_truncated_learner_differs_where_units_see_each_other() -> None:
    network, (xs, targets) = Network(3, 2, cell="lstm", units=4, scale=0.6), data()
    exact = ExactLearner(network, optimiser=SGD(0.1), seed=3)
    truncated = Learner(network, optimiser=SGD(0.1), seed=3, dtype=np.float64)
    for learner in (exact, truncated):
        learner.run(xs, targets)
    assert abs(exact.weights - truncated.state.weights).max() > 1e-4


def test_both_are_one_where_units_see_only_themselves() -> None:
    network, (xs, targets) = Network(3, 2, cell="elstm", units=4), data(40)
    exact = ExactLearner(network, optimiser=Adam(0.02), seed=3)
    truncated = Learner(network, optimiser=Adam(0.02), seed=3, dtype=np.float64)
    ours, theirs = exact.run(xs, targets), truncated.run(xs, targets)
    np.testing.assert_allclose(ours, theirs, atol=1e-10)
    np.testing.assert_allclose(exact.weights, truncated.state.weights, atol=1e-10)


def test_a_missing_target_teaches_nothing_but_time_goes_on() -> None:
    network, (xs, targets) = Network(3, 2, cell="rnn", units=3), data()
    learner = ExactLearner(network, optimiser=SGD(0.1), seed=3)
    learner.run(xs[:5], np.full((5, 2), np.nan))
    np.testing.assert_array_equal(learner.weights, network.initial(3))
    learner.learn(xs[5], targets[5])
    expected = network.initial(3) - 0.1 * total_slopes(
        network, network.initial(3), xs[:6], np.vstack([_free(network, xs[:5]), targets[5]])
    )
    np.testing.assert_allclose(learner.weights, expected, atol=1e-10)


def _free(network: Network, xs: np.ndarray) -> np.ndarray:
    """Targets that are met already."""
    logits = network_logits(network.plan, torch.tensor(network.initial(3)), xs, truncated=False)
    return torch.stack(logits).numpy()


def test_predictor_and_forget_start_from_empty_memories() -> None:
    network, (xs, targets) = Network(3, 2, cell="lstm", units=3), data()
    learner = ExactLearner(network, optimiser=SGD(0.1), seed=3)
    learner.run(xs, targets)
    predictor = learner.predictor()
    learner.forget()
    first = learner.learn(xs[0], targets[0])
    np.testing.assert_allclose(predictor.run(xs[:1])[0], first, atol=1e-12)


def test_classes_and_shapes() -> None:
    learner = ExactLearner(Network(3, 2, cell="rnn", units=3), Softmax(), seed=3)
    assert learner.run(data()[0], np.zeros((STEPS, 1))).shape == (STEPS, 2)
    assert learner.run(np.zeros((0, 3)), np.zeros((0, 1))).shape == (0, 2)


def test_more_layers_and_second_products_are_refused() -> None:
    with pytest.raises(UsageError, match="a network of one layer, got 2 layers"):
        ExactLearner(Network(3, 2, units=(3, 3)))
    with pytest.raises(UsageError, match="second"):
        ExactLearner(Network(3, 2, cell="mgu", units=3))
