"""A row in two calls into machine code: what its parts do one after the other."""

from __future__ import annotations

from math import isfinite

import numpy as np
import pytest

from tidegate.forecast import Forecaster
from tidegate.forecast.follower import Follower, Task
from tidegate.forecast.judging.alarms import ShiftDetector
from tidegate.forecast.judging.judge import Judge
from tidegate.forecast.model.core import Asked, Core
from tidegate.forecast.model.features import Place
from tidegate.forecast.model.gated import GatedExperts
from tidegate.forecast.timing.timeline import Timeline

LEVELS, PERIOD, LEAST, ROWS = (0.5, 0.9), 7, -3.0, 700


def rows() -> list[tuple[float, float]]:
    """A weekly stream and a column beside it: with holes, a spike and a shift that is a blip."""
    rng = np.random.default_rng(5)
    values = np.sin(np.arange(ROWS) * 2 * np.pi / PERIOD) + 0.3 * rng.normal(size=ROWS)
    values[400:460] += 8.0
    values[250], values[[50, 51, 300]] = 20.0, np.nan
    columns = rng.normal(size=ROWS)
    columns[60] = np.nan
    return list(zip(values.tolist(), columns.tolist(), strict=True))


class Parts:
    """The parts of a follower, each called from Python."""

    def __init__(self) -> None:
        self.core = Core((PERIOD,), 1, 0, seed=0)
        self.judge, self.detector = Judge(LEVELS, self.core.around), ShiftDetector()

    def predict(self, place: Place) -> tuple[float, list[float]]:
        """The value, and the finite ends of its intervals."""
        core = self.core
        if not core.ready:
            return core.features.last, []
        asked = core.ask(place)
        value, usual = core.value_of(asked.mixed), core.features.scale.value
        ends = [
            value + usual * reach
            for below, above in self.judge.widths(self._given(asked))
            for reach in (-below, above)
        ]
        return max(value, LEAST), [max(end, LEAST) for end in ends if isfinite(end)]

    def meet(self, place: Place, value: float, column: float) -> tuple[float | None, object]:
        """The rank of the error, and the shift."""
        core, features, rank = self.core, self.core.features, None
        asked = core.ask(place)
        if core.ready and isfinite(value):
            change = (value - features.last) / features.scale.value
            rank = self.judge.learn(self._given(asked), change - asked.mixed)
        usual = features.slots[0].average(place.slots[0])
        shift = self.detector.update(value - (usual if isfinite(usual) else features.level))
        if shift is not None:
            for ridge in core.ridges:
                ridge.loosen(1 / 0.7 if shift.back else 0.7)
        core.observe(place, value, asked)
        features.see_columns(np.array([column]))
        return rank, shift

    def _given(self, asked: Asked) -> list[float]:
        """What the size of the error may depend on."""
        features = self.core.features
        apart = (features.last - features.level) / features.scale.value
        return [*self.core.doubts(asked), apart + asked.mixed, asked.mixed]


def test_a_row_in_one_call_is_what_its_parts_do_one_after_the_other() -> None:
    parts, shifts = Parts(), []
    follower = Follower(Task(1, LEVELS, least=LEAST, units=0), Timeline(None), None, (PERIOD,))
    for n, (value, column) in enumerate(rows()):
        place, said = Place((n,)), follower.predict(None)
        ends = [end for interval in said.intervals.values() for end in interval]
        expected, expected_ends = parts.predict(place)
        assert said.value == pytest.approx(expected, rel=1e-9, nan_ok=True)
        assert ends == pytest.approx(expected_ends, rel=1e-9)
        outcome = follower.meet(value, np.array([column]), None)
        assert (outcome.score, outcome.shift) == parts.meet(place, value, column)
        assert ("missing" in outcome.flags) == (not isfinite(value + column))
        assert ("alarm" in outcome.flags) == (outcome.shift is not None)
        shifts += [outcome.shift] if outcome.shift else []
    np.testing.assert_allclose(follower.core.memory, parts.core.memory, rtol=1e-9, atol=1e-12)
    assert [shift.back for shift in shifts] == [False, True]


def test_weights_of_experts_are_those_of_the_moment() -> None:
    follower = Follower(Task(1, LEVELS, units=0), Timeline(None), None, (PERIOD,))
    for value, column in rows()[:40]:
        follower.meet(value, np.array([column]), None)
    weights = follower.predict(None).experts
    before = dict(weights)
    assert before == dict(zip(follower.core.names, follower.core.stack.weights, strict=True))
    for value, column in rows()[40:80]:
        follower.meet(value, np.array([column]), None)
    assert weights == before != dict(follower.predict(None).experts)
    assert "nobody" not in weights and weights.get("nobody") is None


def test_the_experts_are_asked_once_for_each_row(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, predict = [], GatedExperts.predict
    monkeypatch.setattr(GatedExperts, "predict", lambda self: asked.append(1) or predict(self))
    forecaster = Forecaster(units=2, horizon=3)
    for hour, (value, _) in enumerate(rows()[:60]):
        forecaster.predict(3600.0 * hour)
        forecaster.learn(value, time=3600.0 * hour)
        before = len(asked)
        forecaster.forecast(3)
    forecaster.learn(1.0, time=3600.0 * 60)
    assert len(asked) == before + 1  # by the leads that learn; what is said next says the same


def test_what_was_asked_is_forgotten_when_weights_come_from_elsewhere() -> None:
    first, second = Forecaster(units=2), Forecaster(units=2, seed=1)
    for hour, (value, column) in enumerate(rows()[:60]):
        first.learn(value, time=3600.0 * hour)
        second.learn(column, time=3600.0 * hour)
    before = first.predict().value
    first.go_on_with(second.core.weights)
    assert first.predict().value != before
