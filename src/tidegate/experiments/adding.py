"""Adding: two marked numbers, far apart, are to be summed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from tidegate.cells import LSTM1997, RNN, Cell
from tidegate.experiments.base import Experiment, Row, Trial
from tidegate.experiments.claims import AtLeast
from tidegate.experiments.cnto_best import SpreadCoupled, SpreadLSTM
from tidegate.experiments.single import Learning
from tidegate.kernels.plan import Array
from tidegate.learn import Adam, Harmonic, Learner, Network
from tidegate.learn.exact import ExactLearner

__all__ = ["Adding", "adding_stream"]

CLOSE = 0.04
ROUNDS, TEST = 200, 1000


def adding_stream(rng: np.random.Generator, rounds: int, length: int) -> tuple[Array, Array]:
    """Rounds of ``length`` steps one after another.

    A step shows a number from 0 to 1 and a mark: two steps of a round are marked 1, one in each
    half, and its last step -1, which asks for the sum of the two marked numbers.

    Returns:
        inputs (rounds * length, 2) and targets (rounds * length, 1), NaN where nothing is asked.

    >>> xs, targets = adding_stream(np.random.default_rng(0), rounds=2, length=8)
    >>> xs[:8, 1].tolist()
    [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, -1.0]
    >>> bool(targets[7, 0] == xs[0, 0] + xs[4, 0])
    True
    """
    numbers, marks = rng.uniform(size=(rounds, length)), np.zeros((rounds, length))
    row, half = np.arange(rounds), length // 2
    first, second = rng.integers(0, half, rounds), rng.integers(half, length - 1, rounds)
    marks[row, first] = marks[row, second] = 1.0
    marks[:, -1] = -1.0
    targets = np.full((rounds, length), np.nan)
    targets[:, -1] = numbers[row, first] + numbers[row, second]
    return np.stack([numbers.ravel(), marks.ravel()], axis=1), targets.reshape(-1, 1)


def _truncated(cell: Cell, length: int, seed: int) -> Learner:
    return Learner(Network(2, 1, cell=cell, units=16), optimiser=_adam(), seed=seed)


def _adam() -> Adam:
    return Adam(Harmonic(0.01, tau=2e4), eps=1e-5)


CONTESTANTS: dict[str, Callable[[int, int], Learning]] = {
    "coupled": lambda length, seed: _truncated(
        SpreadCoupled(shortest=length / 2, longest=8.0 * length), length, seed
    ),
    "lstm": lambda length, seed: _truncated(
        SpreadLSTM(shortest=1.0, longest=8.0 * length), length, seed
    ),
    "lstm1997": lambda length, seed: _truncated(LSTM1997(), length, seed),
    "rnn": lambda length, seed: ExactLearner(
        Network(2, 1, cell=RNN(), units=8), optimiser=_adam(), seed=seed
    ),
}


class Adding(Experiment):
    """Sum of two numbers of a round, without resets between rounds.

    >>> [row.name for row in Adding().rows()][:2]
    ['coupled length=20', 'coupled length=100']
    """

    name: ClassVar[str] = "adding"
    title: ClassVar[str] = "Adding two numbers far apart, rounds without resets"
    source: ClassVar[str] = (
        "after Hochreiter & Schmidhuber 1997, section 5.4; here one endless stream"
    )
    protocol: ClassVar[str] = (
        "Rounds one after another, no resets: a number from 0 to 1 and a mark at each step; two "
        "are marked, one in each half; the last step asks for their sum. Squared error, an update "
        "at each answer, Adam 0.01 / (1 + n/20,000) with eps 1e-5, 16 units (the plain RNN 8), "
        "half-lives spread from half a round (LSTM: 1 step) to eight. Every 200 rounds: 1,000 "
        "fresh rounds, weights frozen."
    )
    criterion: ClassVar[str] = "mean error of 1,000 fresh rounds below 0.04 (always 1: 0.33)"
    unit: ClassVar[str] = "rounds"
    budget: ClassVar[int] = 20_000
    trials: ClassVar[int] = 5
    quick: ClassVar[tuple[int, int]] = (1, 1_000)
    measure: ClassVar[str] = "mean error"
    picture: ClassVar[str] = "  0.3 .7 .1 .9 .4 .2 .8 .5\n       |        |        ?   0.7 + 0.4"

    def rows(self) -> Sequence[Row]:
        """The LSTM at two lengths, its opponents at the shorter one."""
        return [
            Row("coupled length=20", "coupled gates, 20 steps", "", AtLeast(0.8)),
            Row("coupled length=100", "coupled gates, 100 steps", "", AtLeast(0.8)),
            Row("lstm length=20", "LSTM, 20 steps"),
            Row("lstm1997 length=20", "LSTM of 1997, 20 steps"),
            Row("rnn length=20", "plain RNN, exact gradient, 20 steps"),
        ]

    def trial(self, row: str, seed: int, budget: int) -> Trial:
        """One stream, until a test is passed; rounds are given in the column of streams."""
        name, _, steps = row.partition(" length=")
        own, stream, test = np.random.SeedSequence(seed).spawn(3)
        learner = CONTESTANTS[name](int(steps), int(own.generate_state(1)[0]))
        rng, error = np.random.default_rng(stream), np.inf
        for rounds in range(ROUNDS, budget + 1, ROUNDS):
            learner.run(*adding_stream(rng, ROUNDS, int(steps)))
            error = _error(learner, np.random.default_rng(test.spawn(1)[0]), int(steps))
            if error < CLOSE:
                return Trial(True, rounds * int(steps), rounds, measure=error)
        return Trial(False, budget * int(steps), budget, measure=error)


def _error(learner: Learning, rng: np.random.Generator, length: int) -> float:
    xs, targets = adding_stream(rng, TEST, length)
    predictor = learner.predictor()
    predictor.forget()
    return float(np.nanmean(abs(predictor.run(xs) - targets)))
