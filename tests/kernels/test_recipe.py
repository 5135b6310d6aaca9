"""Recipes: what makes another code, and what does not; engines by environment."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from support.learning import Case, Decayed, Doubled
from tidegate import cells
from tidegate.cells import LSTM
from tidegate.kernels import engine
from tidegate.kernels.code import jit
from tidegate.kernels.code.vector import SINGLE
from tidegate.kernels.engine import ReferenceEngine, ReferenceFrozen
from tidegate.kernels.online.compiled import CompiledEngine, CompiledFrozen
from tidegate.kernels.online.online_code import OnlineCode
from tidegate.kernels.online.recipe import recipe
from tidegate.learn import SGD, Adam, Huber, Logistic, RunningAverage


def key(case: Case, **sizes) -> str:
    online = case.online()
    equations = tuple(layer.equations for layer in online.plan.layers)
    spec = {"precision": SINGLE, "lanes": 8, "group": 2} | sizes
    averaging = online.averaging is not None
    return recipe("one", OnlineCode(equations, online.loss, online.optimiser, averaging, **spec))


class Renamed(cells.LSTM):
    """Another class, the same equations."""


def test_a_recipe_is_of_equations_not_of_sizes_or_names():
    same = Case(cell=LSTM())
    assert key(same) == key(replace(same, units=99, inputs=5, cell=Renamed(), optimiser=SGD(0.5)))
    others = [
        replace(same, cell=Doubled()),
        replace(same, cell="gru"),
        replace(same, cell=("lstm", "lstm"), units=(8, 8)),
        replace(same, loss=Logistic()),
        replace(same, loss=Huber()),
        replace(same, optimiser=Adam()),
        replace(same, optimiser=Decayed(0.02)),
        replace(same, averaging=RunningAverage()),
    ]
    keys = {key(case) for case in (same, *others)} | {key(same, lanes=16), key(same, group=1)}
    assert len(keys) == len(others) + 3


def test_a_warm_start_writes_no_code(monkeypatch):
    case = Case(cell=Doubled(), units=3)
    first = CompiledEngine(case.online(), case.start())
    monkeypatch.setattr(jit, "_libraries", {})
    CompiledEngine(case.online(), case.start())  # kept on disk now, whatever was in memory before
    monkeypatch.setattr(jit, "_libraries", {})
    monkeypatch.setattr(OnlineCode, "text", None)
    warm = CompiledEngine(case.online(), case.start())
    xs, targets = case.data(10)
    np.testing.assert_array_equal(warm.run(xs, targets)[0], first.run(xs, targets)[0])


def test_the_environment_chooses_the_reference(monkeypatch):
    case = Case()
    assert isinstance(engine.learning(case.online(), case.start()), CompiledEngine)
    assert isinstance(engine.frozen(case.online(), case.start()), CompiledFrozen)
    monkeypatch.setenv("TIDEGATE_REFERENCE", "1")
    assert isinstance(engine.learning(case.online(), case.start()), ReferenceEngine)
    assert isinstance(engine.frozen(case.online(), case.start()), ReferenceFrozen)


WITHOUT_COMPILER = """
import sys
sys.modules["llvmlite"] = None
from tidegate.learn import Learner, Network
learner = Learner(Network(inputs=1, outputs=1, units=2))
print(learner.run([[0.0]] * 3, [1.0] * 3).shape)
"""


def test_the_reference_needs_no_compiler():
    environment = os.environ | {
        "TIDEGATE_REFERENCE": "1",
        "PYTHONPATH": str(Path(engine.__file__).parents[2]),
    }
    command = [sys.executable, "-c", WITHOUT_COMPILER]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "(3, 1)"
