"""The comparison of bare networks: nobody sees what comes, and errors are those of the rows."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest


@pytest.fixture(scope="module")
def bare() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "bare_lstm.py"
    spec = importlib.util.spec_from_file_location("bare_lstm_benchmark", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("method", ["one LSTM", "ridge, 8 lags", "persistence", "f = 1"])
def test_nobody_sees_the_future(bare: ModuleType, method: str) -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=300).cumsum()
    values[40:43] = np.nan
    other = values.copy()
    other[200:] = rng.normal(size=100) * 1e6
    forecast = bare.METHODS[method]
    one, two = (forecast(bare.seen(v.tolist()), 0) for v in (values, other))
    assert one[:201].tobytes() == two[:201].tobytes()
    assert one[202:].tobytes() != two[202:].tobytes()


def test_inputs_are_the_level_and_the_last_change_of_what_was_there(bare: ModuleType) -> None:
    stream = bare.seen([1.0, 2.0, 4.0, np.nan, 5.0])
    assert stream.last.tolist()[1:] == [1.0, 2.0, 4.0, 4.0]
    assert stream.usual.tolist() == [0.0, 0.0, 1.0, 1.5, 1.5]
    # Before row 2 the level was 1.5, and the mean deviation from the level so far 1.
    assert stream.inputs[2] == pytest.approx([0.5 / 1.25, 1 / 1.25])
    assert stream.inputs[4, 1] == 0.0
    assert stream.changes[2] == 2.0 and np.isnan(stream.changes[3])


def test_the_error_is_over_the_rows_after_the_first_tenth(bare: ModuleType) -> None:
    stream = bare.seen([float(n) for n in range(20)])
    said = np.arange(20.0) + 1
    said[:2] += 100
    assert bare.error(stream, said) == 1.0


def test_ridge_predicts_what_eight_values_tell(bare: ModuleType) -> None:
    wave = np.sin(np.arange(600) * 0.7)
    said = bare.ridge(bare.seen(wave.tolist()), 0)
    assert np.abs(said - wave)[500:].max() < 0.02
