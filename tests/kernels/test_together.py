"""Learners that step together say and learn what each does alone, to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from tidegate.cells import LSTM
from tidegate.kernels.online.together import CompiledTogether
from tidegate.kernels.together import Together, together
from tidegate.learn import Adam, Harmonic, Huber, Learner, Network

INPUTS = (3, 1, 20)


def learners() -> list[Learner]:
    optimiser = Adam(Harmonic(0.01, tau=100.0))
    return [
        Learner(Network(n, 1, cell=LSTM(1.0), units=units), Huber(0.1 * n), optimiser, seed=n)
        for n, units in zip(INPUTS, (8, 16, 5), strict=True)
    ]


def stepping(own: list[Learner]) -> Together:
    return together([learner._engine for learner in own], INPUTS)


def test_they_are_as_they_are_alone() -> None:
    rng, alone, own = np.random.default_rng(0), learners(), learners()
    steps = stepping(own)
    assert isinstance(steps, CompiledTogether)
    for step in range(2100):  # past two tables of coefficients
        steps.xs[...] = rng.normal(size=steps.xs.shape)
        steps.targets[...] = np.nan if step % 7 == 0 else rng.normal(size=3)
        said = []
        for k, (learner, n) in enumerate(zip(alone, INPUTS, strict=True)):
            said.append(learner.predict(steps.xs[k, :n])[0])
            learner.learn(steps.xs[k, :n], steps.targets[k])
        if step % 3 == 0:
            steps.predict()
            assert steps.predictions.tolist() == said
        steps.learn()
        assert steps.predictions.tolist() == said
    steps.settle()
    for one, other in zip(alone, own, strict=True):
        assert one.steps == other.steps == 2100
        for name, array in vars(one.state).items():
            np.testing.assert_array_equal(array, getattr(other.state, name), err_msg=name)


@pytest.mark.parametrize("cut", [0, 5, 1500])
def test_they_go_on_from_states_to_the_bit(cut: int) -> None:
    rng = np.random.default_rng(1)
    xs, targets = rng.normal(size=(1600, 3, 20)), rng.normal(size=(1600, 3))
    whole, first, second = learners(), learners(), learners()
    halves = [stepping(first), stepping(second)]
    for own, parts in ((whole, [(stepping(whole), 0, 1600)]), (second, [
        (halves[0], 0, cut), (halves[1], cut, 1600)])):  # fmt: skip
        for steps, begin, end in parts:
            if steps is halves[1]:
                halves[0].settle()
                for mine, theirs in zip(second, first, strict=True):
                    mine.state = theirs.state
            for step in range(begin, end):
                steps.xs[...], steps.targets[...] = xs[step], targets[step]
                steps.learn()
            steps.settle()
        assert own[0].steps == 1600
    for one, other in zip(whole, second, strict=True):
        np.testing.assert_array_equal(one.state.weights, other.state.weights)


def test_the_reference_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, compiled = np.random.default_rng(2), stepping(learners())
    monkeypatch.setenv("TIDEGATE_REFERENCE", "1")
    plain = stepping(learners())
    assert not isinstance(plain, CompiledTogether)
    for _ in range(50):
        compiled.xs[...] = plain.xs[...] = rng.normal(size=plain.xs.shape)
        compiled.targets[...] = plain.targets[...] = rng.normal(size=3)
        for one in (compiled, plain):
            one.predict()
            one.learn()
        assert compiled.predictions == pytest.approx(plain.predictions, rel=1e-3, abs=1e-5)


def test_others_may_use_the_learners_in_between() -> None:
    rng, alone, own = np.random.default_rng(3), learners(), learners()
    steps = stepping(own)
    for step in range(60):
        steps.xs[...], steps.targets[...] = rng.normal(size=steps.xs.shape), rng.normal(size=3)
        steps.predict()
        if step % 10 == 3:
            steps.settle()
            for learner, n in zip((*alone, *own), INPUTS * 2, strict=True):
                learner.predict(np.ones(n))
                learner.run(np.ones((5, n)), np.ones(5))
        steps.learn()
        for k, (learner, n) in enumerate(zip(alone, INPUTS, strict=True)):
            assert steps.predictions[k] == learner.learn(steps.xs[k, :n], steps.targets[k])[0]
    steps.settle()
    assert [learner.steps for learner in own] == [90] * 3


def test_none_at_all() -> None:
    nobody = together([], [])
    nobody.predict()
    nobody.learn()
    assert nobody.predictions.shape == (0,)
