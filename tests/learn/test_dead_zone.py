"""Cross-entropy with a dead zone: its slope, its value, and machine code beside the reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate._core.errors import UsageError
from tidegate.learn import SGD, Learner, Logistic, Network
from tidegate.learn.dead_zone import DeadZoneLogistic

answers = st.sampled_from([0.0, 1.0])


@given(st.floats(-9, 9), answers, st.floats(0.01, 0.6))
def test_the_slope_is_that_of_logistic_shortened_by_the_margin(logit, target, margin) -> None:
    full = Logistic().error(np.array([logit]), np.array([target]))[0]
    found = DeadZoneLogistic(margin).error(np.array([logit]), np.array([target]))[0]
    assert found == pytest.approx(np.sign(full) * max(abs(full) - margin, 0), abs=1e-12)


@given(st.floats(-6, 6), answers, st.floats(0.05, 0.6))
def test_the_slope_is_the_difference_of_the_value(logit, target, margin) -> None:
    loss, targets = DeadZoneLogistic(margin), np.array([target])
    up, down = (loss.value(np.array([logit + d]), targets) for d in (1e-5, -1e-5))
    slope = loss.error(np.array([logit]), targets)[0]
    assert (up - down) / 2e-5 == pytest.approx(slope, abs=1e-4)


def test_what_is_not_known_costs_and_teaches_nothing() -> None:
    loss, targets = DeadZoneLogistic(0.2), np.array([np.nan, 1.0])
    logits = np.array([-3.0, 3.0])
    assert loss.error(logits, targets).tolist() == [0.0, 0.0] and loss.value(logits, targets) == 0


def test_a_learner_comes_to_rest_where_the_zone_begins() -> None:
    network = Network(1, 2, units=2, direct=False)
    learner = Learner(network, DeadZoneLogistic(0.1), SGD(0.5), seed=1)
    told = learner.run(np.ones((4000, 1)), np.tile([1.0, 0.0], (4000, 1)))
    np.testing.assert_allclose(told[-1], [0.9, 0.1], atol=0.01)
    weights = learner.state.weights
    learner.run(np.ones((500, 1)), np.tile([1.0, 0.0], (500, 1)))
    np.testing.assert_allclose(learner.state.weights, weights, atol=1e-4)


@pytest.mark.parametrize("margin", [0.0, 1.0, -0.1, np.nan])
def test_impossible_margins_are_refused(margin: float) -> None:
    with pytest.raises(UsageError, match="margin"):
        DeadZoneLogistic(margin)
