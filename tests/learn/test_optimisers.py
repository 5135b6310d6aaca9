"""Optimisers, schedules and averages against torch.optim and against explicit loops."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tidegate._core.errors import UsageError
from tidegate.learn import SGD, Adam, Constant, Harmonic, Momentum, RunningAverage

GRADIENTS = np.random.default_rng(0).normal(size=(50, 6)) * np.logspace(-4, 2, 6)
START = np.linspace(-1, 1, 6)


def ours(optimiser, gradients=GRADIENTS, start=START, dtype=np.float64):
    """The weights after every update."""
    weights = start.astype(dtype)
    moments = {name: np.zeros_like(weights) for name in optimiser.moments}
    path = []
    for t, gradient in enumerate(gradients.astype(dtype)):
        c = {k: dtype(v[0]) for k, v in optimiser.coefficients(np.array([t])).items()}
        rule = optimiser.update(weights, gradient, SimpleNamespace(**moments), SimpleNamespace(**c))
        weights, moments = rule.weight, dict(rule.moments)
        assert weights.dtype == dtype and set(moments) == set(optimiser.moments)
        path.append(weights)
    return np.array(path)


def torchs(kind, **options):
    weights = torch.tensor(START, requires_grad=True)
    optimiser = kind([weights], **options)
    path = []
    for gradient in GRADIENTS:
        weights.grad = torch.tensor(gradient)
        optimiser.step()
        path.append(weights.detach().numpy().copy())
    return np.array(path)


def test_sgd_and_momentum_are_torchs():
    np.testing.assert_allclose(ours(SGD(0.03)), torchs(torch.optim.SGD, lr=0.03), rtol=1e-12)
    np.testing.assert_allclose(
        ours(Momentum(0.03, 0.8)), torchs(torch.optim.SGD, lr=0.03, momentum=0.8), rtol=1e-12
    )


def test_adam_with_a_tiny_epsilon_is_torchs():
    np.testing.assert_allclose(
        ours(Adam(0.03, eps=1e-15)), torchs(torch.optim.Adam, lr=0.03, eps=1e-15), rtol=1e-9
    )


@pytest.mark.parametrize("eps", [1e-8, 1e-3, 10.0])
def test_adam_has_its_epsilon_inside_the_root(eps):
    m = v = np.zeros(6)
    w, path = START, []
    for t, g in enumerate(GRADIENTS, 1):
        m, v = 0.8 * m + 0.2 * g, 0.99 * v + 0.01 * g**2
        m_hat, v_hat = m / (1 - 0.8**t), v / (1 - 0.99**t)
        w = w - 0.05 * m_hat / np.sqrt(v_hat + eps**2)
        path.append(w)
    np.testing.assert_allclose(ours(Adam(0.05, eps, 0.8, 0.99)), path, rtol=1e-11)


def test_small_gradients_come_to_rest_under_a_large_epsilon():
    steps = np.diff(ours(Adam(0.01, eps=1e-3), np.full((200, 6), 1e-9)), axis=0)
    assert np.all(abs(steps) <= 1.1e-8)
    restless = np.diff(ours(Adam(0.01, eps=1e-12), np.full((200, 6), 1e-9)), axis=0)
    assert np.all(abs(restless) > 9e-3)


@pytest.mark.parametrize("optimiser", [SGD(), Momentum(), Adam(), Adam(eps=1e-18)], ids=str)
def test_no_gradient_no_move_in_single_precision(optimiser):
    path = ours(optimiser, np.zeros((5, 6)), dtype=np.float32)
    np.testing.assert_array_equal(path, np.tile(START.astype(np.float32), (5, 1)))


@pytest.mark.parametrize("optimiser", [SGD, Momentum, Adam])
def test_the_rate_follows_its_schedule(optimiser):
    falling = optimiser(Harmonic(0.1, tau=10))
    first = optimiser(0.1).coefficients(np.array([0, 10, 90]))["rate"]
    rates = falling.coefficients(np.array([0, 10, 90]))["rate"]
    np.testing.assert_allclose(rates / first, [1, 0.5, 0.1], rtol=1e-12)


@given(st.floats(0, 10), st.floats(1e-3, 1e9), st.integers(0, 10**12))
def test_schedules_by_their_formula(rate, tau, t):
    assert Harmonic(rate, tau).rates(np.array([t]))[0] == pytest.approx(rate / (1 + t / tau))
    assert Constant(rate).rates(np.array([0, t])).tolist() == [rate, rate]


def test_tables_of_coefficients_are_rows_of_single_updates():
    updates = np.array([0, 1, 5, 1000])
    for optimiser in (SGD(), Momentum(Harmonic(0.1, 3.0)), Adam()):
        table = optimiser.coefficients(updates)
        for n, t in enumerate(updates):
            for name, value in optimiser.coefficients(np.array([t])).items():
                assert table[name].dtype == np.float64 and table[name][n] == value[0]


@given(st.floats(1e-6, 1), st.floats(0, 10))
def test_shares_start_at_1_fall_and_stay_above_the_floor(floor, warmup):
    shares = RunningAverage(floor, warmup).shares(np.arange(1000))
    assert shares[0] == 1 and np.all(np.diff(shares) <= 0) and np.all(shares >= floor)


def test_without_a_floor_and_with_warmup_1_it_is_the_mean():
    numbers = np.random.default_rng(1).normal(size=100)
    shares, average = RunningAverage(floor=0.0, warmup=1.0).shares(np.arange(100)), 7.0
    for number, share in zip(numbers, shares, strict=True):
        average += (number - average) * share
    assert average == pytest.approx(numbers.mean())


@pytest.mark.parametrize(
    ("make", "owner"),
    [
        (lambda: SGD(-0.1), "SGD"),
        (lambda: SGD(np.inf), "SGD"),
        (lambda: Momentum("fast"), "Momentum"),
        (lambda: Momentum(0.1, 1.0), "Momentum momentum"),
        (lambda: Adam(np.nan), "Adam"),
        (lambda: Adam(eps=0.0), "Adam eps"),
        (lambda: Adam(eps=1e-30), "Adam eps"),
        (lambda: Adam(beta1=1.0), "Adam beta1"),
        (lambda: Adam(beta2=-0.1), "Adam beta2"),
        (lambda: Constant(-1.0), "Constant"),
        (lambda: Harmonic(-1.0, 10), "Harmonic"),
        (lambda: Harmonic(0.1, 0), "Harmonic tau"),
        (lambda: RunningAverage(floor=1.5), "RunningAverage floor"),
        (lambda: RunningAverage(warmup=-1.0), "RunningAverage warmup"),
    ],
)
def test_options_that_cannot_be_are_refused_when_they_are_given(make, owner):
    with pytest.raises(UsageError, match=f"^{owner}: expected"):
        make()
