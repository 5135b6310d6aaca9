"""Copying: rounds of letters, silence and marks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from tidegate._core.errors import UsageError
from tidegate.tasks import Copying


@given(size=st.integers(1, 5), lag=st.integers(0, 9), seed=st.integers(0, 2**40))
def test_marks_ask_for_the_letters_of_their_round(size: int, lag: int, seed: int) -> None:
    task = Copying(size, lag)
    block = task.stream(seed).block(4 * task.round)
    text = "".join(task.alphabet[symbol] for symbol in block.symbols)
    asked = block.legal.any(axis=1)
    answers = "".join(task.alphabet[t] for t in block.targets[asked])
    rounds = [text[k * task.round : (k + 1) * task.round] for k in range(4)]
    assert answers == "".join(r[:size] for r in rounds)
    assert all(r[size:] == "." * lag + "?" * size for r in rounds)
    assert set("".join(r[:size] for r in rounds)) <= set("abcd")
    assert np.flatnonzero(block.starts).tolist() == [k * task.round for k in range(4)]


def test_letters_are_even() -> None:
    block = Copying(2, 1).stream(1).block(30_000)
    counts = np.bincount(block.targets[block.legal.any(axis=1)], minlength=4)
    assert stats.chisquare(counts).pvalue > 0.01


@pytest.mark.parametrize("size, lag", [(0, 3), (1, -1)])
def test_impossible_rounds_are_refused(size: int, lag: int) -> None:
    with pytest.raises(UsageError, match="size >= 1 and lag >= 0"):
        Copying(size, lag)
