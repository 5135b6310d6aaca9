"""Where training and test streams come from, piece by piece, each from a beginning."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tidegate.experiments.criteria import some
from tidegate.kernels.plan import Array
from tidegate.tasks import State, Task
from tidegate.tasks.arrays import Bools

__all__ = ["RestartedSource", "Source", "SymbolSource", "restarted", "symbols"]

_AHEAD, _FIRST = 4096, 64


class Source(ABC):
    """An endless supply of streams; arrays hold what was read ahead.

    Attributes:
        inputs: (read, inputs).
        wanted: (read, outputs) what a criterion compares outputs with.
        targets: (read, targets) what is learned, NaN where nothing is asked.
        asked: (read,) which steps ask something.
        starts: (read,) where a new string begins.
        every: whether all of them ask something.
    """

    inputs: Array
    wanted: npt.NDArray[Any]
    targets: Array
    asked: Bools
    starts: Bools
    every: bool = False

    def __init__(self) -> None:
        self.at = self.size = 0

    @abstractmethod
    def begin(self) -> None:
        """Go to the beginning of another stream."""

    @abstractmethod
    def read(self) -> None:
        """Read ahead: fill the arrays with what comes, ``at`` 0 and ``size`` their length."""

    def peek(self, steps: int, questions: int) -> slice:
        """The place of symbols to come, one at least; ``take`` moves past them.

        Args:
            steps: symbols at most.
            questions: of these among them, at most.
        """
        if self.at == self.size:
            self.read()
        piece = slice(self.at, min(self.at + steps, self.size))
        if steps <= questions:
            return piece
        asking = np.flatnonzero(self.asked[piece])
        if len(asking) < questions:
            return piece
        return slice(self.at, self.at + int(asking[questions - 1]) + 1)

    def take(self, steps: int) -> None:
        """Move on."""
        self.at += steps


class SymbolSource(Source):
    """Strings of a task, one stream after the other, each from the beginning of a string.

    Args:
        task: whose strings they are.
        seed: of the task's stream.
        next_symbol: the target is the one symbol that comes, not all that could.

    >>> from tidegate.tasks import Reber
    >>> source = SymbolSource(Reber(), seed=1)
    >>> source.begin()
    >>> piece = source.peek(3, questions=100)
    >>> source.inputs[piece].argmax(axis=1).tolist(), source.wanted[piece].sum(axis=1).tolist()
    ([0, 4, 0], [2, 1, 2])
    """

    def __init__(self, task: Task, seed: int, next_symbol: bool = False) -> None:
        super().__init__()
        self._task, self._next_symbol = task, next_symbol
        self._state: State = task.start(seed)

    def begin(self) -> None:
        """Pass over what is left of a string."""
        while True:
            if self.at == self.size:
                self.read()
            ahead = int(self.starts[self.at :].argmax())
            if self.starts[self.at + ahead]:
                self.at += ahead
                return
            self.at = self.size

    def read(self) -> None:
        block, self._state = self._task.block(self._state, _AHEAD)
        self.inputs = block.inputs.astype(np.float64)
        self.wanted, self.starts = block.legal, block.starts
        self.asked = some(block.legal)
        self.every = bool(self.asked.all())
        learned = block.legal
        if self._next_symbol:
            learned = np.eye(block.legal.shape[1], dtype=np.bool_)[block.targets]
        self.targets = learned.astype(np.float64)
        self.targets[~self.asked] = np.nan
        self.at, self.size = 0, len(self.inputs)


class RestartedSource(Source):
    """Streams of a task that are not cut out of one, each with a seed of its own.

    For tasks whose stream is one string without an end. Targets are the classes that come.

    >>> from tidegate.tasks import Parity
    >>> source = RestartedSource(Parity(), seed=1)
    >>> source.begin(); bits = source.inputs[source.peek(4, 4), 1]
    >>> bits.tolist(), source.targets[:4, 0].tolist()
    ([0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 1.0])
    """

    every = True

    def __init__(self, task: Task, seed: int) -> None:
        super().__init__()
        self._task, self._seeds = task, np.random.default_rng(seed)

    def begin(self) -> None:
        """Another stream from its beginning."""
        self._state, self._ahead = self._task.start(int(self._seeds.integers(2**62))), _FIRST
        self.read()

    def read(self) -> None:
        block, self._state = self._task.block(self._state, self._ahead)
        # Most streams are short: what is read ahead of them in vain takes longer than they do.
        self._ahead = _AHEAD
        self.inputs, self.targets = block.inputs.astype(np.float64), block.targets[:, None] * 1.0
        self.wanted, self.starts = block.legal, block.starts
        self.asked = np.ones(len(self.inputs), np.bool_)
        self.at, self.size = 0, len(self.inputs)


def restarted(task: Task) -> partial[RestartedSource]:
    """A supply of streams with seeds of their own, still without its seed.

    >>> from tidegate.tasks import Parity
    >>> restarted(Parity())(7).size
    0
    """
    return partial(RestartedSource, task)


def symbols(task: Task, next_symbol: bool = False) -> partial[SymbolSource]:
    """A supply of a task's streams, still without its seed.

    >>> from tidegate.tasks import Reber
    >>> symbols(Reber())(7).at
    0
    """
    return partial(SymbolSource, task, next_symbol=next_symbol)
