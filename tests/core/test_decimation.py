"""Decimation: what one step forgot stays visible at every scale."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate._core.decimation import decimate
from tidegate._core.errors import UsageError
from tidegate._core.trace import Trace


def trace_of(steps: int, seed: int) -> Trace:
    rng = np.random.default_rng(seed)
    kept = -0.01 * rng.random((steps, 2, 3))
    return Trace(
        log_retention={"c": kept}, memory={"c": rng.normal(size=(steps, 2, 3))},
        reset=rng.random((steps, 2)) < 0.1,
    )  # fmt: skip


@given(
    st.integers(1, 80), st.lists(st.integers(1, 9), min_size=1, max_size=3), st.integers(0, 10_000)
)
def test_the_least_step_survives_every_decimation(steps: int, every: list, where: int) -> None:
    trace = trace_of(steps, seed=where)
    at = where % steps
    trace.log_retention["c"][at, 1, 2] = -9.0
    buckets, size = decimate(trace, every[0]), every[0]
    for more in every[1:]:
        buckets, size = buckets.coarser(more), size * more
    assert buckets.minimum["c"].min() == -9.0
    assert buckets.minimum["c"][at // size, 1, 2] == -9.0
    assert buckets.counts.sum() == steps
    for b, first in enumerate(range(0, steps, size)):
        chunk = slice(first, first + size)
        np.testing.assert_allclose(buckets.mean["c"][b], trace.log_retention["c"][chunk].mean(0))
        np.testing.assert_allclose(buckets.memory["c"][b], trace.memory["c"][chunk].mean(0))
        np.testing.assert_array_equal(buckets.reset[b], trace.reset[chunk].any(0))
        assert buckets.first[b] == first


def test_all_forgotten_once_is_all_forgotten() -> None:
    trace = trace_of(10, 0)
    trace.log_retention["c"][3] = -np.inf
    assert np.isneginf(decimate(trace, 5).mean["c"][0]).all()
    assert np.isfinite(decimate(trace, 5).mean["c"][1]).all()


def test_a_bucket_has_at_least_one_step() -> None:
    with pytest.raises(UsageError, match="at least 1 step a bucket"):
        decimate(trace_of(4, 0), 0)
