"""Half-lives in records: those that the equations give, and nothing else is touched."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tidegate.forecast import Forecaster, ForecasterModel
from tidegate.forecast.half_lives import EVERY, LOOKS
from tidegate.learn import Learner

ROWS = 14 * EVERY


def _load(rows: int) -> Iterator[tuple[float, np.ndarray]]:
    """Hours with a day in them; no value is missing."""
    rng = np.random.default_rng(3)
    for n in range(rows):
        yield 3600.0 * n, np.array([30 * np.sin(n * 2 * np.pi / 24) + rng.normal()])


def _forget_gates(learner: Learner, x: np.ndarray) -> np.ndarray:
    """log f of every unit (units,), from the weights by the published equation."""
    state = learner.state
    weights = learner.network.plan.weights.views(state.weights)
    f = learner.network.plan.layers[0].equations.slots.index("f")
    z = state.hidden.reshape(-1) @ weights["layer0.hidden"][:, f].astype(np.float64)
    z = z + x @ weights["layer0.input"][:, f] + weights["layer0.bias"][0, f]
    return -np.log1p(np.exp(-z))


def test_they_are_those_of_the_mean_log_retention_of_the_last_looks() -> None:
    model = ForecasterModel(Forecaster(units=3))
    kept: dict[str, np.ndarray] = {}
    for n, (time, values) in enumerate(_load(ROWS)):
        model.predict(time)
        if n and n % EVERY == 0:
            seen = model.forecaster.seen(time)
            for (name, learner), x in zip(model.forecaster.networks().items(), seen, strict=True):
                now = _forget_gates(learner, x)
                before = kept.get(name, now)
                kept[name] = before + (now - before) / min(n // EVERY, LOOKS)
        model.learn(values, time)
        model.path()
    expected = {name: np.log(2) / -np.median(one) for name, one in kept.items()}
    assert model.half_lives is not None and len(expected) > 5
    assert model.half_lives == pytest.approx(expected, rel=6e-3)
    assert min(expected.values()) < 0.9 * max(expected.values())


@pytest.mark.parametrize("cut", [EVERY - 2, EVERY + 10])
def test_they_go_on_where_they_were_put_down(cut: int) -> None:
    whole, first, second = (ForecasterModel(Forecaster(units=3)) for _ in range(3))
    for n, (time, values) in enumerate(_load(2 * EVERY + 5)):
        if n == cut:
            second.restore(first.state())
        for model in (whole, first if n < cut else second):
            model.predict(time)
            model.learn(values, time)
            model.path()
        if n >= cut:
            assert second.half_lives == whole.half_lives
    assert min(x or 0 for x in (whole.half_lives or {}).values()) > 0


def test_looking_changes_no_forecast(monkeypatch: pytest.MonkeyPatch) -> None:
    def said() -> list[float]:
        model, found = ForecasterModel(Forecaster(units=3)), []
        for time, values in _load(3 * EVERY):
            found.append(model.predict(time).value)
            model.learn(values, time)
            model.path()
        return found

    looked_at = said()
    monkeypatch.setattr(ForecasterModel, "_look", lambda self, time: None)
    assert said()[1:] == looked_at[1:]


def test_a_model_without_networks_has_none() -> None:
    assert ForecasterModel(Forecaster(units=0)).half_lives is None
    assert set((ForecasterModel(Forecaster(units=2)).half_lives or {"": 1.0}).values()) == {None}
