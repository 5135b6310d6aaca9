"""The game of telephone: how far back a gradient reaches, and what a distance costs in symbols."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from tidegate.cells import LSTM, RNN, Cell
from tidegate.experiments.base import Experiment, Row, Trial
from tidegate.experiments.claims import AtLeast, Claim, Nothing
from tidegate.experiments.cnto_best import SpreadLSTM
from tidegate.experiments.never_ending import Endless, run_endless
from tidegate.experiments.single import Learning, Single
from tidegate.kernels.plan import Array
from tidegate.kernels.reference import Online, forward
from tidegate.learn import SGD, Adam, Learner, Network, Softmax
from tidegate.learn.exact import ExactLearner
from tidegate.tasks import Copying, correct

__all__ = ["Telephone", "gradient_reach"]

DISTANCES = (5, 10, 20, 50, 100, 200)
FARTHEST_PLAIN = 20
UNITS = 8
LABELS = {
    "rnn": "plain RNN, exact gradient",
    "lstm": "LSTM, forget bias 1",
    "spread": "LSTM by half-lives",
}


def gradient_reach(network: Network, weights: Array, xs: Array) -> float:
    """log10 of the norm of d state(T) / d state(0), the product of the Jacobians of T steps.

    The state is all memories and hidden values; each Jacobian is taken by central differences at
    the state that the network itself reaches, and the norm is Euclidean, divided by that of the
    identity.

    Args:
        network: of any cell.
        weights: flat.
        xs: (T, inputs).

    >>> network = Network(inputs=1, outputs=1, cell="lstm1997", units=2, scale=0.0)
    >>> round(gradient_reach(network, network.initial(0), np.zeros((50, 1))), 3)
    -0.102
    """
    plan = network.plan
    online = Online(plan, Softmax(), SGD())
    state = online.start(weights)
    size = state.memory.size + state.hidden.size
    product, logarithm = np.eye(size), 0.0
    for x in xs:
        start = np.concatenate([state.memory, state.hidden])
        product = _jacobian(network, weights, start, x) @ product
        norm = float(np.linalg.norm(product))
        if norm == 0.0:
            return float("-inf")
        # Kept at size 1, so that a product of thousands neither vanishes nor overflows.
        product, logarithm = product / norm, logarithm + np.log10(norm)
        online.adopt(state, forward(plan, weights, state.memory, state.hidden, x))
    return float(logarithm - np.log10(np.sqrt(size)))


def _jacobian(network: Network, weights: Array, start: Array, x: Array) -> Array:
    columns = []
    for unit in np.eye(len(start)) * 1e-6:
        ends = [_next(network, weights, start + sign * unit, x) for sign in (1, -1)]
        columns.append((ends[0] - ends[1]) / 2e-6)
    return np.array(columns).T


def _next(network: Network, weights: Array, start: Array, x: Array) -> Array:
    memory, hidden = np.split(start, [network.plan.memory.size])
    (moment,) = forward(network.plan, weights, memory, hidden, x).layers
    return np.concatenate([moment.memory.ravel(), moment.hidden.ravel()])


class Telephone(Experiment):
    """One letter of four, to be said again after a silence of d steps.

    >>> Telephone().rows()[0].name
    'rnn d=5'
    """

    name: ClassVar[str] = "telephone"
    title: ClassVar[str] = "The game of telephone: gradient and sample need against distance"
    source: ClassVar[str] = (
        "Hochreiter (1991), Bengio, Simard & Frasconi (1994): the claim that error of a plain "
        "recurrent network vanishes exponentially with distance; measured here"
    )
    protocol: ClassVar[str] = (
        f"One endless stream of rounds: a letter, d silent steps, a mark that asks for it. {UNITS} "
        "units, softmax, an update at each mark. The plain RNN learns by exact real-time recurrent "
        "learning, Adam 0.01; the LSTMs by the truncated gradient, Adam 0.02, eps 1e-6. Every 50 "
        "rounds: five fresh streams of 50 rounds. The measure is taken before learning: log10 of "
        "the norm of d state(d) / d state(0) over one silence."
    )
    criterion: ClassVar[str] = "every answer right on five fresh streams of 50 rounds"
    unit: ClassVar[str] = "rounds"
    budget: ClassVar[int] = 4_000
    trials: ClassVar[int] = 5
    quick: ClassVar[tuple[int, int]] = (1, 200)
    measure: ClassVar[str] = "log10 of the gradient over d steps"
    picture: ClassVar[str] = "  b . . . . . . ?  a . . . . . . ?\n    <--- d --->  b"

    def rows(self) -> Sequence[Row]:
        """Each learner at each distance; the plain one as far as it is worth the time."""
        return [
            Row(f"{name} d={d}", f"{LABELS[name]}, d = {d}", "", self._claim(name))
            for name in LABELS
            for d in DISTANCES
            if name != "rnn" or d <= FARTHEST_PLAIN
        ]

    def _claim(self, name: str) -> Claim:
        return AtLeast(0.8) if name == "spread" else Nothing()

    def trial(self, row: str, seed: int, budget: int) -> Trial:
        """One stream; rounds are given in the column of streams."""
        name, _, distance = row.partition(" d=")
        task = Copying(size=1, lag=int(distance))
        own, streams = np.random.SeedSequence(seed).spawn(2)
        learner, network = _learner(name, task, int(own.generate_state(1)[0]))
        silence = np.eye(task.inputs)[[task.alphabet.index(".")] * task.lag]
        reach = gradient_reach(network, network.initial(seed), silence)
        every = 50 * task.round
        asked = Endless(task, correct, every, 5, every, 0, afterwards=0, piece=every)
        found = run_endless(Single(learner), asked, streams, budget * task.round)
        return Trial(found.solved, found.symbols, found.symbols // task.round, measure=reach)


def _learner(name: str, task: Copying, seed: int) -> tuple[Learning, Network]:
    cells: dict[str, Cell] = {
        "rnn": RNN(),
        "lstm": LSTM(forget_bias=1.0),
        "spread": SpreadLSTM(shortest=task.lag / 2, longest=8.0 * task.lag),
    }
    network = Network(task.inputs, task.outputs, cell=cells[name], units=UNITS)
    if name == "rnn":
        return ExactLearner(network, Softmax(), Adam(0.01), seed=seed), network
    return Learner(network, Softmax(), Adam(0.02, eps=1e-6), seed=seed), network
