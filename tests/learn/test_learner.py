"""The learner: predicts without a trace, learns step by step, survives what streams bring."""

from __future__ import annotations

import numpy as np
import pytest

from support.cells import LSTM, MGU
from tidegate._core.errors import UsageError
from tidegate.kernels.plan import CAPPED, CLIPPED, MISSING
from tidegate.learn import (
    SGD,
    Adam,
    Gaussian,
    Learner,
    Logistic,
    Network,
    RunningAverage,
    Softmax,
    Squared,
)

STACK = ["gru", LSTM(forget_bias=1.0)]
KINDS = {
    "squared": (Squared, 2, lambda rng, n: rng.normal(size=(n, 2))),
    "logistic": (Logistic, 2, lambda rng, n: rng.integers(0, 2, (n, 2)).astype(float)),
    "softmax": (Softmax, 2, lambda rng, n: rng.integers(0, 2, n).astype(float)),
    "gaussian": (Gaussian, 2, lambda rng, n: rng.normal(size=(n, 1))),
}


def learner(kind="squared", **options) -> Learner:
    loss, outputs, _ = KINDS[kind]
    defaults = {"seed": 3, "averaging": RunningAverage(), "optimiser": Adam()}
    network = Network(3, outputs, cell=STACK, units=(4, 3))
    return Learner(network, loss(), **defaults | options)


def data(kind="squared", steps=60, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(steps, 3)), KINDS[kind][2](rng, steps)


def bits(thing: Learner) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in vars(thing.state).items()}


def finite(thing: Learner) -> bool:
    return all(np.all(np.isfinite(array)) for array in vars(thing.state).values())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_predict_changes_nothing(kind, dtype):
    xs, targets = data(kind)
    asked, silent = learner(kind, dtype=dtype), learner(kind, dtype=dtype)
    for x, target in zip(xs, targets, strict=True):
        before = bits(asked)
        first = asked.predict(x)
        for other in (x * 7, np.full(3, np.nan), np.full(3, 1e30), x):
            again = asked.predict(other)
        np.testing.assert_array_equal(first, again)
        assert bits(asked) == before
        np.testing.assert_array_equal(asked.learn(x, target), first)
        silent.learn(x, target)
    assert bits(asked) == bits(silent)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_output_does_not_depend_on_how_the_stream_is_cut(kind, dtype):
    """troubles 1: whole, one by one, and in pieces."""
    xs, targets = data(kind, steps=200)
    whole, single, pieces = (learner(kind, dtype=dtype) for _ in range(3))
    want = whole.run(xs, targets)
    assert want.dtype == dtype
    steps = [single.learn(x, target) for x, target in zip(xs, targets, strict=True)]
    np.testing.assert_array_equal(np.array(steps), want)
    cut = [pieces.run(xs[a:b], targets[a:b]) for a, b in ((0, 1), (1, 137), (137, 137), (137, 200))]
    np.testing.assert_array_equal(np.concatenate(cut), want)
    assert bits(whole) == bits(single) == bits(pieces)
    assert whole.steps == single.steps == 200
    assert (whole.clipped, whole.missing, whole.capped) == (
        single.clipped, single.missing, single.capped,
    )  # fmt: skip


def test_the_past_does_not_see_the_future():
    """troubles 31: outputs for a prefix are the prefix of the outputs."""
    xs, targets = data(steps=120)
    np.testing.assert_array_equal(
        learner().run(xs[:50], targets[:50]), learner().run(xs, targets)[:50]
    )


def test_one_seed_one_result_another_seed_another():
    """troubles 40."""
    xs, targets = data()
    first, again, other = (learner(seed=seed) for seed in (1, 1, 2))
    outputs = [thing.run(xs, targets) for thing in (first, again, other)]
    np.testing.assert_array_equal(outputs[0], outputs[1])
    assert bits(first) == bits(again) != bits(other)
    assert np.any(outputs[0] != outputs[2])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["input", "target"])
@pytest.mark.parametrize("kind", KINDS)
def test_one_value_that_is_missing_kills_nothing(bad, where, kind):
    """troubles 15: NaN at step 10 of 50."""
    xs, targets = data(kind, steps=50)
    (xs if where == "input" else targets)[10] = bad
    thing = learner(kind)
    outputs = thing.run(xs, targets)
    assert np.all(np.isfinite(outputs)) and finite(thing)
    assert thing.missing == 1 and thing.steps == 50
    assert thing.state.updates == (50 if where == "input" else 49)


