"""Losses against torch and scipy; errors against the slopes of the losses themselves."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from torch.nn import functional as theirs

from tidegate._core.errors import UsageError
from tidegate.learn import Gaussian, Huber, Logistic, Softmax, Squared

RNG = np.random.default_rng(0)
LOGITS = RNG.normal(size=(20, 4)) * 3
YES_NO = RNG.integers(0, 2, (20, 4)).astype(float)
CLASSES = RNG.integers(0, 4, (20, 1)).astype(float)
NUMBERS = RNG.normal(size=(20, 4))


def tensors(*arrays):
    return [torch.tensor(array) for array in arrays]


def test_squared_is_half_the_squared_error():
    want = theirs.mse_loss(*tensors(LOGITS, NUMBERS), reduction="none").sum(1) / 2
    np.testing.assert_allclose(Squared().value(LOGITS, NUMBERS), want)
    np.testing.assert_array_equal(Squared().prediction(LOGITS), LOGITS)


def test_logistic_is_binary_cross_entropy():
    logits, targets = tensors(LOGITS * 30, YES_NO)
    want = theirs.binary_cross_entropy_with_logits(logits, targets, reduction="none").sum(1)
    np.testing.assert_allclose(Logistic().value(LOGITS * 30, YES_NO), want)
    np.testing.assert_allclose(Logistic().prediction(LOGITS), torch.tensor(LOGITS).sigmoid())


def test_softmax_is_cross_entropy():
    logits, classes = tensors(LOGITS * 300, CLASSES[:, 0].astype(int))
    want = theirs.cross_entropy(logits, classes, reduction="none")
    np.testing.assert_allclose(Softmax().value(LOGITS * 300, CLASSES), want, atol=1e-12)
    np.testing.assert_allclose(Softmax().prediction(LOGITS), torch.tensor(LOGITS).softmax(1))


def test_gaussian_is_the_negative_log_density():
    targets = NUMBERS[:, :2]
    mean, scale = LOGITS[:, :2], np.exp(LOGITS[:, 2:])
    np.testing.assert_allclose(
        Gaussian().value(LOGITS, targets), -norm.logpdf(targets, mean, scale).sum(1)
    )
    torchs = theirs.gaussian_nll_loss(
        *tensors(mean, targets, scale**2), full=True, reduction="none", eps=1e-300
    ).sum(1)
    np.testing.assert_allclose(Gaussian().value(LOGITS, targets), torchs)
    np.testing.assert_allclose(Gaussian().prediction(LOGITS), np.hstack([mean, scale]))


def test_huber_is_squared_near_and_absolute_far():
    loss, width = Huber(width=2.0), 2.0
    near, far = np.array([[1e-4]]), np.array([[1e8]])
    zero = np.zeros((1, 1))
    assert loss.value(near, zero) == pytest.approx(Squared().value(near, zero), rel=1e-6)
    assert loss.value(far, zero) == pytest.approx(width * 1e8, rel=1e-6)


CASES = {
    "squared": (Squared(), 3, NUMBERS[0, :3]),
    "huber": (Huber(width=0.5), 3, NUMBERS[0, :3]),
    "logistic": (Logistic(), 3, YES_NO[0, :3]),
    "softmax": (Softmax(), 3, np.array([2.0])),
    "gaussian": (Gaussian(), 4, NUMBERS[0, :2]),
}


@pytest.mark.parametrize("case", CASES)
@given(st.data())
def test_the_error_is_the_slope_of_the_value(case, data):
    loss, outputs, target = CASES[case]
    numbers = st.floats(-3, 3)
    logits = np.array(data.draw(st.lists(numbers, min_size=outputs, max_size=outputs)))
    h = 1e-6
    slopes = [
        (loss.value(logits + h * unit, target) - loss.value(logits - h * unit, target)) / (2 * h)
        for unit in np.eye(outputs)
    ]
    error = loss.error(logits, target)
    np.testing.assert_allclose(error, slopes, rtol=1e-6, atol=1e-6 * (1 + abs(error).max()))


@pytest.mark.parametrize("case", CASES)
def test_a_missing_target_teaches_nothing_and_costs_nothing(case):
    loss, outputs, target = CASES[case]
    logits = LOGITS[0, : outputs % 5] if outputs < 4 else LOGITS[0]
    nothing = np.full_like(target, np.nan)
    np.testing.assert_array_equal(loss.error(logits, nothing), np.zeros(outputs))
    assert loss.value(logits, nothing) == 0
    if len(target) > 1:  # the others teach as ever
        part = target.copy()
        part[0] = np.nan
        own = np.arange(outputs) % len(target) == 0
        full = loss.error(logits, target)
        np.testing.assert_array_equal(loss.error(logits, part), np.where(own, 0, full))


@pytest.mark.parametrize("case", CASES)
def test_single_precision_stays_single(case):
    loss, outputs, target = CASES[case]
    logits = np.linspace(-1, 1, outputs, dtype=np.float32)
    assert loss.error(logits, target.astype(np.float32)).dtype == np.float32
    assert loss.prediction(logits).dtype == np.float32


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("size", [40.0, -40.0])
def test_far_logits_give_finite_errors_without_a_warning(case, size):
    loss, outputs, target = CASES[case]
    for logits in (np.full(outputs, size), size * np.eye(outputs)[0]):
        assert np.all(np.isfinite(loss.error(logits, target)))
        assert np.isfinite(loss.value(logits, target))


@pytest.mark.parametrize("case", ["squared", "huber", "logistic", "gaussian"])
@pytest.mark.parametrize("target", [1e30, -1e30, 1e10, np.inf, -np.inf])
def test_an_outlier_pulls_with_a_finite_force_in_single_precision(case, target):
    """troubles 15: 1e30 is no missing value and must not kill what meets it; 1e39 rounds to inf."""
    loss, outputs, targets = CASES[case]
    for size in (1.0, 0.0, -60.0):
        logits = np.full(outputs, size, np.float32)
        error = loss.error(logits, np.full(len(targets), target, np.float32))
        assert np.all(np.isfinite(error))
        assert np.all(np.sign(error[: len(targets)]) == -np.sign(target))
    if case == "huber":
        np.testing.assert_allclose(abs(error), 0.5, rtol=1e-6)


def test_a_perfect_fit_is_no_division_by_nothing():
    """A constant stream drives the scale down for ever."""
    error = Gaussian().error(np.array([0.5, -300.0], np.float32), np.array([0.5], np.float32))
    np.testing.assert_array_equal(error, [0, 1])


@pytest.mark.parametrize("target", [-1.0, 3.0, 0.5])
def test_what_is_no_class_is_refused(target):
    for act in (Softmax().error, Softmax().value):
        with pytest.raises(
            UsageError, match=rf"Softmax target: .*a class from 0 to 2, got {target:g}\."
        ):
            act(np.zeros(3), np.array([target]))


@pytest.mark.parametrize("width", [0.0, -1.0, np.inf, np.nan])
def test_a_width_that_cannot_be_is_refused(width):
    with pytest.raises(UsageError, match="Huber width"):
        Huber(width=width)
