"""A forecaster as a run uses it: what was said before its networks were changed is said anew."""

from __future__ import annotations

import numpy as np
import pytest

from tidegate import Forecaster
from tidegate.forecast import CategoryForecaster, ForecasterModel


def silence(learner) -> None:
    state = learner.state
    state.weights[...] = 0.0
    learner.state = state


def test_a_forecast_follows_networks_that_were_changed(tmp_path) -> None:
    model, values = ForecasterModel(Forecaster(units=4)), np.random.default_rng(0).normal(size=300)
    for value in values:
        model.predict(None)
        model.learn(np.array([value]), None)
        said = model.path()[0].value
    for learner in model.forecaster.networks().values():
        silence(learner)
    model.forget_said()
    model.forecaster.save(tmp_path / "silent")
    expected = Forecaster.load(tmp_path / "silent").predict().value
    assert model.predict(None).value == expected != said


def test_a_share_follows_networks_that_were_changed(tmp_path) -> None:
    forecaster = CategoryForecaster()
    for category in "abc" * 60:
        forecaster.learn(category)
        said = forecaster.predict().probabilities["a"]
    for learner in forecaster.networks().values():
        silence(learner)
    forecaster.forget_said()
    forecaster.save(tmp_path / "silent")
    expected = CategoryForecaster.load(tmp_path / "silent").predict().probabilities["a"]
    assert forecaster.predict().probabilities["a"] == pytest.approx(expected) != said
