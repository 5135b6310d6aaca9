"""What is learned, what is not, what is forgotten, and what it costs; fixed seeds, wide margins."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest

from support.cells import Block2000, name
from tidegate.cells import GRU, LSTM, LSTM1997, UpdateGate
from tidegate.learn import SGD, Adam, Learner, Network


def cues(count: int):
    """A sign, four empty steps, a question: what was the sign? Inputs, targets, signs."""
    sign = np.random.default_rng(0).choice([-1.0, 1.0], count)
    xs, targets = np.zeros((count, 6, 2)), np.full((count, 6), np.nan)
    xs[:, 0, 0], xs[:, 5, 1], targets[:, 5] = sign, 1, sign
    return xs.reshape(-1, 2), targets.reshape(-1), sign


def last_errors(cell) -> float:
    """Mean absolute error of the last answers; who does not remember is at 1."""
    xs, targets, sign = cues(500)
    learner = Learner(Network(2, 1, cell=cell, units=6), optimiser=Adam(0.02), seed=1)
    answers = learner.run(xs, targets).reshape(-1, 6)[:, 5]
    assert learner.state.updates == 500
    return float(abs(answers - sign)[-50:].mean())


@pytest.mark.parametrize("cell", [LSTM(1.0), GRU(), UpdateGate()], ids=name)
def test_a_cell_that_forgets_learns_to_remember_for_five_steps(cell):
    assert last_errors(cell) < 0.5


def test_without_a_forget_gate_old_signs_drown_the_new_one():
    assert last_errors(LSTM1997()) > 0.8


def test_a_sine_is_predicted_far_better_than_by_repeating():
    wave = np.sin(np.arange(3001) * 0.3)
    learner = Learner(Network(1, 1, units=6), optimiser=SGD(0.1), seed=1)
    outputs = learner.run(wave[:-1, None], wave[1:])[:, 0]
    ours, repeated = abs(outputs - wave[1:])[-500:], abs(np.diff(wave))[-500:]
    assert ours.mean() < 0.2 * repeated.mean()


def test_nothing_is_learned_from_a_random_walk():
    """troubles 32: its changes cannot be predicted, and no skill over persistence appears."""
    change = np.random.default_rng(0).normal(size=3001)
    learner = Learner(Network(1, 1, units=8), optimiser=SGD(0.01))
    outputs = learner.run(change[:-1, None], change[1:])[:, 0]
    ours, persistence = np.mean((outputs - change[1:]) ** 2), np.mean(change[1:] ** 2)
    assert 0.98 < ours / persistence < 1.2


def gap_of_two_beginnings(cell) -> np.ndarray:
    """Differences of predictions on the same steps, from a fresh memory and from a used one."""
    learner = Learner(Network(2, 1, cell=cell, units=4), dtype=np.float64)
    xs = np.random.default_rng(0).normal(size=(300, 2))
    cold, warm = learner.predictor(), learner.predictor()
    warm.run(xs[:50] * 5)
    return abs(cold.run(xs) - warm.run(xs))[:, 0]


@pytest.mark.parametrize("cell", [LSTM(1.0), GRU(), UpdateGate(), Block2000()], ids=name)
def test_two_beginnings_come_together(cell):
    """troubles 7: what a cold start costs is over after a warm-up, for a cell that forgets."""
    gap = gap_of_two_beginnings(cell)
    assert gap[0] > 1e-4 and gap[-1] < 1e-9 * gap.max()


def test_the_cell_of_1997_carries_its_beginning_with_it():
    gap = gap_of_two_beginnings(LSTM1997())
    assert gap[-1] > 1e-3 * gap.max()


@pytest.mark.parametrize("act", ["predict", "learn"])
def test_memory_does_not_grow_with_the_stream(act):
    """troubles 9, 13: 2,000 steps leave less behind than one number each."""
    learner = Learner(Network(1, 1, cell="update_gate", units=2))
    x, target = np.ones(1), np.ones(1)

    def held_after(steps: int) -> int:
        for _ in range(steps):
            learner.predict(x) if act == "predict" else learner.learn(x, target)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    held_after(100)
    tracemalloc.start()
    before = held_after(500)
    growth = held_after(2000) - before
    tracemalloc.stop()
    assert growth < 32_000
