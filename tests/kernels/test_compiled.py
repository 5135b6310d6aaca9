"""Compiled learners against the reference, and against themselves, cut up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.cells import ONLINE, Peephole, name
from support.learning import STEPS, Case, Decayed, Doubled, Growing, assert_same_state
from tidegate._core.errors import UsageError
from tidegate.kernels.code import jit
from tidegate.kernels.code.cpu import APPLE_M1, NEOVERSE_N1, host, host_with_avx2
from tidegate.kernels.code.vector import SINGLE
from tidegate.kernels.engine import ReferenceEngine, ReferenceFrozen
from tidegate.kernels.online.compiled import CompiledEngine, CompiledFrozen
from tidegate.kernels.online.online_code import OnlineCode
from tidegate.learn import (
    SGD,
    Adam,
    Gaussian,
    Harmonic,
    Huber,
    Logistic,
    Momentum,
    RunningAverage,
    Softmax,
    Squared,
)

TOLERANCE = {np.float64: 1e-12, np.float32: 1e-5}
X86 = pytest.mark.skipif(host().architecture != "x86_64", reason="needs an x86-64 processor")


def assert_equals_reference(case: Case, target=None) -> None:
    xs, targets = case.data()
    compiled = CompiledEngine(case.online(), case.start(), target)
    reference = ReferenceEngine(case.online(), case.start())
    predictions, flags = compiled.run(xs, targets)
    wanted, wanted_flags = reference.run(xs, targets)
    np.testing.assert_array_equal(flags, wanted_flags)
    parts = {"predictions": (predictions, wanted)}
    for key, array in vars(reference.state).items():
        parts[key] = (getattr(compiled.state, key), array)
    for key, (got, expected) in parts.items():
        assert got.shape == expected.shape and got.dtype == expected.dtype
        if got.size:
            scale = abs(expected).max()
            assert abs(got - expected).max() <= TOLERANCE[case.dtype] * scale, key


LOSSES = [Squared(), Huber(), Logistic(), Gaussian(), Softmax()]
OPTIMISERS = [SGD(Harmonic(0.02, tau=50)), Momentum(0.001), Adam(0.003)]
VARIED = [
    {"loss": loss, "optimiser": OPTIMISERS[k % 3], "averaging": (None, RunningAverage())[k % 2]}
    for k, loss in enumerate(LOSSES)
]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("cell", ONLINE, ids=name)
def test_every_cell_of_every_size(cell, dtype):
    varied = VARIED[ONLINE.index(cell) % len(VARIED)]
    for units in (1, 2, 3, 8, 16, 17, 64):
        assert_equals_reference(Case(cell=cell, units=units, dtype=dtype, **varied))


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("loss", LOSSES, ids=name)
@pytest.mark.parametrize("optimiser", OPTIMISERS, ids=name)
def test_every_loss_with_every_optimiser(loss, optimiser, dtype):
    averaging = RunningAverage() if isinstance(optimiser, Adam) else None
    case = Case(loss=loss, optimiser=optimiser, averaging=averaging, dtype=dtype)
    assert_equals_reference(case)


@pytest.mark.parametrize("inputs", [1, 7, 40])
@pytest.mark.parametrize("outputs", [1, 2, 7, 9, 17])
def test_every_width_of_input_and_output(inputs, outputs):
    for loss in (Squared(), Softmax()):
        for direct in (True, False):
            assert_equals_reference(
                Case("update_gate", 5, inputs, outputs, direct, loss, dtype=np.float32)
            )


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(
    ("cell", "units"),
    [
        ("lstm", (16, 8)),
        (("gru", "update_gate"), (3, 17)),
        ([c for c in ONLINE if name(c) in ("Block2000", "Recalling")], (4, 20)),
        ((Peephole(), "rnn", "lstm"), (2, 9, 5)),
    ],
    ids=str,
)
def test_stacks(cell, units, dtype):
    for outputs in (2, 9):
        assert_equals_reference(Case(cell=cell, units=units, outputs=outputs, dtype=dtype))


@pytest.mark.parametrize("below", ["lstm", Growing()], ids=name)
def test_padding_that_runs_away_stays_by_itself(below):
    """After 100 steps the padded lanes hold infinities and what comes of them."""
    case = Case(cell=(below, Growing()), units=(3, 3), optimiser=SGD(0.005), dtype=np.float32)
    assert_equals_reference(case)


@X86
@pytest.mark.parametrize("units", [3, 8, 17])
def test_code_for_a_lesser_processor(units):
    for dtype in TOLERANCE:
        case = Case(units=units, loss=Softmax(), optimiser=Adam(0.003), outputs=7, dtype=dtype)
        assert_equals_reference(case, host_with_avx2())


@pytest.mark.parametrize("target", [NEOVERSE_N1, APPLE_M1], ids=lambda target: target.cpu)
def test_code_for_arm_calls_nothing_but_itself(target):
    case = Case(cell=("lstm", "gru"), units=(4, 4), loss=Softmax(), optimiser=Adam())
    online = case.online()
    equations = tuple(layer.equations for layer in online.plan.layers)
    code = OnlineCode(
        equations, online.loss, online.optimiser, False, SINGLE, target.width(SINGLE), 2
    )
    assembly = jit.assembly(code.text(target), target)
    calls = {line.split()[-1] for line in assembly.splitlines() if line.split()[:1] == ["bl"]}
    assert {call.lstrip("_").removesuffix(".body") for call in calls} <= {
        "learn", "predict", "frozen", "project", "forward",
    }  # fmt: skip
    assert "fmla" in assembly


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_what_is_not_finite_or_far_is_seen_as_the_reference_sees_it(dtype):
    case = Case(inputs=9, units=4, outputs=3, optimiser=SGD(0.001), dtype=dtype)
    xs, targets = case.data()
    rng = np.random.default_rng(1)
    for value in (np.nan, np.inf, -np.inf, 1e300, -101.0, 100.0):
        xs[rng.random(xs.shape) < 0.02] = value
        targets[rng.random(targets.shape) < 0.02] = min(value, 50.0) if value > 0 else value
    targets[40:44] = np.nan
    targets[50] = 1e6  # clipped
    compiled, reference = (
        kind(case.online(), case.start()) for kind in (CompiledEngine, ReferenceEngine)
    )
    predictions, flags = compiled.run(xs, targets)
    wanted, wanted_flags = reference.run(xs, targets)
    np.testing.assert_array_equal(flags, wanted_flags)
    assert set(np.unique(flags & 7)) >= {0, 2} and {1, 4} <= {f & b for f in flags for b in (1, 4)}
    scale = abs(wanted).max()
    np.testing.assert_allclose(predictions, wanted, atol=scale * TOLERANCE[dtype], rtol=0)
    assert compiled.state.updates == reference.state.updates < STEPS


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_shares_of_far_logits(dtype):
    case = Case(outputs=7, units=4, loss=Softmax(), dtype=dtype)
    state = case.start()
    state.weights *= 1000
    xs, targets = case.data(20)
    compiled, reference = (
        kind(case.online(), state).run(xs, targets)[0] for kind in (CompiledEngine, ReferenceEngine)
    )
    assert reference.max() > 1 - 1e-6 and reference.min() < 1e-30
    np.testing.assert_allclose(compiled, reference, atol=TOLERANCE[dtype])


def test_a_step_without_a_target_moves_no_weight():
    case = Case(optimiser=Adam(), averaging=RunningAverage())
    compiled = CompiledEngine(case.online(), case.start())
    compiled.run(*case.data(20))
    before = compiled.state
    compiled.learn(np.ones(3), np.full(2, np.nan))
    after = compiled.state
    for key in ("weights", "moments", "average"):
        np.testing.assert_array_equal(getattr(after, key), getattr(before, key))
    assert after.updates == before.updates and after.steps == before.steps + 1
    assert np.any(after.traces != before.traces) and np.any(after.memory != before.memory)


def test_nan_goes_through():
    case = Case(units=5, dtype=np.float32)
    for place in (0, -1):
        state = case.start()
        state.weights[place] = np.nan
        compiled = CompiledEngine(case.online(), state)
        predictions, _ = compiled.run(*case.data(3))
        assert np.isnan(predictions[-1]).any()


@pytest.mark.parametrize("cell", ["lstm", ("gru", "rnn")], ids=str)
def test_frozen_equals_the_reference_and_its_cuttings(cell):
    case = Case(cell=cell, units=9 if isinstance(cell, str) else (9, 4), loss=Gaussian())
    xs, _ = case.data()
    learned = CompiledEngine(case.online(), case.start())
    learned.run(*case.data(30, seed=3))
    wanted = ReferenceFrozen(case.online(), learned.state).run(xs)
    frozen = CompiledFrozen(case.online(), learned.state)
    predictions = frozen.run(xs)
    np.testing.assert_allclose(predictions, wanted, rtol=1e-12, atol=1e-13)
    again = CompiledFrozen(case.online(), learned.state)
    parts = [again.run(part) for part in np.split(xs, [1, 50])]
    np.testing.assert_array_equal(np.concatenate(parts), predictions)
    frozen.forget()
    fresh = replace(learned.state, memory=case.start().memory, hidden=case.start().hidden)
    beginning = CompiledFrozen(case.online(), fresh).run(xs[:5])
    np.testing.assert_array_equal(frozen.run(xs[:5]), beginning)


def test_frozen_and_learning_see_the_same_memory():
    """What learning keeps for its next step is what a projection of the weights gives."""
    case = Case(units=17, dtype=np.float32)
    xs, targets = case.data()
    learner = CompiledEngine(case.online(), case.start())
    learner.run(xs[:50], targets[:50])
    frozen = CompiledFrozen(case.online(), learner.state)
    np.testing.assert_array_equal(frozen.run(xs[50:51])[0], learner.predict(xs[50]))


@pytest.mark.parametrize("target", [-1.0, 7.0, 1.5])
def test_what_is_no_class_is_refused_before_anything_changes(target):
    case = Case(outputs=7, loss=Softmax())
    compiled = CompiledEngine(case.online(), case.start())
    xs, targets = case.data(5)
    targets[3] = target
    with pytest.raises(UsageError, match="a class from 0 to 6"):
        compiled.run(xs, targets)
    with pytest.raises(UsageError, match="a class from 0 to 6"):
        compiled.learn(xs[0], targets[3])
    assert_same_state(compiled.state, case.start())


@pytest.mark.parametrize("changed", [{"cell": Doubled()}, {"optimiser": Decayed(0.02)}], ids=str)
def test_equations_of_a_user(changed):
    assert_equals_reference(replace(Case(dtype=np.float32), **changed))
