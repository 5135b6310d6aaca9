"""Parity of fair bits."""

from __future__ import annotations

import numpy as np
from scipy import stats  # type: ignore[import-untyped]

from tidegate.tasks import Parity


def test_answers_count_ones() -> None:
    block = Parity().stream(3).block(3000)
    ones, expected = 0, []
    for bit in block.symbols.tolist():
        ones += bit
        expected.append(ones % 2)
    assert block.targets.tolist() == expected


def test_bits_are_fair_and_answers_tell_nothing_of_the_next() -> None:
    block = Parity().stream(5).block(100_000)
    assert stats.binomtest(int(block.symbols.sum()), 100_000).pvalue > 0.01
    table = np.zeros((2, 2))
    np.add.at(table, (block.symbols[1:], block.targets[1:]), 1)
    assert stats.chi2_contingency(table).pvalue > 0.01
