"""Copying: a few symbols, a long silence, and the same symbols again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tidegate._core.errors import DataError, UsageError
from tidegate.tasks.arrays import Floats, Symbols, one_hot
from tidegate.tasks.base import Block, State, Task, checked_steps
from tidegate.tasks.randomness import checked_seed, random_words

__all__ = ["Copying"]

_LETTERS = 4
_SILENCE, _RECALL = 4, 5


@dataclass(frozen=True)
class Copying(Task):
    """``size`` letters, then ``lag`` silent steps, then as many marks: each asks for its letter.

    Rounds follow each other without a break. Letters are a, b, c, d, evenly drawn; ``.`` is
    silence and ``?`` a mark. Only marks ask. Guessing is right a quarter of the time.

    Source: Hochreiter & Schmidhuber 1997, section 5.2, in the form of Arjovsky, Shah & Bengio,
    "Unitary Evolution Recurrent Neural Networks" (2016), section 4.1.

    Args:
        size: letters to be kept.
        lag: silent steps.

    Raises:
        UsageError: ``size`` is below 1, or ``lag`` negative.

    >>> task = Copying(size=2, lag=3)
    >>> block, _ = task.block(task.start(seed=2), 14)
    >>> "".join(task.alphabet[symbol] for symbol in block.symbols)
    'bb...??dc...??'
    >>> [task.alphabet[t] for t in block.targets[block.legal.any(axis=1)]]
    ['b', 'b', 'd', 'c']
    """

    name: ClassVar[str] = "copying"
    alphabet: ClassVar[str] = "abcd.?"
    inputs: ClassVar[int] = 6
    outputs: ClassVar[int] = 4

    size: int = 3
    lag: int = 20

    def __post_init__(self) -> None:
        if self.size < 1 or self.lag < 0:
            got = f"size={self.size}, lag={self.lag}"
            raise UsageError("Copying", "size >= 1 and lag >= 0", got, "Try Copying(3, 20).")

    @property
    def round(self) -> int:
        """Steps of a round."""
        return 2 * self.size + self.lag

    def start(self, seed: int) -> State:
        """The beginning of the stream called ``seed``."""
        return State(checked_seed(seed), 0, 0)

    def block(self, state: State, steps: int) -> tuple[Block, State]:
        """The next ``steps`` symbols; the position alone says where in a round they are."""
        seed, position, _ = state
        numbers, within = np.divmod(position + np.arange(checked_steps(steps)), self.round)
        first = position // self.round
        count = int(numbers[-1]) - first + 1 if steps else 0
        words = random_words(seed, first * self.size, count * self.size)
        letters = (words >> np.uint64(62)).astype(np.uint8).reshape(count, self.size)
        asked = within >= self.size + self.lag
        which = np.where(asked, within - self.size - self.lag, np.minimum(within, self.size - 1))
        letter = letters[numbers - first, which]
        symbols = np.where(within < self.size, letter, np.where(asked, _RECALL, _SILENCE))
        targets = np.where(asked, letter, 0).astype(np.uint8)
        legal = (one_hot(targets, _LETTERS) > 0) & asked[:, None]
        block = Block(symbols.astype(np.uint8), targets, legal, within == 0, self.inputs)
        return block, State(seed, position + steps, 0)

    def oracle(self, symbols: Symbols) -> Floats:
        """(steps, 4) the letter at every mark, and nothing elsewhere.

        Raises:
            DataError: a symbol that cannot come at its place in the round.
        """
        answers = np.zeros((len(symbols), _LETTERS), np.float32)
        kept: list[int] = []
        for step, symbol in enumerate(np.asarray(symbols).tolist()):
            within = step % self.round
            kind = _RECALL if within >= self.size + self.lag else _SILENCE
            if within < self.size:
                kept = [*kept, symbol] if within else [symbol]
            if (symbol != kind) if within >= self.size else (symbol >= _LETTERS):
                expected = "a letter" if within < self.size else self.alphabet[kind]
                raise DataError(f"symbol {step}", expected, f"{symbol}", "Read from a start.")
            if kind == _RECALL:
                answers[step, kept[within - self.size - self.lag]] = 1
        return answers