@pytest.mark.parametrize("kind", ["squared", "gaussian"])
@pytest.mark.parametrize("huge", [1e30, -1e30])
def test_a_huge_value_is_no_missing_one(kind, huge):
    xs, targets = data(kind, steps=50)
    xs[10, 1], targets[20] = huge, huge
    thing = learner(kind)
    outputs = thing.run(xs, targets)
    assert np.all(np.isfinite(outputs)) and finite(thing)
    assert (thing.missing, thing.capped) == (0, 1) and thing.clipped >= 1
    assert thing.state.updates == 50


def test_some_targets_missing_teach_by_the_others():
    xs, targets = data()
    targets[5, 0] = np.nan
    part, none = learner(), learner()
    part.run(xs[:6], targets[:6])
    none.run(xs[:5], targets[:5])
    none.learn(xs[5], [np.nan, np.nan])
    assert part.missing == none.missing == 1
    assert (part.state.updates, none.state.updates) == (6, 5)
    assert bits(part)["traces"] == bits(none)["traces"]
    assert bits(part)["weights"] != bits(none)["weights"]


def test_an_input_that_is_missing_counts_as_0():
    xs, targets = data(steps=20)
    lost, zero = learner(), learner()
    xs[7, 2] = 0.0
    zero.run(xs, targets)
    xs[7, 2] = np.nan
    lost.run(xs, targets)
    assert bits(lost) == bits(zero) and (lost.missing, zero.missing) == (1, 0)


def test_flags_say_what_happened_at_the_last_step():
    thing = learner(clip=0.5)
    x, target = np.zeros(3), np.zeros(2)
    for row, wanted, flags in [
        (x, target, 0),
        (x, target + 100, CLIPPED),
        ([np.nan, 0, 0], target, MISSING),
        (x, [0, np.inf], MISSING),
        ([101, 0, 0], target, CAPPED),
        ([-1e9, np.inf, 0], target + 100, CAPPED | MISSING | CLIPPED),
        (x, target, 0),
    ]:
        thing.learn(row, wanted)
        assert thing.flags & ~CLIPPED == flags & ~CLIPPED
        assert not flags & CLIPPED or thing.flags & CLIPPED
    assert (thing.missing, thing.capped) == (3, 2) and thing.clipped >= 2


def test_inputs_far_away_are_capped_and_no_earlier():
    xs, targets = data(steps=10)
    far, near = xs.copy(), xs.copy()
    far[3, 0], near[3, 0] = 5e8, 100.0
    capped, edge = learner(), learner()
    np.testing.assert_array_equal(capped.run(far, targets), edge.run(near, targets))
    assert (capped.capped, edge.capped) == (1, 0)


def test_a_shortened_error_moves_the_readout_by_the_norm():
    thing = Learner(Network(1, 2, units=2), optimiser=SGD(1.0), clip=0.25, dtype=np.float64)
    before = thing.network.plan.weights.views(thing.state.weights)["readout.bias"].copy()
    thing.learn([0.0], [300.0, -400.0])
    after = thing.network.plan.weights.views(thing.state.weights)["readout.bias"]
    np.testing.assert_allclose(after - before, [0.15, -0.2], rtol=1e-3)
    assert thing.clipped == 1


def test_state_is_a_copy_and_going_on_from_it_is_exact():
    xs, targets = data(steps=80)
    whole, half = learner(), learner()
    want = whole.run(xs, targets)
    half.run(xs[:40], targets[:40])
    kept = half.state
    half.run(xs[::-1], targets[::-1])
    other = learner(seed=99)
    other.state = kept
    np.testing.assert_array_equal(other.run(xs[40:], targets[40:]), want[40:])
    assert bits(other) == bits(whole)
    kept.weights[...] = np.nan
    assert finite(other) and other.steps == 80


def test_forgetting_begins_a_fresh_stream_with_what_was_learned():
    xs, targets = data()
    old, fresh = learner(), learner()
    old.run(xs, targets)
    kept = old.state
    old.forget()
    clean = fresh.state
    clean.weights, clean.moments = kept.weights, kept.moments
    clean.average, clean.counts = kept.average, kept.counts
    fresh.state = clean
    assert bits(old) == bits(fresh)
    np.testing.assert_array_equal(old.run(xs, targets), fresh.run(xs, targets))


