"""What the common yardsticks share: a task, learners by name, one stream until a test is passed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tidegate.cells import Cell
from tidegate.experiments.base import Experiment, Row, Trial
from tidegate.experiments.single import Learning
from tidegate.kernels.plan import Array
from tidegate.learn import Adam, Harmonic, Learner, Network, Softmax
from tidegate.learn.exact import ExactLearner
from tidegate.tasks import Block, Task

__all__ = ["Contestant", "Yardstick", "exact", "truncated"]

#: (task, seed) -> a learner of it
Contestant = Callable[[Task, int], Learning]


@dataclass(frozen=True)
class truncated:  # noqa: N801
    """Learners with the truncated gradient: a cell, its units, and Adam's rate.

    >>> from tidegate.cells import LSTM
    >>> from tidegate.tasks import Parity
    >>> truncated(LSTM(), 4)(Parity(), 1).steps
    0
    """

    cell: Cell
    units: int
    rate: float = 0.01
    eps: float = 1e-3

    def __call__(self, task: Task, seed: int) -> Learner:
        network = Network(task.inputs, task.outputs, cell=self.cell, units=self.units)
        adam = Adam(Harmonic(self.rate, tau=3e4), eps=self.eps)
        return Learner(network, Softmax(), adam, seed=seed)


@dataclass(frozen=True)
class exact:  # noqa: N801
    """Learners with the exact gradient, in plain NumPy.

    >>> from tidegate.cells import RNN
    >>> from tidegate.tasks import Parity
    >>> exact(RNN(), 2)(Parity(), 1).network.units
    2
    """

    cell: Cell
    units: int
    rate: float = 0.01
    eps: float = 1e-3

    def __call__(self, task: Task, seed: int) -> ExactLearner:
        network = Network(task.inputs, task.outputs, cell=self.cell, units=self.units)
        adam = Adam(Harmonic(self.rate, tau=3e4), eps=self.eps)
        return ExactLearner(network, Softmax(), adam, seed=seed)


class Yardstick(Experiment):
    """A symbolic task on one endless stream, learned until a fresh stream is answered right.

    Attributes:
        test: symbols of a test, from empty memories.
        every: symbols between tests.
        share: of answers that must be right.
    """

    source: ClassVar[str] = "a common yardstick"
    criterion: ClassVar[str] = "99 % of answers right on a fresh stream, weights frozen"
    budget: ClassVar[int] = 200_000
    trials: ClassVar[int] = 8
    quick: ClassVar[tuple[int, int]] = (1, 10_000)
    measure: ClassVar[str] = "share right at the end"
    test: ClassVar[int] = 10_000
    every: ClassVar[int] = 1_000
    share: ClassVar[float] = 0.99

    @abstractmethod
    def task(self, row: str) -> Task:
        """The task of a row."""

    @abstractmethod
    def contestants(self) -> Mapping[str, tuple[Row, Contestant]]:
        """The rows by name, and what learns in each."""

    def rows(self) -> Sequence[Row]:
        """Of the contestants, in their order."""
        return [row for row, _ in self.contestants().values()]

    def trial(self, row: str, seed: int, budget: int) -> Trial:
        """One stream, until a test is passed or ``budget`` symbols were learned."""
        own, stream, test = (int(s) for s in np.random.SeedSequence(seed).generate_state(3))
        task = self.task(row)
        learner, state, share = self.contestants()[row][1](task, own), task.start(stream), 0.0
        for symbols in range(self.every, budget + 1, self.every):
            block, state = task.block(state, self.every)
            learner.run(block.inputs, answers(block))
            share = self._share(learner, task, test + symbols)
            if share >= self.share:
                return Trial(True, symbols, measure=share)
        return Trial(False, budget, measure=share)

    def _share(self, learner: Learning, task: Task, seed: int) -> float:
        block = task.stream(seed).block(self.test)
        predictor = learner.predictor()
        predictor.forget()
        return task.score(predictor.run(block.inputs), block)


def answers(block: Block) -> Array:
    """(steps, 1) the classes that come, NaN where nothing is asked.

    >>> from tidegate.tasks import Copying
    >>> answers(Copying(size=1, lag=1).stream(seed=2).block(3))[:, 0].tolist()
    [nan, nan, 1.0]
    """
    asked = block.legal.any(axis=1)
    return np.where(asked, block.targets, np.nan)[:, None]
