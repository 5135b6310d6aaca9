"""Compiled learners against themselves: cut up, put back, side by side."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest

from support.cells import ONLINE, name
from support.learning import STEPS, Case, assert_same_state
from tidegate.kernels.online.compiled import CompiledEngine
from tidegate.kernels.online.hosting import Table
from tidegate.learn import Adam, Gaussian, Momentum, RunningAverage, Softmax

BITS = [
    Case(cell="lstm", units=16, outputs=7, loss=Softmax(), dtype=np.float32),
    Case(cell="gru", units=5, optimiser=Adam(), averaging=RunningAverage(), dtype=np.float32),
    Case(cell=("lstm", "update_gate"), units=(17, 3), loss=Gaussian(), optimiser=Momentum()),
    *(Case(cell=cell, units=5) for cell in ONLINE if name(cell) in ("Recalling", "OwnOutput")),
]


@pytest.mark.parametrize("case", BITS, ids=lambda case: str(case.cell)[:30])
def test_any_cutting_gives_the_same_bits(case):
    """Calls one by one with predictions in between, pieces, and states put back: all one run."""
    xs, targets = case.data()
    state = case.start()
    state.counts[1] = 1000  # the table of coefficients ends within the run
    whole = CompiledEngine(case.online(), state)
    predictions, flags = whole.run(xs, targets)
    called = CompiledEngine(case.online(), state)
    for t, (x, target) in enumerate(zip(xs, targets, strict=True)):
        if t % 3:
            called.predict(xs[(7 * t) % STEPS])
            np.testing.assert_array_equal(called.predict(x), predictions[t])
        if t % 17 == 5:
            called.restore(called.state)
        if t % 29 == 11:
            called = CompiledEngine(case.online(), called.state)
        prediction, flag = called.learn(x, target)
        np.testing.assert_array_equal(prediction, predictions[t])
        assert flag == flags[t]
    assert_same_state(called.state, whole.state)
    pieces = CompiledEngine(case.online(), state)
    cuts = np.cumsum([1, 13, 40])
    for x, y in zip(np.split(xs, cuts), np.split(targets, cuts), strict=True):
        pieces.run(x, y)
    assert_same_state(pieces.state, whole.state)
    assert whole.steps == STEPS and whole.state.updates <= 1000 + STEPS - 5


FRESH = [*BITS[:3], Case(units=3, inputs=40), Case(units=3, inputs=1, direct=False)]


def _predicted(case: Case, x, then) -> tuple[CompiledEngine, CompiledEngine]:
    """Two learners after some steps and ``then``; the first one had predicted for x before that."""
    xs, targets = case.data()
    engines = (
        CompiledEngine(case.online(), case.start()),
        CompiledEngine(case.online(), case.start()),
    )
    for one in engines:
        one.run(xs[:20], targets[:20])
    engines[0].predict(x)
    for one in engines:
        then(one)
    return engines


def _assert_same_step(one: CompiledEngine, other: CompiledEngine, x, target) -> None:
    got, wanted = one.learn(x, target), other.learn(x, target)
    np.testing.assert_array_equal(got[0], wanted[0])
    assert got[1] == wanted[1]
    assert_same_state(one.state, other.state)


@pytest.mark.parametrize("case", FRESH, ids=lambda case: f"{case.cell}-{case.inputs}"[:30])
def test_what_a_prediction_computed_is_taken_only_where_nothing_changed(case):
    """Learning after predicting: another input, another state, or memories that start anew."""
    xs, targets = case.data()
    x, target = xs[30], targets[30]
    away = CompiledEngine(case.online(), case.start())
    away.run(xs[40:50], targets[40:50])
    other = away.state
    changes = [
        lambda one: None,
        lambda one: one.restore(other),
        lambda one: one.forget(),
        lambda one: one.learn(x, target),
        lambda one: one.run(xs[30:33], targets[30:33]),
        lambda one: (one.learn(x, target), one.forget()),
    ]
    for then in changes:
        _assert_same_step(*_predicted(case, x, then), x, target)
    for position in range(case.inputs):
        near = x.copy()
        near[position] = np.nextafter(np.float32(near[position]), np.float32(9), dtype=np.float32)
        _assert_same_step(*_predicted(case, near, lambda one: None), x, target)


def test_learning_after_predicting_makes_no_second_forward_part():
    """Shown by spoiling what a forward part would start from."""
    case = FRESH[0]
    xs, targets = case.data()
    first, second = _predicted(case, xs[30], lambda one: None)
    wanted, _ = second.learn(xs[30], targets[30])
    first._frame._held["layer0.net"][...] = np.nan
    np.testing.assert_array_equal(first.learn(xs[30], targets[30])[0], wanted)


def test_a_run_begins_with_what_a_prediction_computed_and_goes_on_alone():
    """The same input many times over: only the first step may take the prediction's."""
    case = FRESH[0]
    xs, targets = case.data()
    same = np.repeat(xs[30:31], 5, axis=0)
    first, second = _predicted(case, xs[30], lambda one: None)
    np.testing.assert_array_equal(first.run(same, targets[:5])[0], second.run(same, targets[:5])[0])
    assert_same_state(first.state, second.state)


def test_inputs_that_count_as_the_same_are_the_same():
    """What is not finite counts as 0 and far values are capped, before they are compared."""
    case = FRESH[0]
    xs, targets = case.data()
    x, strange = xs[30].copy(), xs[30].copy()
    x[:2], strange[:2] = (0.0, 100.0), (np.nan, 1e9)
    first, second = _predicted(case, x, lambda one: None)
    _assert_same_step(first, second, strange, targets[30])


@pytest.mark.parametrize("case", BITS[:3], ids=lambda case: str(case.cell)[:30])
def test_a_state_comes_back_to_the_bit(case):
    state = case.start()
    rng = np.random.default_rng(2)
    for key, array in vars(state).items():
        if key != "counts":
            array[...] = rng.normal(size=array.shape)
    compiled = CompiledEngine(case.online(), state)
    assert_same_state(compiled.state, state)
    compiled.forget()
    assert_same_state(
        compiled.state,
        replace(
            state,
            traces=state.traces * 0,
            hidden=state.hidden * 0,
            memory=case.start().memory,
        ),
    )


def test_eight_threads_with_learners_of_their_own():
    case = Case(units=16, dtype=np.float32)
    xs, targets = case.data(1000)
    learners = [CompiledEngine(case.online(), case.start()) for _ in range(8)]
    threads = [threading.Thread(target=one.run, args=(xs, targets)) for one in learners]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one in learners[1:]:
        assert_same_state(one.state, learners[0].state)


def test_coefficients_are_computed_in_the_same_rows_wherever_a_run_was_cut():
    case = Case(optimiser=Adam(), averaging=RunningAverage())
    first, second = Table(case.online(), np.dtype(np.float32)), Table(case.online(), np.dtype("f4"))
    assert first.fill(1024) == second.fill(2047) == 1024
    np.testing.assert_array_equal(first.rows, second.rows)
    assert second.fill(2048) == 2048 and not np.array_equal(first.rows, second.rows)