def test_a_predictor_is_frozen_and_has_memories_of_its_own():
    xs, targets = data()
    thing = learner()
    thing.run(xs[:30], targets[:30])
    frozen, before = thing.predictor(), bits(thing)
    whole = frozen.run(xs[30:])
    assert bits(thing) == before
    np.testing.assert_array_equal(whole[0], thing.predict(xs[30]))
    again = thing.predictor()
    parts = [again.run(xs[a:b]) for a, b in ((30, 31), (31, 45), (45, 60))]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    thing.run(xs, targets)
    frozen.forget()
    again.forget()
    np.testing.assert_array_equal(frozen.run(xs), again.run(xs))


def test_the_average_follows_the_weights():
    xs, targets = data()
    thing = learner(averaging=RunningAverage(floor=0.05, warmup=0.5), dtype=np.float64)
    average = thing.state.weights
    for t, (x, target) in enumerate(zip(xs, targets, strict=True)):
        thing.learn(x, target)
        average += (thing.state.weights - average) * max(0.05, 1 / (1 + 0.5 * t))
    np.testing.assert_allclose(thing.state.average, average, rtol=1e-12, atol=1e-14)
    steady, state = thing.averaged(), thing.state
    state.weights = state.average.copy()
    thing.state = state
    np.testing.assert_array_equal(steady.run(xs), thing.predictor().run(xs))


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: learner(clip=0.0), r"Learner clip: expected a norm above 0, got 0\.0"),
        (lambda: learner(clip=np.nan), r"Learner clip"),
        (lambda: learner(dtype=np.float16), r"Learner dtype: expected float32 .*, got float16"),
        (lambda: learner(dtype=int), r"Learner dtype: .*got int64"),
        (lambda: learner().predict([1.0, 2.0]), r"Learner x: expected shape \(3,\), got \(2,\)"),
        (lambda: learner().predict(["a", "b", "c"]), r"Learner x: expected numbers"),
        (lambda: learner().learn(np.zeros((1, 3)), [0, 0]), r"Learner x: expected shape \(3,\)"),
        (lambda: learner().learn(np.zeros(3), 0.0), r"Learner target: expected shape \(2,\)"),
        (lambda: learner().run(np.zeros(3), [0, 0]), r"Learner xs: expected shape \(steps, 3\)"),
        (
            lambda: learner().run(np.zeros((4, 3)), np.zeros((3, 2))),
            r"Learner\.run: expected as many targets as inputs, got 3 for 4 steps",
        ),
        (
            lambda: learner().run(np.zeros((4, 3)), np.zeros((4, 2)), np.zeros(4)),
            r"Learner\.run starts: expected booleans of shape \(4,\), got float64 \(4,\)",
        ),
        (
            lambda: learner().predictor().run(np.zeros((4, 3)), np.zeros(3, bool)),
            r"Learner\.run starts: expected booleans of shape \(4,\), got bool \(3,\)",
        ),
        (lambda: learner(averaging=None).averaged(), r"Learner\.averaged: .*RunningAverage"),
        (lambda: Learner(Network(1, 3), Gaussian()), r"Gaussian: .*multiple of 2 .*got outputs=3"),
        (lambda: Learner(Network(1, 1, MGU())), r"MGU: .*one product"),
        (lambda: learner("softmax").learn(np.zeros(3), 2), r"Softmax target: .*from 0 to 1, got 2"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(act, message):
    with pytest.raises(UsageError, match=message):
        act()


def test_single_targets_may_be_plain_numbers():
    plain, listed = (Learner(Network(1, 1, units=2)) for _ in range(2))
    plain.learn([0.5], 1.0)
    listed.learn(np.array([0.5], np.float32), [1])
    assert bits(plain) == bits(listed)
    assert plain.run(np.zeros((0, 1)), []).shape == (0, 1)


@pytest.mark.parametrize("target", [["a"], "five", [[1.0], [2.0, 3.0]]], ids=str)
def test_a_target_that_is_no_number_is_refused(target):
    learner = Learner(Network(inputs=1, outputs=1, units=2))
    with pytest.raises(UsageError, match="Learner target: expected numbers, got"):
        learner.learn([0.0], target)


@pytest.mark.parametrize("dtype", ["banana", np.int32, np.float16], ids=str)
def test_a_dtype_without_kernels_is_refused(dtype):
    with pytest.raises(UsageError, match="Learner dtype: expected float32 or float64"):
        Learner(Network(inputs=1, outputs=1, units=2), dtype=dtype)
