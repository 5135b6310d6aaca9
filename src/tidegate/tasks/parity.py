"""Whether the number of ones so far is odd."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tidegate._core.errors import DataError
from tidegate.tasks.arrays import Floats, Symbols, one_hot
from tidegate.tasks.base import Block, State, Task, checked_steps
from tidegate.tasks.randomness import checked_seed, random_words

__all__ = ["Parity"]


class Parity(Task):
    """After each fair bit: is the number of ones so far odd? Classes: 0 (no) and 1 (yes).

    No finite stretch of the past decides it, and one bit of memory does.

    >>> block = Parity().stream(seed=1).block(6)
    >>> block.symbols.tolist(), block.targets.tolist()
    ([1, 1, 0, 0, 0, 1], [1, 0, 0, 0, 0, 1])
    """

    name: ClassVar[str] = "parity"
    alphabet: ClassVar[str] = "01"
    inputs: ClassVar[int] = 2
    outputs: ClassVar[int] = 2

    def start(self, seed: int) -> State:
        """The beginning of the stream called ``seed``."""
        return State(checked_seed(seed), 0, 0)

    def block(self, state: State, steps: int) -> tuple[Block, State]:
        """The next ``steps`` bits; the state's memory is the parity."""
        seed, position, odd = state
        words = random_words(seed, position, checked_steps(steps))
        bits = (words & np.uint64(1)).astype(np.uint8)
        answers = ((np.cumsum(bits) + odd) % 2).astype(np.uint8)
        starts = np.arange(position, position + steps) == 0
        block = Block(bits, answers, one_hot(answers, 2) > 0, starts, len(self.alphabet))
        return block, State(seed, position + steps, int(answers[-1]) if steps else odd)

    def oracle(self, symbols: Symbols) -> Floats:
        """(steps, 2) the parity of the symbols (steps,).

        Raises:
            DataError: a symbol is neither 0 nor 1.
        """
        wrong = np.flatnonzero(np.asarray(symbols) > 1)
        if wrong.size:
            step = int(wrong[0])
            raise DataError(f"symbol {step}", "0 or 1", f"{symbols[step]}", "Bits are 0 and 1.")
        return one_hot((np.cumsum(symbols) % 2).astype(np.uint8), self.outputs)
