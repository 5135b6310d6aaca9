"""Which closing bracket is due? On real source files, tokenised properly."""

from __future__ import annotations

import html.entities
import sysconfig
import tokenize
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tidegate.cells import LSTM, RNN, Cell
from tidegate.experiments.base import Experiment, Row, Trial
from tidegate.experiments.claims import AtLeast
from tidegate.experiments.cnto_best import SpreadLSTM
from tidegate.kernels.plan import Array
from tidegate.learn import Adam, Harmonic, Learner, Network, Softmax

__all__ = ["Braces", "bracket_tokens"]

OPENERS, CLOSERS = "([{", ")]}"
KINDS = (tokenize.NAME, tokenize.NUMBER, tokenize.STRING, tokenize.OP, tokenize.NEWLINE)
ALPHABET = len(OPENERS) + len(CLOSERS) + len(KINDS) + 1
FAR = 200  # lines between an opening bracket and its closing one
MODULES = ("argparse", "ast", "datetime", "decimal", "inspect", "typing", "turtle", "tarfile")


def bracket_tokens(lines: Iterator[str]) -> tuple[list[int], list[int], list[int]]:
    """The tokens of a Python source by kind, and at each which closing bracket is due.

    Brackets within strings and comments are no brackets: the tokeniser of Python itself decides.

    Returns:
        kinds (tokens,): 0-2 opening, 3-5 closing, then name, number, string, operator, end of
        line, other; due (tokens,): the innermost open bracket after the token, -1 if none is open;
        ages (tokens,): lines since it was opened.

    >>> kinds, due, _ = bracket_tokens(iter(["x = [1, '(']"]))
    >>> kinds[:6], due[:6]
    ([6, 9, 1, 7, 9, 8], [-1, -1, 1, 1, 1, 1])
    """
    kinds, due, ages = [], [], []
    open_brackets: list[tuple[int, int]] = []
    for token in tokenize.generate_tokens(lambda: next(lines, "")):
        kind = _kind(token)
        if kind < len(OPENERS):
            open_brackets.append((kind, token.start[0]))
        elif kind < len(OPENERS) + len(CLOSERS):
            open_brackets.pop()
        kinds.append(kind)
        due.append(open_brackets[-1][0] if open_brackets else -1)
        ages.append(token.start[0] - open_brackets[-1][1] if open_brackets else 0)
    return kinds, due, ages


def _kind(token: tokenize.TokenInfo) -> int:
    if token.string in OPENERS + CLOSERS and token.type == tokenize.OP:
        return (OPENERS + CLOSERS).index(token.string)
    first = len(OPENERS) + len(CLOSERS)
    return first + KINDS.index(token.type) if token.type in KINDS else ALPHABET - 1


@cache
def _file(path: Path) -> tuple[Array, Array, Array]:
    with tokenize.open(path) as file:
        kinds, due, ages = bracket_tokens(iter(file.readlines()))
    return np.array(kinds), np.array(due), np.array(ages)


def _learned() -> list[Path]:
    library = Path(sysconfig.get_paths()["stdlib"])
    return [library / f"{module}.py" for module in MODULES]


def _asked_of(path: Path) -> tuple[Array, Array, npt.NDArray[np.bool_]]:
    """One-hot tokens, what is due (NaN where nothing is) and which questions are far."""
    kinds, due, ages = _file(path)
    xs = np.eye(ALPHABET)[kinds]
    targets = np.where(due < 0, np.nan, due)[:, None].astype(np.float64)
    return xs, targets, np.asarray(ages >= FAR)


CELLS: dict[str, Cell] = {
    "spread": SpreadLSTM(shortest=2.0, longest=10_000.0),
    "lstm": LSTM(forget_bias=2.0),
    "rnn": RNN(),
}
LABELS = {
    "spread": "LSTM by half-lives",
    "lstm": "LSTM, forget bias 2",
    "rnn": "plain RNN, truncated gradient",
}


class Braces(Experiment):
    """After every token: which closing bracket is due?

    >>> [row.name for row in Braces().rows()]
    ['lstm', 'spread', 'rnn']
    """

    name: ClassVar[str] = "braces"
    title: ClassVar[str] = "Which closing bracket is due, hundreds of lines later"
    source: ClassVar[str] = (
        "after Karpathy, Johnson & Fei-Fei, Visualizing and Understanding Recurrent Networks "
        "(2015), whose nets had cells that follow brackets; here measured on Python's own library"
    )
    protocol: ClassVar[str] = (
        "The tokens of eight modules of Python's standard library (strings and comments are "
        "tokens, so brackets within them do not count), read over and over as one stream without "
        "resets; after each token within brackets the innermost open one is asked. 32 units, "
        "softmax, Adam 0.01 / (1 + n/30,000). Then, with frozen weights, the module html.entities, "
        "never learned, whose dictionaries stay open for up to 2,200 lines."
    )
    criterion: ClassVar[str] = (
        "at least 99 % right on html.entities, among the questions whose bracket was opened 200 "
        "lines before or more"
    )
    unit: ClassVar[str] = "readings of the eight modules"
    budget: ClassVar[int] = 8
    trials: ClassVar[int] = 5
    quick: ClassVar[tuple[int, int]] = (1, 1)
    measure: ClassVar[str] = "share right, 200 lines or more"
    picture: ClassVar[str] = "  html5 = {  'Aacute': '..',  ... 2,200 lines ...  'zwnj;': '..',  }"
    wanting: ClassVar[str] = (
        "The files are those of the Python that runs it, so figures move a little with its version."
    )

    def rows(self) -> Sequence[Row]:
        """A common forget bias, half-lives by design, and no gate."""
        return [
            Row("lstm", LABELS["lstm"], "", AtLeast(0.8)),
            Row("spread", LABELS["spread"]),
            Row("rnn", LABELS["rnn"]),
        ]

    def trial(self, row: str, seed: int, budget: int) -> Trial:
        """One net over ``budget`` readings of the modules in an order of its own."""
        rng = np.random.default_rng(seed)
        net = Learner(
            Network(ALPHABET, len(OPENERS), cell=CELLS[row], units=32),
            Softmax(),
            Adam(Harmonic(0.01, tau=3e4), eps=1e-4),
            seed=seed,
        )
        paths, tokens = _learned(), 0
        for _ in range(budget):
            for n in rng.permutation(len(paths)).tolist():
                xs, targets, _far = _asked_of(paths[n])
                net.run(xs, targets)
                tokens += len(xs)
        share = _share_right(net)
        return Trial(share >= 0.99, tokens, measure=share)


def _share_right(net: Learner) -> float:
    xs, targets, far = _asked_of(Path(html.entities.__file__))
    predictor = net.predictor()
    predictor.forget()
    right = predictor.run(xs).argmax(axis=1) == targets[:, 0]
    return float(right[far & np.isfinite(targets[:, 0])].mean())
