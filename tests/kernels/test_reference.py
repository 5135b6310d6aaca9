"""The reference kernels against automatic differentiation and against themselves, cut up."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from support.autograd import network_logits
from support.cells import EVERY, MGU, ONLINE, name
from tidegate import learn
from tidegate._core.errors import UsageError
from tidegate.kernels.plan import Optimiser, Plan, Rule
from tidegate.kernels.reference import Online
from tidegate.kernels.through_time import full_gradient
from tidegate.learn import SGD, Network, Squared

STEPS = 25


class Recorder(Optimiser):
    """Keeps the gradient as a moment and leaves the weights alone."""

    moments = ("gradient",)

    def coefficients(self, updates):
        return {}

    def update(self, weight, gradient, moment, c):
        return Rule(weight, {"gradient": gradient})


def network(cell, units, direct=True) -> Network:
    return Network(inputs=3, outputs=2, cell=cell, units=units, direct=direct)


def data(seed=0, steps=STEPS):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(steps, 3)), rng.normal(size=(steps, 2))


def online_gradient(plan: Plan, weights, xs, targets):
    engine = Online(plan, Squared(), Recorder())
    state = engine.start(weights)
    logits, _ = engine.run(state, xs, targets)
    return state.moments[0], logits


def assert_close(got, expected):
    assert np.max(abs(got - expected)) <= 1e-12 * max(1.0, np.max(abs(expected)))


@pytest.mark.parametrize("cell", ONLINE, ids=name)
@pytest.mark.parametrize("units", [1, 2, 3, 17, (3, 2)], ids=str)
def test_online_gradient_is_autograd_under_the_truncation(cell, units):
    net = network(cell, units)
    weights, (xs, targets) = net.initial(seed=1), data()
    got, logits = online_gradient(net.plan, weights, xs, targets)
    flat = torch.tensor(weights, requires_grad=True)
    expected = network_logits(net.plan, flat, xs, truncated=True)
    loss = 0.5 * ((expected[-1] - torch.tensor(targets[-1])) ** 2).sum()
    loss.backward()
    assert_close(logits, torch.stack(expected).detach().numpy())
    assert np.any(flat.grad.numpy() != 0)
    assert_close(got, flat.grad.numpy())


@pytest.mark.parametrize("cell", EVERY, ids=name)
@pytest.mark.parametrize("units", [1, 5, (3, 2)], ids=str)
def test_full_gradient_is_autograd_through_every_path(cell, units):
    net = network(cell, units, direct=False)
    weights, (xs, targets) = net.initial(seed=2), data(1, steps=8)
    start = Online.start(_any_engine(net.plan), weights)
    got = full_gradient(net.plan, Squared(), weights, start.memory, start.hidden, xs, targets)
    flat = torch.tensor(weights, requires_grad=True)
    logits = torch.stack(network_logits(net.plan, flat, xs, truncated=False))
    (0.5 * ((logits - torch.tensor(targets)) ** 2).sum()).backward()
    assert_close(got, flat.grad.numpy())


def _any_engine(plan: Plan) -> Online:
    engine = object.__new__(Online)  # the MGU runs, though it is refused for learning
    object.__setattr__(engine, "plan", plan)
    object.__setattr__(engine, "optimiser", SGD())
    object.__setattr__(engine, "averaging", None)
    return engine


def test_a_cell_whose_units_are_alone_has_the_exact_gradient_online():
    net = network("update_gate", 4)
    weights, (xs, targets) = net.initial(seed=3), data(2)
    targets[:-1] = np.nan
    online, _ = online_gradient(net.plan, weights, xs, targets)
    memory = np.zeros(4)
    full = full_gradient(net.plan, Squared(), weights, memory, memory, xs, targets)
    assert_close(online, full)


def test_a_cell_with_a_second_product_is_refused_online():
    with pytest.raises(UsageError, match=r"MGU: expected .* one product with h .* slots n "):
        Online(network(MGU(), 4).plan, Squared(), SGD())


@pytest.mark.parametrize("cell", ONLINE, ids=name)
def test_whole_one_by_one_and_in_pieces_are_the_same_bits(cell):
    """troubles 1: output must not depend on how the stream is cut."""
    net, (xs, targets) = network(cell, 5), data(3, steps=100)
    engine = Online(net.plan, Squared(), learn.Adam())
    runs = []
    for pieces in ([100], [1] * 100, [1, 13, 40, 46]):
        state = engine.start(net.initial(seed=4).astype(np.float32))
        cuts = np.cumsum(pieces)[:-1]
        parts = zip(np.split(xs, cuts), np.split(targets, cuts), strict=True)
        logits = [
            engine.run(state, x.astype(np.float32), y.astype(np.float32))[0] for x, y in parts
        ]
        runs.append((np.concatenate(logits), state))
    for logits, state in runs[1:]:
        np.testing.assert_array_equal(logits, runs[0][0])
        for array, first in zip(vars(state).values(), vars(runs[0][1]).values(), strict=True):
            np.testing.assert_array_equal(array, first)


def test_a_missing_target_moves_memory_and_traces_but_no_weight():
    net, (xs, _) = network("lstm", 4), data(4)
    engine = Online(net.plan, Squared(), learn.Adam())
    state = engine.start(net.initial(seed=5))
    before = state.copy()
    engine.learn(state, xs[0], np.full(2, np.nan))
    np.testing.assert_array_equal(state.weights, before.weights)
    np.testing.assert_array_equal(state.moments, before.moments)
    assert state.updates == 0 and state.steps == 1
    assert np.any(state.memory != before.memory) and np.any(state.traces != before.traces)


def test_the_error_is_clipped_to_the_norm_and_said_so():
    net, (xs, targets) = network("lstm", 4), data(5)
    moved = []
    for clip, target in ((1.0, targets[0] * 1e9), (1.0, targets[0] * 1e6), (np.inf, targets[0])):
        engine = Online(net.plan, Squared(), Recorder(), clip=clip)
        state = engine.start(net.initial(seed=6))
        _, clipped = engine.learn(state, xs[0], target)
        bias = net.plan.weights.views(state.moments[0])["readout.bias"]
        moved.append((np.linalg.norm(bias), clipped))
    assert moved[0] == (pytest.approx(1.0), True) and moved[1] == (pytest.approx(1.0), True)
    assert not moved[2][1]
