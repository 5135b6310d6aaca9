"""The language (0|1)*10000*: a 1 has come, but not lately."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tidegate._core.errors import DataError, UsageError
from tidegate.tasks.arrays import Bools, Floats, Symbols, one_hot
from tidegate.tasks.base import Block, State, Task, checked_steps
from tidegate.tasks.randomness import checked_seed, random_words

_NEVER = -1


@dataclass(frozen=True)
class RecentOne(Task):
    """After each bit: has a 1 occurred, but none within the last ``n`` bits?

    The classes are 0 (no) and 1 (yes). The bits that count as the last ``n`` include the one just
    seen: the answer turns to yes with the n-th 0 after a 1. With ``n`` = 3 the prefixes answered
    yes are the language (0|1)*10000*. A bit is 1 with probability 1 / (1.5 n), so that both
    answers are common.

    Args:
        n: bits that count as recent.

    Raises:
        UsageError: ``n`` is below 1.

    >>> task = RecentOne(n=3)
    >>> block, state = task.block(task.start(seed=9), 24)
    >>> print(*block.symbols, sep="")
    100000000100010000101000
    >>> print(*block.targets, sep="")
    000111111000100011000001
    >>> task.oracle(np.array([0, 1, 0, 0, 0, 0, 1], np.uint8))[:, 1].tolist()
    [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0]
    """

    name: ClassVar[str] = "recent_one"
    alphabet: ClassVar[str] = "01"
    inputs: ClassVar[int] = 2
    outputs: ClassVar[int] = 2

    n: int = 3

    def __post_init__(self) -> None:
        if self.n < 1:
            raise UsageError("n", "at least 1 bit", f"{self.n}", "The language of the name has 3.")

    def start(self, seed: int) -> State:
        """The beginning of the stream called ``seed``."""
        return State(checked_seed(seed), 0, _NEVER)

    def block(self, state: State, steps: int) -> tuple[Block, State]:
        """The next ``steps`` bits; the state's memory is the position of the last 1, or -1."""
        seed, position, last = state
        positions = np.arange(position, position + checked_steps(steps))
        ones = self._ones(seed, position, steps)
        latest = np.maximum.accumulate(np.where(ones, positions, last))
        yes = (latest != _NEVER) & (positions - latest >= self.n)
        after = State(seed, position + steps, int(latest[-1]) if steps else last)
        return self._block(ones, yes, positions == 0), after

    def _ones(self, seed: int, first: int, count: int) -> Bools:
        below = int(2**64 / (1.5 * self.n))
        ones: Bools = random_words(seed, first, count) < np.uint64(below)
        return ones

    def _block(self, ones: Bools, yes: Bools, starts: Bools) -> Block:
        legal = np.stack([~yes, yes], axis=1)
        return Block(ones.view(np.uint8), yes.view(np.uint8), legal, starts, len(self.alphabet))

    def oracle(self, symbols: Symbols) -> Floats:
        """(steps, 2) the answers of the smallest automaton: it counts 0s after a 1, up to n.

        Raises:
            DataError: a symbol is neither 0 nor 1.
        """
        unseen = self.n + 1
        zeros = unseen
        answers = []
        for step, bit in enumerate(symbols.tolist()):
            if bit not in (0, 1):
                raise DataError(f"symbol {step}", "0 or 1", f"{bit}", "Bits are coded 0 and 1.")
            if bit:
                zeros = 0
            elif zeros < self.n:
                zeros += 1
            answers.append(zeros == self.n)
        return one_hot(np.array(answers, np.uint8), self.outputs)
