"""The language (0|1)*10000* against its regular expression and its known solutions."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from tidegate._core.errors import UsageError
from tidegate.tasks import RecentOne


@given(seed=st.integers(0, 2**32), n=st.integers(1, 6))
def test_yes_is_said_to_prefixes_of_the_language(seed: int, n: int) -> None:
    block = RecentOne(n).stream(seed).block(60)
    text = "".join(map(str, block.symbols))
    language = re.compile(f"[01]*1{'0' * n}0*")
    expected = [bool(language.fullmatch(text[: end + 1])) for end in range(60)]
    assert block.targets.tolist() == expected


@pytest.mark.parametrize("n", [1, 3, 10, 20, 500])
def test_ones_come_with_their_probability_and_alone(n: int) -> None:
    ones = RecentOne(n).stream(3).block(200_000).symbols
    assert stats.binomtest(int(ones.sum()), len(ones), 1 / (1.5 * n)).pvalue > 0.01
    table = [[np.sum((ones[:-1] == a) & (ones[1:] == b)) for b in (0, 1)] for a in (0, 1)]
    assert stats.chi2_contingency(table).pvalue > 0.01


@pytest.mark.parametrize("n", [3, 10, 20])
def test_yes_is_as_common_as_n_zeros(n: int) -> None:
    yes = RecentOne(n).stream(1).block(500_000).targets
    assert yes.mean() == pytest.approx((1 - 1 / (1.5 * n)) ** n, rel=0.05)


@pytest.mark.parametrize(
    "n, target, right", [(3, -0.2, True), (3, -0.1, False), (3, -0.4, False), (5, -0.05, True)]
)
def test_one_update_gate_unit_solves_it(n: int, target: float, right: bool) -> None:
    """A 1 sets the state to 1, a 0 takes it half way to ``target``; the sign is read after a 1.

    Right exactly when -1/(2^(n-1) - 1) < target < -1/(2^n - 1).
    """
    block = RecentOne(n).stream(2).block(5000)
    first = int(block.symbols.argmax())
    state, answers = 1.0, []
    for bit in block.symbols[first:]:
        state = 1.0 if bit else (state + target) / 2
        answers.append(state < 0)
    assert np.array_equal(answers, block.targets[first:]) == right


@given(st.integers(0, 2000), st.integers(1, 50))
def test_an_answer_may_hang_on_a_block_long_gone(before: int, n: int) -> None:
    task = RecentOne(n)
    whole = task.stream(17).block(before + 50)
    stream = task.stream(17)
    stream.block(before)
    assert np.array_equal(stream.block(50).targets, whole.targets[before:])


@pytest.mark.parametrize("n", [0, -3])
def test_nothing_recent_is_no_task(n: int) -> None:
    with pytest.raises(UsageError, match="n: expected at least 1 bit"):
        RecentOne(n)
