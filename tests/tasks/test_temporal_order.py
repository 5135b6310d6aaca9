"""Noisy temporal order against its words in the papers."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

from tidegate._core.errors import DataError
from tidegate.tasks import TemporalOrder

FORM = re.compile(r"E([abcd]*)([XY])([abcd]*)([XY])([abcd]*)([XY])[abcd]*B")
CLASSES = ["XXX", "XXY", "XYX", "XYY", "YXX", "YXY", "YYX", "YYY"]


def text(symbols) -> str:
    return "".join(TemporalOrder.alphabet[symbol] for symbol in symbols)


def sequences(count: int, seed: int = 4) -> tuple[list[str], list[int]]:
    block = TemporalOrder().stream(seed).block(count * 111)
    begins = np.flatnonzero(block.starts)[: count + 1]
    letters = text(block.symbols)
    asked = np.flatnonzero(block.legal.any(axis=1))[:count]
    found = [letters[a:b] for a, b in zip(begins[:-1], begins[1:], strict=True)]
    return found, block.targets[asked].tolist()


def test_sequences_have_the_published_form() -> None:
    strings, _ = sequences(3000)
    places = []
    for string in strings:
        match = FORM.fullmatch(string)
        assert match and 100 <= len(string) <= 110
        places.append([match.start(n) for n in (2, 4, 6)])
    low, high = np.min(places, axis=0).tolist(), np.max(places, axis=0).tolist()
    assert (low, high) == ([10, 33, 66], [20, 43, 76])
    lengths = np.bincount([len(string) - 100 for string in strings], minlength=11)
    assert stats.chisquare(lengths).pvalue > 0.01
    for column in np.array(places).T:
        assert stats.chisquare(np.bincount(column - column.min())).pvalue > 0.01


def test_the_class_is_the_order_of_the_marks_and_all_are_as_likely() -> None:
    strings, answers = sequences(4000)
    marks = ["".join(c for c in string if c in "XY") for string in strings]
    assert [CLASSES[answer] for answer in answers] == marks
    assert stats.chisquare(np.bincount(answers, minlength=8)).pvalue > 0.01


def test_noise_is_even() -> None:
    strings, _ = sequences(2000)
    counts = [sum(string.count(letter) for string in strings) for letter in "abcd"]
    assert stats.chisquare(counts).pvalue > 0.01


def test_only_the_trigger_asks() -> None:
    block = TemporalOrder().stream(1).block(5000)
    asked = block.legal.any(axis=1)
    assert (asked == (block.symbols == TemporalOrder.alphabet.index("B"))).all()
    assert (block.legal.sum(axis=1) <= 1).all()


@pytest.mark.parametrize("wrong", ["EaXB", "EXYXYB", "B"])
def test_the_oracle_refuses_other_orders(wrong: str) -> None:
    codes = np.array([TemporalOrder.alphabet.index(c) for c in wrong], np.uint8)
    with pytest.raises(DataError, match=f"symbol {len(wrong) - 1}"):
        TemporalOrder().oracle(codes)
