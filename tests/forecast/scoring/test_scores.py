"""Scores against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from tidegate.forecast import Scores
from tidegate.forecast.scoring.scores import ROLLING

Floats = NDArray[np.float64]
NUMBERS = st.one_of(st.just(np.nan), st.just(np.inf), st.floats(-1e3, 1e3))
TABLES = arrays(np.float64, st.tuples(st.integers(0, 40), st.just(3)), elements=NUMBERS)


def scored(table: Floats, warmup: int) -> Scores:
    scores = Scores(warmup)
    for actual, mine, other in table.tolist():
        scores.add(actual, {"mine": mine, "other": other})
    return scores


@given(TABLES, st.integers(0, 45))
def test_means_are_over_the_steps_where_all_stand(table: Floats, warmup: int) -> None:
    scores = scored(table, warmup)
    late = table[warmup:]
    late = late[np.isfinite(late).all(axis=1)]
    assert scores.steps == len(late)
    if not len(late):
        assert scores.mean("mine") is None and scores.skill("mine", over="other") is None
        return
    errors = np.abs(late[:, :1] - late[:, 1:]).mean(axis=0)
    assert scores.mean("mine") == pytest.approx(errors[0], rel=1e-12)
    assert scores.mean("other") == pytest.approx(errors[1], rel=1e-12)
    skill = scores.skill("mine", over="other")
    if errors[1] == 0:
        assert skill is None
    else:
        assert skill == pytest.approx(1 - errors[0] / errors[1], rel=1e-9, abs=1e-9)


def test_the_rolling_error_forgets() -> None:
    quiet = np.column_stack([np.zeros(3_000), np.full(3_000, 1.0), np.full(3_000, 2.0)])
    loud = quiet * [0, 10, 1]
    scores = scored(np.concatenate([loud, quiet]), warmup=0)
    assert scores.mean("mine") == pytest.approx(5.5)
    after = 1 + 9 * (1 - 1 / ROLLING) ** 3_000
    assert scores.rolling("mine") == pytest.approx(after, rel=1e-9)


def test_the_rolling_error_begins_before_the_warmup_is_over() -> None:
    scores = scored(np.array([[0.0, 3.0, 4.0]]), warmup=10)
    assert (scores.rolling("mine"), scores.mean("mine")) == (3.0, None)
    assert scores.rolling("nobody") is None
