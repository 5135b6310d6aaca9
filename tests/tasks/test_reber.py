"""The embedded Reber grammar against the papers' drawing and its exact statistics."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

from tidegate.tasks import Block, Reber, UnmarkedReber
from tidegate.tasks.reber import EmbeddedReber

# The drawing of the grammar as a table: state, then what may come, then where it leads.
INNER = {0: "T1 P2", 1: "S1 X3", 2: "T2 V4", 3: "X2 S5", 4: "P3 V5"}
# The same language by hand, as a regular expression.
AFTER_3 = "(?:XT*VP)*(?:XT*VV|S)"
STRING = f"([TP])B(?:TS*X{AFTER_3}|PT*V(?:P{AFTER_3}|V))E"
MARKED = re.compile(f"B{STRING}\\1E")
UNMARKED = re.compile(f"{STRING}\\1")
both = pytest.mark.parametrize("task", [Reber(), UnmarkedReber()], ids=lambda task: task.name)


def letters(block: Block) -> str:
    return "".join(Reber.alphabet[symbol] for symbol in block.symbols)


def cut(block: Block) -> list[str]:
    """The complete strings of a stream that begins with one."""
    begins = np.flatnonzero(block.starts)
    text = letters(block)
    return [text[a:b] for a, b in zip(begins[:-1], begins[1:], strict=True)]


def length_probabilities(longest: int) -> np.ndarray:
    """P(length) of embedded strings, by powers of the inner transition matrix."""
    matrix = np.zeros((6, 6))
    for state, row in INNER.items():
        for branch in row.split():
            matrix[state, int(branch[1])] += 0.5
    # Outside the walk from state 0 to 5: B, T or P, B before it, and E, T or P, E after it.
    reached = [np.linalg.matrix_power(matrix, steps)[0, 5] for steps in range(longest - 5)]
    return np.array([0.0] * 6 + reached)


def test_exact_length_probabilities() -> None:
    exact = length_probabilities(400)
    assert exact[:9].sum() == 0
    assert exact[9:12].tolist() == [0.25, 0.1875, 0.125]
    assert exact.sum() == pytest.approx(1)
    assert exact @ np.arange(401) == pytest.approx(12)


@both
def test_string_lengths_follow_them(task: EmbeddedReber) -> None:
    lengths = np.array([len(string) for string in cut(task.stream(20).block(10**6))])
    if task.name == "unmarked_reber":
        lengths += 2
    exact = length_probabilities(400)
    counts = np.bincount(np.minimum(lengths, 35), minlength=36)[9:]
    expected = np.append(exact[9:35], exact[35:].sum()) * len(lengths)
    assert stats.chisquare(counts, expected).pvalue > 0.01


def test_single_strings_follow_them_too() -> None:
    generator = np.random.default_rng(8)
    lengths = [len(Reber().string(generator).symbols) + 1 for _ in range(4000)]
    exact = length_probabilities(400)
    counts = np.bincount(np.minimum(lengths, 22), minlength=23)[9:]
    expected = np.append(exact[9:22], exact[22:].sum()) * len(lengths)
    assert stats.chisquare(counts, expected).pvalue > 0.01


@pytest.mark.parametrize(
    "task, grammar", [(Reber(), MARKED), (UnmarkedReber(), UNMARKED)], ids=["marked", "unmarked"]
)
def test_a_stream_is_strings_of_the_language(task: EmbeddedReber, grammar: re.Pattern[str]) -> None:
    strings = cut(task.stream(1).block(50_000))
    assert len(strings) > 4000
    assert all(grammar.fullmatch(string) for string in strings)


def test_a_single_string_is_of_the_language_and_ends_unasked() -> None:
    generator = np.random.default_rng(1)
    for _ in range(200):
        block = Reber().string(generator)
        text = letters(block) + Reber.alphabet[block.targets[-1]]
        assert MARKED.fullmatch(text)
        assert block.starts.tolist() == [True] + [False] * (len(text) - 2)
        assert Reber().score(Reber().oracle(block.symbols), block) == 1.0
        assert text[-1] == "E"
    assert Reber().string(np.random.default_rng(5)).symbols.tolist() == (
        Reber().string(np.random.default_rng(5)).symbols.tolist()
    )


def test_the_second_symbol_decides_the_second_last_and_nothing_else_does() -> None:
    strings = cut(Reber().stream(2).block(200_000))
    assert all(string[1] == string[-2] for string in strings)
    assert stats.binomtest(sum(s[1] == "T" for s in strings), len(strings)).pvalue > 0.01
    inner = [[s[3], s[1]] for s in strings]
    table = [[inner.count([a, b]) for b in "TP"] for a in "TP"]
    assert stats.chi2_contingency(table).pvalue > 0.01


def walk_by_hand(text: str, begin: str, end: str) -> list[str]:
    """What may follow each symbol of a stream, by the table above."""
    legal = []
    place: str | int = "begin" if begin else "choice"
    outer = ""
    for symbol in text:
        if place == "begin":
            place, may = "choice", "TP"
        elif place == "choice":
            place, outer, may = "enter", symbol, "B"
        elif place == "enter":
            place, may = 0, "TP"
        elif place == 5:
            place, may = "leave", outer
        elif place == "leave":
            place, may = ("end", end) if end else ("choice", "TP")
        elif place == "end":
            place, may = "begin", begin
        else:
            to = {branch[0]: int(branch[1]) for branch in INNER[int(place)].split()}
            place = to[symbol]
            may = "E" if place == 5 else "".join(b[0] for b in INNER[place].split())
        legal.append("".join(sorted(may)))
    return legal


@both
def test_legal_successors_are_those_of_the_drawing(task: EmbeddedReber) -> None:
    block = task.stream(4).block(20_000)
    markers = ("B", "E") if task.name == "reber" else ("", "")
    names = np.array(sorted(Reber.alphabet))
    order = [Reber.alphabet.index(name) for name in names]
    said = ["".join(names[row]) for row in block.legal[:, order]]
    assert said == walk_by_hand(letters(block), *markers)


@both
def test_targets_are_the_next_symbols(task: EmbeddedReber) -> None:
    block = task.stream(6).block(1001)
    assert np.array_equal(block.targets[:-1], block.symbols[1:])


@both
def test_branches_are_fair_and_independent(task: EmbeddedReber) -> None:
    """Where two symbols are legal, the first comes half the time, after either."""
    block = task.stream(7).block(300_000)
    open_ = block.legal.sum(axis=1) == 2
    first = block.targets[open_] == block.legal[open_].argmax(axis=1)
    assert stats.binomtest(int(first.sum()), len(first)).pvalue > 0.01
    table = [[np.sum((first[:-1] == a) & (first[1:] == b)) for b in (0, 1)] for a in (0, 1)]
    assert stats.chi2_contingency(table).pvalue > 0.01


def test_the_strings_longest_lag_is_rare_but_there() -> None:
    lengths = [len(string) for string in cut(Reber().stream(9).block(10**6))]
    assert len(lengths) == pytest.approx(83_333, rel=0.01)
    assert 35 < max(lengths) < 80
