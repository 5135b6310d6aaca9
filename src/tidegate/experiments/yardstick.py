"""What the common yardsticks share: a task, learners by name, one stream until a test is passed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tidegate.cells import Cell
from tidegate.experiments.base import Experiment, Row, Trial
from tidegate.experiments.never_ending import Endless, run_endless
from tidegate.experiments.single import Learning, Single
from tidegate.learn import Adam, Harmonic, Learner, Network, Softmax
from tidegate.learn.exact import ExactLearner
from tidegate.tasks import Task, correct

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
    """A symbolic task on one endless stream, learned until five fresh streams are answered right.

    Attributes:
        tests: (streams, symbols of each, symbols of burn-in) of a test.
        every: symbols between tests.
    """

    source: ClassVar[str] = "a common yardstick"
    criterion: ClassVar[str] = "every answer right on five fresh streams, weights frozen"
    budget: ClassVar[int] = 200_000
    trials: ClassVar[int] = 8
    quick: ClassVar[tuple[int, int]] = (1, 10_000)
    tests: ClassVar[tuple[int, int, int]] = (5, 10_000, 0)
    every: ClassVar[int] = 1_000

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
        own, streams = np.random.SeedSequence(seed).spawn(2)
        task = self.task(row)
        learner = self.contestants()[row][1](task, int(own.generate_state(1)[0]))
        count, length, burn_in = self.tests
        asked = Endless(
            task, correct, self.every, count, length, burn_in, afterwards=0, piece=self.every
        )
        return run_endless(Single(learner), asked, streams, budget)
