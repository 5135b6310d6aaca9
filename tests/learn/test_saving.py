"""Resuming is no event: a learner that was loaded equals one that went on, to the bit."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tidegate.learn.saving
from support.cells import ONLINE, name
from tidegate._core.errors import CheckpointError
from tidegate.cells import GRU, LSTM, Cell, Step, both
from tidegate.cells.functions import sigmoid, tanh
from tidegate.learn import (
    SGD,
    Adam,
    Gaussian,
    Harmonic,
    Huber,
    Learner,
    Momentum,
    Network,
    RunningAverage,
    Softmax,
)
from tidegate.learn.checkpoint import Checkpoint, load, save
from tidegate.learn.saving import load_into, restore, save_learner, snapshot

RULES = [Adam(0.01), Momentum(0.01), SGD(Harmonic(0.05, tau=500)), Adam(Harmonic(0.02, tau=300))]
AVERAGES = [None, RunningAverage(floor=1e-2)]
LOSSES = [None, Huber(0.5), Gaussian()]
# Every cell, rule, average and loss, not each with each: compiling takes the time.
RECIPES = [
    (cell, RULES[n % 4], AVERAGES[n // 2 % 2], LOSSES[n % 3], (np.float32, np.float64)[n % 2])
    for n, cell in enumerate(ONLINE)
]


def wave(steps: int) -> tuple[Any, Any]:
    """A stream with gaps, spikes and inputs out of range, which the counters count."""
    t = np.arange(steps + 1) * 0.3
    values = np.sin(t) + 0.1 * np.cos(7.1 * t)
    xs, targets = np.stack([values[:-1], np.cos(t[1:])], 1), values[1:].copy()
    xs[::97, 0], targets[::53], targets[20::301], xs[31::211, 1] = np.nan, np.nan, 1e6, 1e3
    return xs, targets


def learner(recipe: tuple[Any, ...], units: Any = (5, 3), seed: int = 1) -> Learner:
    cell, rule, averaging, loss, dtype = recipe
    outputs = 2 if isinstance(loss, Gaussian) else 1
    return Learner(
        Network(2, outputs, cell, units), loss, rule, averaging, clip=0.3, seed=seed, dtype=dtype
    )


def assert_same(found: Learner, expected: Learner) -> None:
    for part, array in vars(expected.state).items():
        other = getattr(found.state, part)
        assert (other.dtype, other.shape) == (array.dtype, array.shape), part
        assert other.tobytes() == array.tobytes(), part
    for count in ("flags", "clipped", "missing", "capped", "steps"):
        assert getattr(found, count) == getattr(expected, count), count


def resume_is_no_event(recipe: tuple[Any, ...], steps: int, cut: int, path: Path) -> None:
    xs, targets = wave(steps)
    whole, first, second = (learner(recipe, seed=seed) for seed in (1, 1, 2))
    predictions = whole.run(xs, targets)
    first.run(xs[:cut], targets[:cut])
    save_learner(path, first)
    load_into(path, second)
    assert_same(second, first)
    assert second.run(xs[cut:], targets[cut:]).tobytes() == predictions[cut:].tobytes()
    # Of a run, only single steps say what happened at the last one.
    whole.flags = second.flags
    assert_same(second, whole)
    assert whole.clipped and whole.missing and whole.capped


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: name(recipe[0]))
def test_a_thousand_steps_twice_are_two_thousand(recipe: tuple[Any, ...], tmp_path: Path) -> None:
    cut = int(np.random.default_rng(len(name(recipe[0]))).integers(900, 1_100))
    resume_is_no_event(recipe, 2_000, cut, tmp_path / "state")


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: name(recipe[0]))
def test_so_it_is_with_the_reference(
    recipe: tuple[Any, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEGATE_REFERENCE", "1")
    resume_is_no_event(recipe, 110, 61, tmp_path / "state")


@settings(max_examples=15)
@given(st.lists(st.integers(1, 60), max_size=6))
def test_any_number_of_resumes_at_any_steps(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[int]
) -> None:
    path = tmp_path_factory.getbasetemp() / "pieces"
    xs, targets = wave(400)
    whole = learner(RECIPES[2])
    expected = whole.run(xs, targets)
    part = learner(RECIPES[2])
    cuts = [0, *itertools.accumulate(pieces), 400]
    for start, stop in itertools.pairwise(cuts):
        found = [part.learn(x, t) for x, t in zip(xs[start:stop], targets[start:stop], strict=True)]
        assert np.array(found, expected.dtype).tobytes() == expected[start:stop].tobytes()
        save_learner(path, part)
        part = learner(RECIPES[2], seed=9)
        load_into(path, part)
    whole.flags = part.flags
    assert_same(part, whole)


def test_saving_changes_nothing(tmp_path: Path) -> None:
    xs, targets = wave(40)
    saving, plain = learner(RECIPES[0]), learner(RECIPES[0])
    for x, target in zip(xs, targets, strict=True):
        save_learner(tmp_path / "state", saving)
        assert saving.learn(x, target).tobytes() == plain.learn(x, target).tobytes()
    assert_same(saving, plain)


@pytest.mark.parametrize(
    "part", ["weights", "moments", "average", "traces", "memory", "hidden", "counts"]
)
def test_every_part_is_needed(part: str, tmp_path: Path) -> None:
    """What a checkpoint without it would do: the test above would see each one missing."""
    recipe = (LSTM(), Adam(0.01), RunningAverage(), None, np.float32)
    xs, targets = wave(600)
    whole = learner(recipe)
    whole.run(xs[:300], targets[:300])
    state = whole.state
    getattr(state, part)[...] = getattr(learner(recipe, seed=1).state, part)
    lame = learner(recipe)
    lame.state = state
    rest = whole.run(xs[300:], targets[300:])
    found = lame.run(xs[300:], targets[300:])
    same = found.tobytes() == rest.tobytes() and lame.state.average.tobytes() == (
        whole.state.average.tobytes()
    )
    assert not same


def test_the_reference_goes_on_from_machine_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    xs, targets = wave(100)
    compiled = learner(RECIPES[3])
    compiled.run(xs, targets)
    save_learner(tmp_path / "state", compiled)
    monkeypatch.setenv("TIDEGATE_REFERENCE", "1")
    reference = learner(RECIPES[3])
    load_into(tmp_path / "state", reference)
    assert_same(reference, compiled)


BASE: dict[str, Any] = dict(
    cell=LSTM(), units=(4, 3), loss=None, optimiser=Adam(0.01), averaging=None, clip=10
)


def made(inputs: int = 2, dtype: Any = np.float32, direct: bool = True, **more: Any) -> Learner:
    given = BASE | more
    network = Network(inputs, 4, given["cell"], given["units"], direct)
    return Learner(
        network, given["loss"], given["optimiser"], given["averaging"], given["clip"], 3, dtype
    )


@dataclass(frozen=True)
class Notebook(Cell):
    """A cell whose equations change under its name."""

    twice: bool = False

    slots = {"f": both, "g": both}
    memory = ("c",)

    def step(self, z: Any, past: Any, par: Any) -> Step:
        c = sigmoid(z.f) * past.c + self.gain * tanh(z.g)
        return Step(h=tanh(c), c=c)

    gain = 1.0


@pytest.mark.parametrize(
    ("change", "expected", "got"),
    [
        (dict(inputs=3), "inputs = '3'", "inputs = '2'"),
        (dict(units=(4, 2)), "layer1.units = '2'", "layer1.units = '3'"),
        (dict(units=4), "layers = '1'", "layers = '2'"),
        (dict(cell=GRU()), "layer0.cell = 'GRU()'", "layer0.cell = 'LSTM(forget_bias=0)'"),
        (dict(cell=LSTM(2.0)), "forget_bias=2)'", "forget_bias=0)'"),
        (dict(direct=False), "direct = 'False'", "direct = 'True'"),
        (dict(loss=Softmax()), "loss = 'Softmax()'", "loss = 'Squared()'"),
        (dict(loss=Huber(2.0)), "loss = 'Huber(width=2)'", "loss = 'Squared()'"),
        (dict(optimiser=Adam(0.02)), "rate=0.02", "rate=0.01"),
        (dict(optimiser=Adam(Harmonic(0.01, 9))), "Harmonic(rate=0.01, tau=9)", "rate=0.01"),
        (dict(averaging=RunningAverage()), "RunningAverage(", "averaging = 'None'"),
        (dict(clip=5.0), "clip = '5'", "clip = '10'"),
        (dict(dtype=np.float64), "dtype = 'float64'", "dtype = 'float32'"),
    ],
)
def test_what_differs_is_named_and_nothing_is_loaded(
    change: dict[str, Any], expected: str, got: str, tmp_path: Path
) -> None:
    save_learner(tmp_path / "state", made())
    other = made(**change)
    before = snapshot(other)
    with pytest.raises(CheckpointError) as caught:
        load_into(tmp_path / "state", other)
    assert expected in caught.value.expected and got in caught.value.got
    for part, array in vars(other.state).items():
        assert array.tobytes() == before.arrays[part].tobytes()


def test_the_same_written_otherwise_is_no_difference(tmp_path: Path) -> None:
    save_learner(tmp_path / "state", made())
    load_into(tmp_path / "state", made(clip=np.float64(10.0), cell=["lstm", LSTM(0)]))


def test_other_equations_under_the_same_name_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_learner(tmp_path / "state", made(cell=Notebook()))
    load_into(tmp_path / "state", made(cell=Notebook()))
    other = made(cell=Notebook())
    monkeypatch.setattr(Notebook, "gain", 2.0)
    with pytest.raises(CheckpointError, match="layer0.cell = 'Notebook"):
        load_into(tmp_path / "state", made(cell=Notebook(twice=True)))
    monkeypatch.setattr(tidegate.learn.saving, "graph_text", lambda nodes: "other")
    with pytest.raises(CheckpointError, match="layer0.equations"):
        load_into(tmp_path / "state", other)


def test_another_version_is_refused_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_learner(tmp_path / "state", made())
    monkeypatch.setattr(tidegate.learn.saving, "__version__", "9.9")
    with pytest.raises(CheckpointError) as caught:
        load_into(tmp_path / "state", made())
    assert caught.value.expected == "tidegate = '9.9'"
    assert caught.value.got == f"tidegate = {tidegate.__version__!r}"


def altered(found: Checkpoint, change: Callable[[dict[str, Any]], object]) -> Checkpoint:
    arrays = dict(found.arrays)
    change(arrays)
    return Checkpoint(arrays, found.header)


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: arrays.pop("traces"),
        lambda arrays: arrays.update(weights=arrays["weights"][:-1]),
        lambda arrays: arrays.update(memory=arrays["memory"].astype(np.float64)),
        lambda arrays: arrays.update(moments=arrays["moments"].T.copy()),
        lambda arrays: arrays.update(counts=arrays["counts"].astype(np.int32)),
    ],
)
def test_arrays_of_other_shapes_are_refused(change: Any, tmp_path: Path) -> None:
    target = made()
    save(tmp_path / "state", altered(snapshot(made()), change))
    with pytest.raises(CheckpointError):
        load_into(tmp_path / "state", target)
    assert target.state.weights.tobytes() == made().state.weights.tobytes()


@pytest.mark.parametrize("header", [{}, {"learner": None}, {"learner": []}, {"learner": {}}])
def test_a_checkpoint_of_something_else_is_refused(header: Any, tmp_path: Path) -> None:
    save(tmp_path / "state", Checkpoint({"a": np.zeros(3)}, header))
    with pytest.raises(CheckpointError, match="got tidegate = None"):
        load_into(tmp_path / "state", made())


def test_a_damaged_file_leaves_the_learner_as_it_was(tmp_path: Path) -> None:
    path, target = tmp_path / "state", made()
    save_learner(path, made())
    path.write_bytes(path.read_bytes()[:-1])
    before = target.state.weights.tobytes()
    with pytest.raises(CheckpointError):
        load_into(path, target)
    assert target.state.weights.tobytes() == before


def test_parts_may_stand_in_a_larger_checkpoint(tmp_path: Path) -> None:
    first, second = made(), made()
    xs, _ = wave(50)
    first.run(xs, np.zeros((50, 4)))
    part = snapshot(first)
    save(
        tmp_path / "run",
        Checkpoint({**part.arrays, "scale": np.ones(2)}, {**part.header, "row": 50}),
    )
    restore(tmp_path / "run", second, load(tmp_path / "run"))
    assert_same(second, first)
