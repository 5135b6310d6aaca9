"""The criterion, one-hot rows, and the source of randomness."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate._core.errors import UsageError
from tidegate.tasks import Block, Reber, correct, one_hot
from tidegate.tasks.randomness import random_bits, random_words

ROWS = st.lists(st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.booleans()), min_size=1)


@given(row=ROWS)
def test_the_criterion_compares_every_pair(row: list[tuple[float, bool]]) -> None:
    good = [score for score, legal in row if legal]
    bad = [score for score, legal in row if not legal]
    expected = all(a > b for a in good for b in bad)
    scores, legal = (np.array([column]) for column in zip(*row, strict=True))
    assert correct(scores, legal).tolist() == [expected]


@pytest.mark.parametrize("where", [0, 1, 2])
def test_nan_is_never_right(where: int) -> None:
    scores = np.array([[0.9, 0.8, 0.1]])
    legal = np.array([[True, True, False]])
    assert correct(scores, legal).all()
    scores[0, where] = np.nan
    assert not correct(scores, legal).any()


def test_infinite_scores_count_by_their_order() -> None:
    legal = np.array([[True, False], [True, False], [True, False]])
    scores = np.array([[np.inf, 0.0], [0.0, -np.inf], [np.inf, np.inf]])
    assert correct(scores, legal).tolist() == [True, True, False]


def test_scores_of_another_shape_are_refused() -> None:
    with pytest.raises(UsageError, match=r"scores: expected the shape \(4, 7\), got \(4,\)"):
        correct(np.zeros(4), np.ones((4, 7), np.bool_))


def test_the_score_counts_only_steps_that_ask() -> None:
    codes = np.zeros(4, np.uint8)
    legal = np.array([[1, 0], [1, 0], [0, 0], [0, 0]], np.bool_)
    block = Block(codes, codes, legal, np.zeros(4, np.bool_), 2)
    predictions = np.array([[0.9, 0.1], [0.1, 0.9], [0.5, 0.5], [0.5, 0.5]])
    assert Reber().score(predictions, block) == 0.5


def test_one_hot_refuses_what_has_no_place() -> None:
    assert one_hot(np.array([], np.uint8), 3).shape == (0, 3)
    for wrong in ([3], [-1], [0, 7]):
        with pytest.raises(UsageError, match=r"symbols in 0 \.\. 2"):
            one_hot(np.array(wrong), 3)


@given(seed=st.integers(0, 2**63 - 1), first=st.integers(0, 50), count=st.integers(0, 50))
def test_words_are_those_of_a_plain_run(seed: int, first: int, count: int) -> None:
    plain = np.random.Philox(key=seed).random_raw(first + count)
    assert np.array_equal(random_words(seed, first, count), plain[first:])


@given(first=st.integers(0, 300), count=st.integers(0, 300))
def test_bits_are_those_of_the_words(first: int, count: int) -> None:
    words = random_words(11, 0, 10).tolist()
    bits = [word >> place & 1 for word in words for place in range(64)]
    assert random_bits(11, first, count).tolist() == bits[first : first + count]


def test_far_positions_are_reached_at_once() -> None:
    far = 10**15 + 1
    jumped = np.random.Philox(key=3).advance(far // 4).random_raw(8)[far % 4 :]
    assert np.array_equal(random_words(3, far, 4), jumped[:4])
