"""Ferns against the sum of tables written out in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tidegate.forecast.model.ferns import FIRST, PLANTED, RATE, SETTLED, WIDTH, WINDOW, Ferns
from tidegate.forecast.model.scale import RunningScale

FERNS, TESTS, FEATURES = 12, 3, 5
CHOSEN = np.random.default_rng(0).integers(0, FEATURES, size=(FERNS, TESTS))


def leaves_of(x: np.ndarray, thresholds: np.ndarray, grown: int) -> np.ndarray:
    answers = x[CHOSEN[:grown]] > thresholds[:grown]
    return answers @ (2 ** np.arange(TESTS)[::-1])


def test_ferns_are_a_sum_of_tables_that_learn_by_gradient() -> None:
    rng, ferns = np.random.default_rng(1), Ferns(CHOSEN)
    xs = rng.normal(size=(FIRST + 400, FEATURES))
    errors = np.where(xs[:, 0] > 0, 1.0, -1.0) + rng.normal(scale=0.1, size=len(xs))
    thresholds, tables = np.zeros((FERNS, TESTS)), np.zeros((FERNS, 2**TESTS))
    visits, scale, planted = np.zeros_like(tables), RunningScale(WINDOW), 0
    for t, (x, error) in enumerate(zip(xs, errors, strict=True)):
        grown = planted // TESTS
        at = np.arange(grown), leaves_of(x, thresholds, grown)
        said = tables[at].sum() * scale.value
        assert ferns.predict(x) == pytest.approx(said, abs=1e-12)
        if scale.value > 0:
            visits[at] += 1
            pull = np.clip((error - said) / (WIDTH * scale.value), -1, 1)
            tables[at] += pull * RATE / (FERNS * np.sqrt(1 + visits[at] / SETTLED))
        scale.update(error)
        ferns.learn(x, error)
        if t + 1 > FIRST and planted < FERNS * TESTS:
            coming = slice(planted, min(planted + PLANTED, FERNS * TESTS))
            thresholds.ravel()[coming] = x[CHOSEN.ravel()[coming]]
            planted = coming.stop
    assert planted == FERNS * TESTS and np.abs(tables).max() > 0.01


def test_ferns_bend_where_a_line_cannot() -> None:
    rng, left = np.random.default_rng(2), []
    ferns = Ferns(np.random.default_rng(0).integers(0, FEATURES, size=(200, 4)))
    for x in rng.normal(size=(6_000, FEATURES)):
        error = 1.0 if (x[0] > 0) == (x[1] > 0) else -1.0  # no linear function of x
        left.append(abs(error - ferns.predict(x)))
        ferns.learn(x, error)
    assert np.mean(left[-1_000:]) < 0.7


def test_ferns_leave_alone_what_is_right_already() -> None:
    rng, ferns = np.random.default_rng(3), Ferns(CHOSEN)
    for x in rng.normal(size=(500, FEATURES)):
        ferns.learn(x, 0.0)
    assert ferns.predict(np.ones(FEATURES)) == 0.0
