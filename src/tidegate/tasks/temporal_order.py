"""Noisy temporal order: which of eight orders did three marks come in, long after the first?"""

from __future__ import annotations

from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from tidegate._core.errors import DataError
from tidegate.tasks.arrays import Bools, Floats, Symbols, one_hot
from tidegate.tasks.base import Block, State, Task, checked_steps
from tidegate.tasks.randomness import checked_seed, random_words

__all__ = ["TemporalOrder"]

Lengths: TypeAlias = npt.NDArray[np.int64]

_BEGIN, _TRIGGER, _FIRST_NOISE, _FIRST_MARK = 0, 1, 2, 6
_SHORTEST, _LONGEST = 100, 110
_FROM = (10, 33, 66)  # each mark comes there or up to ten steps later
_SPREAD = 11
_WORDS = 128  # of random numbers for a sequence; the first ones decide its form


class TemporalOrder(Task):
    """Sequences E ... B one after another; at B: which three marks, X or Y, were in it, in order?

    A sequence has 100 to 110 symbols. Marks come at steps 10-20, 33-43 and 66-76 after its E;
    elsewhere are a, b, c, d at random. Only B asks; the eight classes are XXX, XXY ... YYY. Read
    one by one, with memories emptied at every start, it is the task 6b of 1997 (NTO); as a stream
    it is the continual one of 2000 (CNTO).

    Source: Hochreiter & Schmidhuber 1997, section 5.6.2; Gers, Schmidhuber & Cummins 2000,
    section 5.

    >>> task = TemporalOrder()
    >>> block, _ = task.block(task.start(seed=3), 12)
    >>> "".join(task.alphabet[symbol] for symbol in block.symbols), int(block.legal.sum())
    ('Ecbbdadcddab', 0)
    """

    name: ClassVar[str] = "temporal_order"
    alphabet: ClassVar[str] = "EBabcdXY"
    inputs: ClassVar[int] = 8
    outputs: ClassVar[int] = 8

    def start(self, seed: int) -> State:
        """The beginning of the stream called ``seed``."""
        return State(checked_seed(seed), 0, 0)

    def block(self, state: State, steps: int) -> tuple[Block, State]:
        """The next ``steps`` symbols; the memory codes the sequence and the step within it."""
        seed, position, memory = state
        first, within = divmod(memory, _WORDS)
        count = (within + checked_steps(steps)) // _SHORTEST + 1
        symbols, answers, lengths = _sequences(seed, first, count)
        inside = np.arange(_LONGEST) < lengths[:, None]
        part = slice(within, within + steps)
        step = np.broadcast_to(np.arange(_LONGEST), inside.shape)
        asked = (step == lengths[:, None] - 1)[inside][part]
        targets = np.where(asked, np.repeat(answers, lengths)[part], 0).astype(np.uint8)
        starts = step[inside][part] == 0
        block = Block(symbols[inside][part], targets, _asking(targets, asked), starts, self.inputs)
        return block, State(seed, position + steps, _place(first, lengths, within + steps))

    def oracle(self, symbols: Symbols) -> Floats:
        """(steps, 8) the class at every B, and nothing elsewhere.

        Raises:
            DataError: a symbol that is none of the eight, or a B after other than three marks.
        """
        asked = np.asarray(symbols) == _TRIGGER
        answers = np.zeros(len(symbols), np.uint8)
        marks: list[int] = []
        for step, symbol in enumerate(np.asarray(symbols).tolist()):
            if symbol >= self.inputs or (symbol == _TRIGGER and len(marks) != 3):
                expected = "a sequence of E, noise, three marks and B"
                raise DataError(f"symbol {step}", expected, f"{symbol}", "Read from a start.")
            if symbol == _BEGIN:
                marks = []
            elif symbol >= _FIRST_MARK:
                marks.append(symbol - _FIRST_MARK)
            elif symbol == _TRIGGER:
                answers[step] = marks[0] * 4 + marks[1] * 2 + marks[2]
        return _asking(answers, asked).astype(np.float32)


def _sequences(seed: int, first: int, count: int) -> tuple[Symbols, Symbols, Lengths]:
    """Symbols (count, 110) with padding at the end, answers (count,) and lengths (count,)."""
    words = random_words(seed, first * _WORDS, count * _WORDS).reshape(count, _WORDS)
    lengths = (_SHORTEST + words[:, 0] % np.uint64(_LONGEST - _SHORTEST + 1)).astype(np.int64)
    symbols = (_FIRST_NOISE + (words[:, 8 : 8 + _LONGEST] >> np.uint64(62))).astype(np.uint8)
    rows, answers = np.arange(count), np.zeros(count, np.uint8)
    for n, earliest in enumerate(_FROM):
        at = earliest + (words[:, 1 + n] % np.uint64(_SPREAD)).astype(np.int64)
        mark = (words[:, 4 + n] >> np.uint64(63)).astype(np.uint8)
        symbols[rows, at] = _FIRST_MARK + mark
        answers = answers * np.uint8(2) + mark
    symbols[:, 0] = _BEGIN
    symbols[rows, lengths - 1] = _TRIGGER
    return symbols, answers, lengths


def _asking(answers: Symbols, asked: Bools) -> Bools:
    legal: Bools = (one_hot(answers, 8) > 0) & asked[:, None]
    return legal


def _place(first: int, lengths: Lengths, steps: int) -> int:
    """The memory after ``steps`` from the beginning of sequence ``first``."""
    ends = np.cumsum(lengths)
    passed = int(np.searchsorted(ends, steps, side="right"))
    within = steps - (int(ends[passed - 1]) if passed else 0)
    return (first + passed) * _WORDS + within
