"""Traces: what they refuse, how they are cut and joined."""

from __future__ import annotations

import numpy as np
import pytest

from tidegate._core.errors import UsageError
from tidegate._core.trace import Meta, Trace, joined


def example(steps: int = 7, rows: int = 2, units: int = 3, start: int = 0) -> Trace:
    rng = np.random.default_rng(start)
    shape = (steps, rows, units)
    return Trace(
        log_retention={"c": -rng.exponential(size=shape)},
        memory={"c": rng.normal(size=shape).astype(np.float32)},
        gates={"i": rng.random(shape).astype(np.float32)},
        reset=rng.random((steps, rows)) < 0.2,
        meta=Meta(cell="LSTM()", sizes={"units": units}, seed=3, start=start),
    )


def test_sizes_and_no_reset_by_default() -> None:
    trace = Trace(memory={"c": np.zeros((4, 2, 3), np.float32)})
    assert (trace.steps, trace.rows, trace.units) == (4, 2, 3)
    assert trace.reset.shape == (4, 2) and not trace.reset.any()


def test_parts_know_where_they_begin_and_join_again() -> None:
    trace = example(start=100)
    pieces = [trace.part(0, 3), trace.part(3, 4), trace.part(4, 7)]
    assert [piece.meta.start for piece in pieces] == [100, 103, 104]
    whole = joined(pieces)
    assert whole.meta == trace.meta
    np.testing.assert_array_equal(whole.log_retention["c"], trace.log_retention["c"])
    np.testing.assert_array_equal(whole.reset, trace.reset)


def test_pieces_with_a_gap_or_other_names_do_not_join() -> None:
    trace = example()
    with pytest.raises(UsageError, match="a piece from step 3, got one from step 4"):
        joined([trace.part(0, 3), trace.part(4, 7)])
    other = Trace(memory={"d": np.zeros((4, 2, 3))}, meta=Meta(start=3))
    with pytest.raises(UsageError, match="memory.d"):
        joined([trace.part(0, 3), other])
    with pytest.raises(UsageError, match="at least one Trace"):
        joined([])


def test_log_retention_of_less_than_float64_is_refused() -> None:
    with pytest.raises(UsageError, match="expected float64, got float32"):
        Trace(log_retention={"c": np.zeros((4, 1, 3), np.float32)})
    with pytest.raises(UsageError, match="float32 or float64, got float16"):
        Trace(memory={"c": np.zeros((4, 1, 3), np.float16)})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "at least one array"),
        ({"memory": {"c": np.zeros((4, 3))}}, r"shape \(steps, rows, units\)"),
        ({"memory": {"c": np.zeros((4, 1, 3)), "d": np.zeros((5, 1, 3))}}, "memory.d"),
        ({"memory": {"c": np.zeros((4, 1, 3))}, "reset": np.ones((4, 2), bool)}, r"\(4, 2\)"),
        (
            {"memory": {"c": np.zeros((4, 1, 3))}, "log_retention": {"h": np.zeros((4, 1, 3))}},
            "names of memory: c, got h",
        ),
    ],
)
def test_what_is_no_trace_is_refused(arguments: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Trace(**arguments)
