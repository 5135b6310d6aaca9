"""Learners in lanes: each equals its solo run, whatever its neighbours do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.cells import ONLINE, name
from support.learning import Case, assert_same_state
from tidegate._core.errors import UsageError
from tidegate.kernels.code.cpu import host, host_with_avx2
from tidegate.kernels.online.compiled import CompiledEngine
from tidegate.kernels.online.lanes import Lanes
from tidegate.kernels.plan import State
from tidegate.learn import Adam, Gaussian, Logistic, Momentum, Network, RunningAverage, Softmax

STEPS = 60
TOLERANCE = {np.float64: 1e-12, np.float32: 1e-5}
X86 = pytest.mark.skipif(host().architecture != "x86_64", reason="needs an x86-64 processor")


def states(case: Case, count: int) -> list[State]:
    net = Network(case.inputs, case.outputs, case.cell, case.units, case.direct)
    return [case.online().start(net.initial(seed).astype(case.dtype)) for seed in range(count)]


def streams(case: Case, count: int):
    pairs = [case.data(STEPS, seed) for seed in range(count)]
    return tuple(np.stack(arrays, axis=-1) for arrays in zip(*pairs, strict=True))


def assert_each_equals_its_solo_run(case: Case, count: int, target=None) -> None:
    started, (xs, targets) = states(case, count), streams(case, count)
    lanes = Lanes(case.online(), started, target)
    predictions, flags = lanes.run(xs, targets)
    assert len(lanes) == count and predictions.shape[-1] == flags.shape[-1] == count
    for k in {0, count // 2, count - 1}:
        alone = CompiledEngine(case.online(), started[k], target)
        wanted, wanted_flags = alone.run(xs[..., k], targets[..., k])
        np.testing.assert_array_equal(flags[:, k], wanted_flags)
        parts = {"predictions": (predictions[..., k], wanted)}
        for key, array in vars(alone.state).items():
            parts[key] = (getattr(lanes.state(k), key), array)
        for key, (got, expected) in parts.items():
            assert got.shape == expected.shape and got.dtype == expected.dtype
            if got.size:
                scale = abs(expected).max()
                assert abs(got - expected).max() <= TOLERANCE[case.dtype] * scale, key


@pytest.mark.parametrize("cell", ONLINE, ids=name)
def test_every_cell(cell):
    dtype = (np.float32, np.float64)[ONLINE.index(cell) % 2]
    assert_each_equals_its_solo_run(Case(cell=cell, units=5, dtype=dtype), 5)


@pytest.mark.parametrize("count", [1, 16, 17, 40])
def test_every_number_of_learners(count):
    assert_each_equals_its_solo_run(Case(units=3, dtype=np.float32), count)


VARIED = [
    Case(loss=Softmax(), outputs=7, inputs=7, dtype=np.float32),
    Case(loss=Softmax(), outputs=9, optimiser=Adam(0.003), averaging=RunningAverage()),
    Case(loss=Gaussian(), optimiser=Momentum(0.001), outputs=4, direct=False, clip=0.5),
    Case(loss=Logistic(), outputs=3, cell=("lstm", "gru"), units=(3, 4), optimiser=Adam(0.003)),
]


@pytest.mark.parametrize("case", VARIED, ids=lambda case: name(case.loss))
def test_every_loss_and_rule(case):
    assert_each_equals_its_solo_run(case, 9)


@X86
def test_lanes_of_a_lesser_processor():
    assert_each_equals_its_solo_run(VARIED[0], 9, host_with_avx2())


@pytest.mark.parametrize("case", VARIED, ids=lambda case: name(case.loss))
def test_bits_do_not_depend_on_neighbours(case):
    started, (xs, targets) = states(case, 6), streams(case, 6)
    together = Lanes(case.online(), started)
    predictions, _ = together.run(xs, targets)
    wild_xs, wild_targets = xs * 50, targets.copy()
    wild_targets[:, :, 1] = np.nan
    wild_xs[:, :, 4] = xs[:, :, 4]
    wild_targets[10:, :, 0] = np.nan
    others = [replace(state, weights=state.weights * np.nan) for state in started]
    others[4] = started[4]
    disturbed = Lanes(case.online(), others)
    other_predictions, _ = disturbed.run(wild_xs, wild_targets)
    np.testing.assert_array_equal(other_predictions[..., 4], predictions[..., 4])
    assert_same_state(disturbed.state(4), together.state(4))
    moved = Lanes(case.online(), [started[4]])
    moved.run(xs[..., 4:5], targets[..., 4:5])
    assert_same_state(moved.state(0), together.state(4))


def test_any_cutting_and_restoring_gives_the_same_bits():
    case = replace(VARIED[1], dtype=np.float32)
    started, (xs, targets) = states(case, 4), streams(case, 4)
    for state, updates in zip(started, (0, 1000, 5000, 1023), strict=True):
        state.counts[1] = updates
    whole = Lanes(case.online(), started)
    predictions, flags = whole.run(xs, targets)
    pieces = Lanes(case.online(), started)
    done = []
    for x, y in zip(np.split(xs, [1, 7, 30]), np.split(targets, [1, 7, 30]), strict=True):
        for k in range(4):
            pieces.restore(k, pieces.state(k))
        done.append(pieces.run(x, y))
    np.testing.assert_array_equal(np.concatenate([p for p, _ in done]), predictions)
    np.testing.assert_array_equal(np.concatenate([f for _, f in done]), flags)
    for k in range(4):
        assert_same_state(pieces.state(k), whole.state(k))
        alone = CompiledEngine(case.online(), started[k])
        alone.run(xs[..., k], targets[..., k])
        np.testing.assert_array_equal(alone.state.counts, whole.state(k).counts)


def test_a_learner_without_a_target_does_not_move_its_weights():
    case = replace(VARIED[1], dtype=np.float32)
    lanes, (xs, targets) = Lanes(case.online(), states(case, 3)), streams(case, 3)
    targets[:, :, 1] = np.nan
    before = lanes.state(1)
    lanes.run(xs, targets)
    after = lanes.state(1)
    for key in ("weights", "moments", "average"):
        np.testing.assert_array_equal(getattr(after, key), getattr(before, key))
    assert after.updates == 0 and after.steps == STEPS and lanes.state(0).updates > 0
    assert np.any(after.memory != before.memory) and np.any(after.traces != before.traces)


def test_a_state_comes_back_to_the_bit():
    case = Case(cell=("gru", "lstm"), units=(3, 2), optimiser=Adam(), averaging=RunningAverage())
    rng = np.random.default_rng(0)
    started = states(case, 3)
    for state in started:
        for key, array in vars(state).items():
            if key != "counts":
                array[...] = rng.normal(size=array.shape)
    lanes = Lanes(case.online(), started)
    for k, state in enumerate(started):
        assert_same_state(lanes.state(k), state)


def test_what_cannot_be_is_refused():
    case = Case(loss=Softmax(), outputs=7)
    with pytest.raises(UsageError, match="states of one dtype"):
        Lanes(case.online(), [])
    mixed = [*states(case, 1), *states(replace(case, dtype=np.float32), 1)]
    with pytest.raises(UsageError, match="2 dtypes"):
        Lanes(case.online(), mixed)
    lanes = Lanes(case.online(), states(case, 2))
    with pytest.raises(UsageError, match="a class from 0 to 6"):
        lanes.run(np.zeros((3, 3, 2)), np.full((3, 1, 2), 7.0))
