"""Learners side by side: each is what a learner on its own would be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tidegate import UsageError
from tidegate.learn import (
    SGD,
    Adam,
    Gaussian,
    Lanes,
    Learner,
    Momentum,
    Network,
    RunningAverage,
    Softmax,
)
from tidegate.learn.saving import load_into, save_learner

STEPS, COUNT = 100, 19
SEEDS = range(100, 100 + COUNT)
KINDS: dict[str, dict[str, Any]] = {
    "squared": {"network": Network(2, 3, units=5)},
    "softmax": {"network": Network(7, 7, units=8), "loss": Softmax(), "optimiser": SGD(0.05)},
    "gaussian": {
        "network": Network(1, 2, ("gru", "lstm"), (3, 4)),
        "loss": Gaussian(),
        "optimiser": Momentum(0.002),
    },
    "averaged": {
        "network": Network(2, 1, units=4),
        "optimiser": Adam(0.003),
        "averaging": RunningAverage(),
        "clip": 0.5,
    },
}


def streams(kind: str, count: int = COUNT) -> tuple[Any, Any]:
    """(steps, size, learners), now and then with something missing or far away."""
    network, rng = KINDS[kind]["network"], np.random.default_rng(4)
    xs = rng.normal(size=(STEPS, network.inputs, count))
    xs[5, 0, ::3], xs[6, 0, 1::3] = np.nan, 1e6
    if kind == "softmax":
        targets = rng.integers(0, network.outputs, (STEPS, 1, count)).astype(float)
    else:
        size = 1 if kind == "gaussian" else network.outputs
        targets = rng.normal(size=(STEPS, size, count))
    targets[rng.random(targets.shape) < 0.1] = np.nan
    return xs, targets


def close(got: Any, wanted: Any, tolerance: float = 1e-5) -> bool:
    """Within ``tolerance`` of the largest number."""
    got, wanted = np.asarray(got), np.asarray(wanted)
    return bool(np.all(abs(got - wanted) <= tolerance * abs(wanted).max(initial=0)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_each_lane_equals_a_learner_of_its_own(kind: str, dtype: Any) -> None:
    lanes, (xs, targets) = Lanes(seeds=SEEDS, dtype=dtype, **KINDS[kind]), streams(kind)
    predictions = lanes.run(xs, targets)
    assert len(lanes) == COUNT and predictions.dtype == dtype
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    for lane in (0, 7, COUNT - 1):
        alone = Learner(seed=SEEDS[lane], dtype=dtype, **KINDS[kind])
        assert close(
            predictions[..., lane], alone.run(xs[..., lane], targets[..., lane]), tolerance
        )
        found = vars(lanes.state(lane))
        for part, array in vars(alone.state).items():
            assert close(found[part], array, tolerance), part
        counts = [(one.clipped, one.missing, one.capped) for one in (lanes.learner(lane), alone)]
        assert counts[0] == counts[1]
        assert counts[1] == (lanes.clipped[lane], lanes.missing[lane], lanes.capped[lane])
    assert lanes.capped.tolist() == [int(lane % 3 == 1) for lane in range(COUNT)]
    assert lanes.missing.min() >= 1 and (lanes.clipped.min() > 10 or kind != "averaged")


def test_any_cutting_gives_the_same_bits_and_a_lane_does_not_see_its_neighbours() -> None:
    kind = KINDS["averaged"]
    xs, targets = streams("averaged")
    whole, pieces = (Lanes(seeds=SEEDS, **kind) for _ in range(2))
    predictions = whole.run(xs, targets)
    parts = [pieces.run(xs[a:b], targets[a:b]) for a, b in ((0, 1), (1, 40), (40, 40), (40, 100))]
    assert np.concatenate(parts).tobytes() == predictions.tobytes()
    apart = Lanes(seeds=[9, SEEDS[3], 8], **kind)
    wild = np.stack([xs[..., 0] * np.nan, xs[..., 3], xs[..., 1] * 99], axis=-1)
    found = apart.run(wild, targets[..., [0, 3, 2]])
    assert found[..., 1].tobytes() == predictions[..., 3].tobytes()
    for part, array in vars(whole.state(3)).items():
        assert getattr(pieces.state(3), part).tobytes() == array.tobytes()
        assert getattr(apart.state(1), part).tobytes() == array.tobytes()


def test_one_stream_for_all_is_that_stream_for_each() -> None:
    xs, targets = streams("averaged", 1)
    shared, own = (Lanes(seeds=SEEDS, **KINDS["averaged"]) for _ in range(2))
    found = shared.run(xs, targets[:, 0])
    wanted = own.run(np.repeat(xs, COUNT, -1), np.repeat(targets, COUNT, -1))
    assert found.tobytes() == wanted.tobytes()
    assert np.unique(found[-1]).size == COUNT


def test_a_state_taken_and_put_back_goes_on_to_the_bit(tmp_path: Any) -> None:
    kind = KINDS["softmax"]
    xs, targets = streams("softmax")
    first, second = (Lanes(seeds=SEEDS, **kind) for _ in range(2))
    first.run(xs[:50], targets[:50])
    for lane in range(COUNT):
        save_learner(tmp_path / f"{lane}", first.learner(lane))
    for lane in range(COUNT):
        read = Learner(**kind)
        load_into(tmp_path / f"{lane}", read)
        second.restore(lane, read.state)
    assert first.run(xs[50:], targets[50:]).tobytes() == second.run(xs[50:], targets[50:]).tobytes()


def test_a_learner_taken_out_is_no_longer_one_of_them() -> None:
    lanes, (xs, targets) = Lanes(seeds=SEEDS, **KINDS["averaged"]), streams("averaged")
    lanes.run(xs, targets)
    before = lanes.state(2).weights.tobytes()
    one = lanes.learner(2)
    assert one.state.weights.tobytes() == before and one.steps == STEPS
    one.run(xs[..., 0], targets[..., 0])
    assert lanes.state(2).weights.tobytes() == before
    assert one.averaged().run(xs[:3, :, 0]).shape == (3, 1)


def test_the_reference_does_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    xs, targets = streams("gaussian", 3)
    options = {"seeds": range(3), "dtype": np.float64, **KINDS["gaussian"]}
    compiled = Lanes(**options)
    monkeypatch.setenv("TIDEGATE_REFERENCE", "1")
    plain = Lanes(**options)
    for a, b in ((0, 60), (60, 100)):
        plain.restore(1, plain.state(1))
        assert close(plain.run(xs[a:b], targets[a:b]), compiled.run(xs[a:b], targets[a:b]), 1e-12)
    assert close(plain.state(2).weights, compiled.state(2).weights, 1e-12)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda lanes: Lanes(Network(1, 1), seeds=[]), "at least one"),
        (lambda lanes: Lanes(Network(1, 1), seeds=[0], clip=0), "above 0"),
        (lambda lanes: Lanes(Network(1, 1), seeds=[0], dtype=int), "float32 or float64"),
        (lambda lanes: Lanes(Network(1, 1), [0], Gaussian()), "multiple of 2"),
        (lambda lanes: lanes.run(np.zeros((5, 2, 4)), np.zeros((5, 3))), "or .steps, 2, 1."),
        (lambda lanes: lanes.run(np.zeros((5, 1, 3)), np.zeros((5, 3))), "shape .steps, 2, 3."),
        (lambda lanes: lanes.run(np.zeros((5, 2)), np.zeros((5, 3))), "last axis is the learner"),
        (lambda lanes: lanes.run(np.zeros((5, 2, 3)), np.zeros((4, 3))), "as many targets"),
        (lambda lanes: lanes.run(np.zeros((5, 2, 3)), np.zeros((5, 1, 2))), "Lanes targets"),
        (lambda lanes: lanes.run([["a"]], [[1]]), "Lanes xs: expected numbers"),
        (lambda lanes: lanes.state(3), "a lane from 0 to 2"),
        (lambda lanes: lanes.learner(-1), "a lane from 0 to 2"),
        (lambda lanes: lanes.restore(0, Lanes(Network(2, 1), [0]).state(0)), "Lanes state"),
    ],
)
def test_what_cannot_be_is_refused(act: Any, message: str) -> None:
    lanes = Lanes(seeds=range(3), **KINDS["averaged"])
    with pytest.raises(UsageError, match=message):
        act(lanes)


def test_a_wrong_class_is_refused_before_anything_changes() -> None:
    lanes, (xs, targets) = Lanes(seeds=SEEDS, **KINDS["softmax"]), streams("softmax")
    before = lanes.state(0).weights.tobytes()
    targets[50, 0, 3] = 7
    with pytest.raises(UsageError, match="a class from 0 to 6"):
        lanes.run(xs, targets)
    assert lanes.state(0).weights.tobytes() == before and lanes.state(0).steps == 0
