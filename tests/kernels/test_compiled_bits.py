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
