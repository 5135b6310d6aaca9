"""What is seen of a compiled learner at work is what the reference computes, and a copy."""

from __future__ import annotations

import numpy as np
import pytest

from support.cells import ONLINE, name
from tidegate.cells import LSTM, Cell
from tidegate.kernels.engine import ReferenceEngine
from tidegate.kernels.looking import looking
from tidegate.learn import Learner, Network


def learners(cell: Cell, units: tuple[int, ...]) -> tuple[Learner, np.ndarray]:
    """A learner some steps into a stream, and the coming input, which is partly unknown."""
    rng = np.random.default_rng(7)
    learner = Learner(Network(3, 2, cell=cell, units=units), seed=2, dtype=np.float64)
    xs = rng.normal(size=(9, 3))
    learner.run(xs, rng.normal(size=(9, 2)))
    return learner, np.array([0.3, np.nan, -400.0])


@pytest.mark.parametrize("cell", ONLINE, ids=name)
@pytest.mark.parametrize("units", [(5,), (13, 3)])
def test_the_same_as_the_reference(cell: Cell, units: tuple[int, ...]) -> None:
    learner, x = learners(cell, units)
    seen = looking(learner._online, learner._engine)(x)
    reference = looking(learner._online, ReferenceEngine(learner._online, learner.state))(x)
    assert len(seen) == len(units)
    for one, other in zip(seen, reference, strict=True):
        for part in ("slots", "past", "parameters"):
            got, expected = getattr(one, part), getattr(other, part)
            np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def test_what_was_seen_does_not_change_and_learning_is_not_touched() -> None:
    learner, x = learners(LSTM(), (5,))
    twin, _ = learners(LSTM(), (5,))
    look = looking(learner._online, learner._engine)
    seen = look(x)[0]
    before = seen.slots.copy(), seen.past.copy()
    for target in (1.0, -1.0, 0.5):
        look(x)
        learner.learn(x, [target, target])
        twin.learn(x, [target, target])
    assert (seen.slots == before[0]).all() and (seen.past == before[1]).all()
    assert not np.array_equal(look(x)[0].past, seen.past)
    assert learner.predict(x).tobytes() == twin.predict(x).tobytes()


def test_it_goes_on_after_a_state_is_restored() -> None:
    learner, x = learners(LSTM(), (5,))
    look, state = looking(learner._online, learner._engine), learner.state
    before = look(x)[0].slots
    learner.learn(x, [3.0, 3.0])
    assert not np.array_equal(look(x)[0].slots, before)
    learner.state = state
    assert np.array_equal(look(x)[0].slots, before)
