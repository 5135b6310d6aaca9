"""A trace tells the same of a run wherever it was saved on the way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tidegate import Forecaster
from tidegate._core.trace import Trace
from tidegate._core.trace_files import read_trace
from tidegate._core.trace_folders import folder_of
from tidegate.forecast import ForecasterModel
from tidegate.forecast.tracing import ExpertsTracer

ROWS = 40  # from the tenth on a day and a week are known, and the networks see more


def traced(folder: Path, saved: int | None) -> Trace:
    """Of one expert; the open piece was closed after so many rows."""
    model, values = ForecasterModel(Forecaster(units=2)), np.random.default_rng(0).normal(size=ROWS)
    tracer = ExpertsTracer(model, folder, step=0, seed=0)
    for n, value in enumerate(values, start=1):
        tracer.look()
        model.predict(3600.0 * n)
        model.learn(np.array([value]), 3600.0 * n)
        tracer.keep(n)
        if n == saved:
            tracer.close()
    tracer.close()
    return read_trace(folder_of(folder, "gated"))


@pytest.mark.parametrize("saved", [5, 9, 10, 30])
def test_a_trace_is_the_same_wherever_it_was_saved(tmp_path: Path, saved: int) -> None:
    whole, cut = traced(tmp_path / "whole", None), traced(tmp_path / "cut", saved)
    assert cut.meta == whole.meta and cut.steps == whole.steps > ROWS - 5
    np.testing.assert_array_equal(cut.log_retention["c"], whole.log_retention["c"])
