"""What a synthetic task is: a never-ending stream of symbols, each with a question to be answered.

A task keeps nothing: where a stream stands is a `State` of three whole numbers, and `Task.block`
maps a state and a length to arrays and the next state. Stepping and bulk runs therefore see the
same stream however it is cut, and a checkpoint of a stream is its state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy.typing as npt

from tidegate._core.errors import UsageError
from tidegate.tasks.arrays import Bools, Floats, Symbols, one_hot
from tidegate.tasks.criterion import correct

_READ_AHEAD = 1024


class State(NamedTuple):
    """Where a stream stands: all there is to save.

    Args:
        seed: names the stream.
        position: steps already given.
        memory: what the task must know of those steps, coded by the task as one number.

    >>> import json
    >>> State(*json.loads(json.dumps(State(seed=1, position=12, memory=2))))
    State(seed=1, position=12, memory=2)
    """

    seed: int
    position: int
    memory: int


class Step(NamedTuple):
    """One step: ``input`` (inputs,), ``target`` a class, ``legal`` (outputs,); see `Block`.

    >>> from tidegate.tasks import RecentOne
    >>> step = next(RecentOne(n=3).stream(seed=9))
    >>> step.symbol, step.input.tolist(), step.target, step.legal.tolist(), step.start
    (1, [0.0, 1.0], 0, [True, False], True)
    """

    symbol: int
    input: Floats
    target: int
    legal: Bools
    start: bool


@dataclass(frozen=True)
class Block:
    """Consecutive steps of a stream, as arrays.

    Args:
        symbols: (steps,) what is seen at each step.
        targets: (steps,) the class that comes out: the next symbol, or the answer.
        legal: (steps, outputs) the classes that could come out; a row without any asks nothing.
        starts: (steps,) where a new string begins: a learner with external resets is reset
            before this step.
        alphabet: how many symbols there are.

    >>> from tidegate.tasks import RecentOne
    >>> block = RecentOne(n=3).stream(seed=9).block(5)
    >>> block.symbols.tolist(), block.targets.tolist()
    ([1, 0, 0, 0, 0], [0, 0, 0, 1, 1])
    >>> block.inputs.shape, block.legal.shape
    ((5, 2), (5, 2))
    """

    symbols: Symbols
    targets: Symbols
    legal: Bools
    starts: Bools
    alphabet: int

    @property
    def inputs(self) -> Floats:
        """(steps, alphabet) the symbols as one-hot rows."""
        return one_hot(self.symbols, self.alphabet)

    def steps(self) -> list[Step]:
        """The same, step by step."""
        columns = self.symbols.tolist(), self.inputs, self.targets.tolist(), self.legal
        return list(map(Step, *columns, self.starts.tolist()))


class Task(ABC):
    """A stream that never ends, what is right at each step, and the best possible predictor.

    At every step a learner sees one symbol and scores ``outputs`` classes. It is right when every
    class that could come out scores above every one that could not (`correct`).

    >>> from tidegate.tasks import Reber
    >>> task = Reber()
    >>> block, state = task.block(task.start(seed=1), 1000)
    >>> task.score(task.oracle(block.symbols), block)
    1.0
    """

    name: ClassVar[str]
    alphabet: ClassVar[str]
    inputs: ClassVar[int]
    outputs: ClassVar[int]

    @abstractmethod
    def start(self, seed: int) -> State:
        """The beginning of the stream called ``seed``, a whole number from 0 to 2^63 - 1."""

    @abstractmethod
    def block(self, state: State, steps: int) -> tuple[Block, State]:
        """The next ``steps`` steps and where the stream stands after them.

        Raises:
            UsageError: ``steps`` is negative.
        """

    @abstractmethod
    def oracle(self, symbols: Symbols) -> Floats:
        """(steps, outputs) true probabilities of every class, from the symbols (steps,) alone.

        The symbols are read from the beginning of a stream.

        Raises:
            DataError: a symbol that cannot come there.
        """

    def stream(self, seed: int) -> Stream:
        """The stream called ``seed``, from its beginning."""
        return Stream(self, self.start(seed))

    def score(self, predictions: npt.NDArray[Any], block: Block) -> float:
        """The share of right predictions (steps, outputs) among the steps that ask something.

        Raises:
            UsageError: the shapes differ, or no step asks anything.
        """
        asked = block.legal.any(axis=1)
        if not asked.any():
            raise UsageError("score", "a block that asks something", "none", "Take more steps.")
        return float(correct(predictions, block.legal)[asked].mean())


class Stream(Iterator[Step]):
    """A task's stream with a place in it: an iterator of `Step` that also gives blocks.

    >>> from tidegate.tasks import Reber
    >>> stream = Reber().stream(seed=1)
    >>> "".join(Reber.alphabet[next(stream).symbol] for _ in range(12))
    'BPBPVPSEPEBT'
    >>> stream.state
    State(seed=1, position=12, memory=2)
    >>> Stream(Reber(), stream.state).block(3).symbols.tolist() == [
    ...     next(stream).symbol for _ in range(3)
    ... ]
    True
    """

    def __init__(self, task: Task, state: State) -> None:
        self._task = task
        self._seek(state)

    def _seek(self, state: State) -> None:
        self._origin = state
        self._ahead: list[Step] = []
        self._taken = 0

    @property
    def state(self) -> State:
        """Where the stream stands; `Stream(task, state)` goes on from there."""
        return self._task.block(self._origin, self._taken)[1]

    def block(self, steps: int) -> Block:
        """The next ``steps`` steps as arrays."""
        block, after = self._task.block(self.state, steps)
        self._seek(after)
        return block

    def __next__(self) -> Step:
        if self._taken == len(self._ahead):
            self._seek(self.state)
            self._ahead = self._task.block(self._origin, _READ_AHEAD)[0].steps()
        self._taken += 1
        return self._ahead[self._taken - 1]


def checked_steps(steps: int) -> int:
    """``steps``, which must not be negative.

    Raises:
        UsageError: it is.
    """
    if steps < 0:
        raise UsageError("steps", "at least 0", f"{steps}", "A stream only goes forward.")
    return steps
