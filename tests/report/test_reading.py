"""A long recording is opened at its end alone, and a gap ends what is looked at."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tidegate import UsageError
from tidegate._core.trace import Meta, Trace
from tidegate._core.trace_files import TraceWriter
from tidegate.report import last_steps


def recording(start: int, steps: int) -> Trace:
    numbers = np.arange(start, start + steps, dtype=float).reshape(-1, 1, 1)
    return Trace({"c": -numbers}, meta=Meta(start=start))


@pytest.mark.parametrize(
    ("steps", "wanted"), [(1, [90]), (5, [90]), (6, [90, 80]), (15, [90, 80]), (16, [90, 80, 70])]
)
def test_pieces_are_opened_from_the_end_until_there_are_enough(
    tmp_path: Path, opened_pieces: list[int], steps: int, wanted: list[int]
) -> None:
    with TraceWriter(tmp_path, piece=10) as writer:
        writer.write(recording(0, 95))
    found = last_steps(tmp_path, steps)
    assert (found.meta.start, found.steps) == (95 - steps, steps)
    assert found.log_retention["c"].ravel().tolist() == [-float(n) for n in range(95 - steps, 95)]
    assert opened_pieces == wanted


def test_what_came_before_a_gap_is_left_out(tmp_path: Path) -> None:
    with TraceWriter(tmp_path, piece=10) as writer:
        writer.write(recording(0, 20))
        writer.write(recording(30, 15))
    found = last_steps(tmp_path, 1000)
    assert (found.meta.start, found.steps) == (30, 15)


def test_nothing_recorded_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--trace"):
        last_steps(tmp_path / "run" / "trace", 10)
