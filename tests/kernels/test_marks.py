"""Coming back to a mark, following a learner, and streams that start anew within a run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.learning import STEPS, Case, assert_same_state
from tidegate.kernels.engine import ReferenceEngine, ReferenceFrozen, pieces
from tidegate.kernels.online.compiled import CompiledEngine, CompiledFrozen
from tidegate.learn import Adam, Gaussian, Momentum, RunningAverage
from tidegate.learn.geometric import Geometric

CASES = [
    Case(cell="gru", units=5, optimiser=Adam(), averaging=RunningAverage(), dtype=np.float32),
    Case(cell=("lstm", "update_gate"), units=(17, 3), loss=Gaussian(), optimiser=Momentum()),
]
KINDS = {"compiled": (CompiledEngine, CompiledFrozen), "numpy": (ReferenceEngine, ReferenceFrozen)}
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.cell)[:20])
every_kind = pytest.mark.parametrize("kind", KINDS)


@every_kind
@every_case
def test_a_learner_comes_back_to_its_mark_to_the_bit(case, kind):
    xs, targets = case.data()
    learner = KINDS[kind][0](case.online(), case.start())
    learner.run(xs[:40], targets[:40])
    state, mark = learner.state, learner.mark()
    first = learner.run(xs[40:], targets[40:])[0]
    ended = learner.state
    learner.rewind(mark)
    assert_same_state(learner.state, state)
    np.testing.assert_array_equal(learner.run(xs[40:], targets[40:])[0], first)
    assert_same_state(learner.state, ended)
    learner.rewind(mark)  # a mark is a copy: what came after has not changed it
    assert_same_state(learner.state, state)


@every_kind
def test_a_mark_with_fewer_updates_begins_the_schedule_anew(kind):
    def learner():
        case = Case(optimiser=Adam(Geometric(0.1, 0.5)))
        return case, KINDS[kind][0](case.online(), case.start())

    (case, one), (_, other) = learner(), learner()
    xs, targets = case.data()
    for engine in (one, other):
        engine.run(xs[:30], targets[:30])
    mark = one.mark()
    assert mark.updates > 20 and mark.steps == 30
    one.rewind(type(mark)(**{**vars(mark), "updates": 0}))
    state = other.state
    state.counts[1] = 0
    other.restore(state)
    for engine in (one, other):
        engine.run(xs[30:], targets[30:])
    assert_same_state(one.state, other.state)


@every_kind
@every_case
def test_starts_within_a_run_are_forgetting_by_hand(case, kind):
    learning, frozen = KINDS[kind]
    (xs, targets), starts = case.data(), np.zeros(STEPS, bool)
    starts[[0, 17, 18, STEPS - 1]] = True
    whole, by_hand = learning(case.online(), case.start()), learning(case.online(), case.start())
    whole.run(xs[:9], targets[:9]), by_hand.run(xs[:9], targets[:9])
    rested, parts = frozen(case.online(), whole.state), []
    for begin, end in ((0, 17), (17, 18), (18, STEPS - 1), (STEPS - 1, STEPS)):
        by_hand.forget()
        parts.append(by_hand.run(xs[begin:end], targets[begin:end])[0])
    predictions = whole.run(xs, targets, starts)[0]
    np.testing.assert_array_equal(predictions, np.concatenate(parts))
    assert_same_state(whole.state, by_hand.state)
    answers = rested.run(xs, starts)
    rested.forget()
    np.testing.assert_array_equal(answers[18:-1], rested.run(xs[18 : STEPS - 1]))
    assert np.any(answers[18:-1] != rested.run(xs[18 : STEPS - 1]))  # memories matter here


@every_kind
@every_case
def test_a_frozen_network_follows_its_learner(case, kind):
    learning, frozen = KINDS[kind]
    xs, targets = case.data()
    learner = learning(case.online(), case.start())
    follower = frozen(case.online(), learner.state)
    learner.run(xs[:50], targets[:50])
    follower.follow(learner.mark())
    wanted = frozen(case.online(), learner.state).run(xs[50:])
    np.testing.assert_array_equal(follower.run(xs[50:]), wanted)


@given(st.lists(st.booleans(), max_size=12))
def test_pieces_cover_a_run_once_and_start_where_they_should(starts):
    found = list(pieces(len(starts), np.array(starts, bool)))
    covered = [step for begin, end, _ in found for step in range(begin, end)]
    assert covered == list(range(len(starts)))
    fresh = [begin for begin, _, fresh in found if fresh]
    assert fresh == [step for step, start in enumerate(starts) if start]


@every_kind
@every_case
def test_a_frozen_network_adopts_averages_and_keeps_its_memories(case, kind):
    xs, targets = case.data()
    if case.averaging is None:
        pytest.skip("keeps no average")
    learner = KINDS[kind][0](case.online(), case.start())
    frozen = KINDS[kind][1](case.online(), case.start())
    frozen.run(xs[:20])
    learner.run(xs, targets)
    frozen.adopt_average(learner.mark())
    went_on = frozen.run(xs[20:40])
    # The same by hand: averaged weights, with memories after twenty steps of the start weights.
    before = KINDS[kind][0](case.online(), case.start())
    before.run(xs[:20], np.full_like(targets[:20], np.nan))
    state = before.state
    state.weights[...] = learner.state.average
    expected = KINDS[kind][1](case.online(), state).run(xs[20:40])
    np.testing.assert_allclose(went_on, expected, rtol=1e-6, atol=1e-6)
