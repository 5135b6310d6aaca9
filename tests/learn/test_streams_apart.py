"""Several streams through one learner, resets, and memories that count very far."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.cells import ONLINE, name
from tidegate import UsageError
from tidegate.cells import LSTM, LSTM1997, Cell
from tidegate.kernels.plan import State
from tidegate.learn import SGD, Adam, Learner, Network, RunningAverage


def learner(cell: Cell, optimiser: Any = None, averaging: Any = None, seed: int = 1) -> Learner:
    return Learner(Network(1, 1, cell, (5, 4)), None, optimiser, averaging, seed=seed)


def streams(count: int, steps: int) -> Any:
    """(stream, step): each with a level of its own."""
    noise = np.random.default_rng(7).standard_normal((count, steps)) * 0.1
    return noise + np.linspace(-1, 1, count)[:, None]


def halves(series: Any) -> tuple[Any, Any]:
    return series[:-1, None], series[1:, None]


@pytest.mark.parametrize("cell", ONLINE[2:8:2], ids=name)
def test_streams_through_one_learner_do_not_bleed(cell: Cell) -> None:
    """Each of eight interleaved streams equals its solo run, to the bit, whatever the order."""
    table, order = streams(8, 61), np.random.default_rng(3)
    rules = (Adam(0.01), RunningAverage())
    solo = [learner(cell, *rules, seed=n) for n in range(8)]
    expected = [one.run(*halves(table[n])) for n, one in enumerate(solo)]

    shared = learner(cell, *rules)
    states: dict[int, State] = {n: learner(cell, *rules, seed=n).state for n in range(8)}
    found: dict[int, list[Any]] = {n: [] for n in range(8)}
    for start in range(0, 60, 5):
        for key in order.permutation(8).tolist():
            shared.state = states[key]
            xs, targets = halves(table[key, start : start + 6])
            found[key] += list(shared.run(xs, targets))
            states[key] = shared.state
    for n in range(8):
        assert np.array(found[n]).tobytes() == expected[n].tobytes()
        for part, array in vars(solo[n].state).items():
            assert getattr(states[n], part).tobytes() == array.tobytes()


def test_a_state_that_was_taken_does_not_move_on() -> None:
    one = learner(LSTM())
    taken = one.state
    before = {part: array.tobytes() for part, array in vars(taken).items()}
    one.run(*halves(streams(1, 30)[0]))
    assert {part: array.tobytes() for part, array in vars(taken).items()} == before
    one.state = taken
    taken.weights[...] = 9
    assert one.state.weights.tobytes() == before["weights"]


@pytest.mark.parametrize("cell", ONLINE[::2], ids=name)
def test_a_reset_acts_before_its_step(cell: Cell) -> None:
    """Forgetting before step 3 gives what a fresh stream gives from its first step on."""
    still = SGD(0.0)
    xs, targets = halves(streams(1, 41)[0])
    reset, fresh = learner(cell, still), learner(cell, still)
    reset.run(xs[:3], targets[:3])
    reset.forget()
    assert reset.run(xs[3:], targets[3:]).tobytes() == fresh.run(xs[3:], targets[3:]).tobytes()
    for part in ("traces", "memory", "hidden"):
        assert getattr(reset.state, part).tobytes() == getattr(fresh.state, part).tobytes()

    frozen, new = learner(cell).predictor(), learner(cell).predictor()
    frozen.run(xs[:3])
    frozen.forget()
    assert frozen.run(xs[3:]).tobytes() == new.run(xs[3:]).tobytes()


def test_forgetting_late_or_not_at_all_is_seen() -> None:
    xs, targets = halves(streams(1, 41)[0])
    kept, fresh = learner(LSTM(), SGD(0.0)), learner(LSTM(), SGD(0.0))
    kept.run(xs[:3], targets[:3])
    assert kept.run(xs[3:], targets[3:]).tobytes() != fresh.run(xs[3:], targets[3:]).tobytes()


def writing(cell: Cell, retention: float, write: float, dtype: Any = np.float32) -> Learner:
    """A learner at rest whose one unit keeps ``retention`` and writes ``write`` at each step."""
    one = Learner(Network(1, 1, cell, 1), None, SGD(0.0), seed=0, dtype=dtype)
    state = one.state
    state.weights[...] = 0
    biases = one.network.plan.weights.views(state.weights)["layer0.bias"][0, :, 0]
    slots = one.network.plan.layers[0].equations.slots
    wanted = {"i": 50.0, "g": np.arctanh(write) if write < 1 else 20.0}
    if "f" in slots:
        wanted["f"] = np.log(retention / (1 - retention)) if retention < 1 else 50.0
    for slot, bias in wanted.items():
        biases[slots.index(slot)] = bias
    one.state = state
    return one


def memory_after(one: Learner, steps: int) -> float:
    one.run(np.zeros((steps, 1)), np.full((steps, 1), np.nan))
    return float(one.state.memory[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_five_thousand_unit_writes_are_five_thousand(dtype: Any) -> None:
    """Half precision stalls at 2,048 (float16) or 256 (bfloat16)."""
    assert memory_after(writing(LSTM(), 1.0, 1.0, dtype), 5_000) == 5_000
    assert memory_after(writing(LSTM1997(), 1.0, 1.0, dtype), 5_000) == 5_000


@pytest.mark.parametrize("dtype", [np.float16, "e", np.complex64, np.int32, bool])
def test_half_precision_and_what_is_no_float_is_refused(dtype: Any) -> None:
    with pytest.raises(UsageError, match="float32 or float64"):
        Learner(Network(1, 1, "lstm", 4), dtype=dtype)


def test_a_forget_gate_bounds_what_a_memory_without_one_piles_up() -> None:
    assert memory_after(writing(LSTM(), 0.99, 0.1), 100_000) == pytest.approx(10, rel=1e-4)
    assert memory_after(writing(LSTM1997(), 1.0, 0.1), 100_000) == pytest.approx(1e4, rel=1e-3)


def test_a_full_memory_heals_after_a_forget_event() -> None:
    one = writing(LSTM(), 1.0, 0.1, np.float64)
    assert memory_after(one, 10_000) == pytest.approx(1_000)
    state = one.state
    one.network.plan.weights.views(state.weights)["layer0.bias"][0, 1, 0] = np.log(0.5 / 0.5)
    one.state = state
    assert memory_after(one, 60) == pytest.approx(0.2)
