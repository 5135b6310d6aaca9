"""The language (0|1)*10000*: what small nets can learn of it, and a net set by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Protocol

import numpy as np

from tidegate.cells import LSTM, LSTM1997, RNN, Cell, UpdateGate
from tidegate.experiments.base import Experiment, Row, Trial
from tidegate.experiments.claims import AtLeast, AtMost, Claim, Nothing
from tidegate.kernels.plan import Array
from tidegate.learn import Adam, Harmonic, Learner, Network, Predictor, Softmax
from tidegate.learn.exact import ExactLearner
from tidegate.tasks import RecentOne, correct

__all__ = ["HandSet", "hand_set"]

LAGS = (3, 5, 10, 20)
TEST, EVERY = 20_000, 1_000
NEAR_ONE = 50.0  # a pre-activation at which sigmoid and tanh are 1 to the last bit


class Learning(Protocol):
    """A learner, truncated or exact."""

    def run(self, xs: Array, targets: Array) -> Array:
        """Learn steps."""

    def predictor(self) -> Predictor:
        """A frozen copy."""


def _truncated(cell: Cell, units: int) -> Callable[[int], Learning]:
    return lambda seed: Learner(_network(cell, units), Softmax(), _adam(), seed=seed)


def _exact(cell: Cell, units: int) -> Callable[[int], Learning]:
    return lambda seed: ExactLearner(_network(cell, units), Softmax(), _adam(), seed=seed)


def _network(cell: Cell, units: int) -> Network:
    return Network(2, 2, cell=cell, units=units)


def _adam() -> Adam:
    return Adam(Harmonic(0.01, tau=3e4), eps=1e-3)


LEARNERS: dict[str, Callable[[int], Learning]] = {
    "rnn-1": _exact(RNN(), 1),
    "rnn-4": _exact(RNN(), 4),
    "update-gate-1": _truncated(UpdateGate(), 1),
    "lstm1997-4": _truncated(LSTM1997(), 4),
    "lstm-4": _truncated(LSTM(forget_bias=1.0), 4),
}
LABELS = {
    "rnn-1": "plain RNN, 1 unit, exact gradient",
    "rnn-4": "plain RNN, 4 units, exact gradient",
    "update-gate-1": "update gate, 1 unit (exact gradient)",
    "lstm1997-4": "LSTM of 1997, 4 units",
    "lstm-4": "LSTM, 4 units",
}
IMPOSSIBLE = "said to be beyond one plain unit"
FALSE = "The popular claim is false for short lags: the exact gradient finds it, if slowly."


def bounds(n: int) -> tuple[float, float]:
    """Between which D lies for the net set by hand to be right.

    >>> bounds(3) == (-1 / 3, -1 / 7)
    True
    """
    return -1 / (2 ** (n - 1) - 1), -1 / (2**n - 1)


def hand_set(d: float, latch: bool) -> Predictor:
    """An update-gate net set by hand: read by its sign, no learning.

    On a 1 the gate is 1 and the new state 1; on a 0 the gate is 1/2 and the new state ``d``. So
    after k zeros h = 2^-k + d (1 - 2^-k), below 0 from the n-th on if ``d`` is within its bounds.

    Args:
        d: the new state on a 0, above -1 and below 0.
        latch: adds a unit that is 0 until the first 1 and 1 ever after; "yes" then needs both, so
            that a prefix without a 1 is right too.

    >>> hand_set(-0.2, latch=True).run(np.eye(2)[[0, 0, 0, 1, 0, 0, 0]]).argmax(axis=1).tolist()
    [0, 0, 0, 0, 0, 0, 1]
    """
    network = Network(2, 2, cell=UpdateGate(), units=2 if latch else 1, direct=False)
    learner = Learner(network, Softmax(), dtype=np.float64)
    state = learner.state
    state.weights[...] = 0
    views = network.plan.weights.views(state.weights)
    gate, new = views["layer0.input"][:, 0], views["layer0.input"][:, 1]
    gate[:, 0], new[:, 0] = (0.0, NEAR_ONE), (np.arctanh(d), NEAR_ONE)
    views["readout.hidden"][0] = (1.0, -1.0)
    if latch:
        gate[:, 1], new[:, 1] = (-NEAR_ONE * 20, NEAR_ONE), (0.0, NEAR_ONE)
        views["readout.hidden"][1] = (-2.0, 2.0)
        views["readout.bias"][...] = (2.0, -2.0)
    learner.state = state
    return learner.predictor()


def perfect(predictor: Predictor, task: RecentOne, seed: int, steps: int, all_of_it: bool) -> bool:
    """Whether a fresh stream is answered right, from the first 1 on or ``all_of_it``."""
    predictor.forget()
    block = task.stream(seed).block(steps)
    first = 0 if all_of_it else int(np.argmax(block.symbols == 1))
    right = correct(predictor.run(block.inputs), block.legal)
    return bool(right[first:].all())


class HandSet(Experiment):
    """Has a 1 come, but not within the last n bits?

    >>> experiment = HandSet()
    >>> [experiment.trial(f"{row} n=5", 1, 2000).solved for row in ("hand-set", "hand-set-outside")]
    [True, False]
    """

    name: ClassVar[str] = "recent-one"
    title: ClassVar[str] = "The language (0|1)*10000*: a 1 has come, but not lately"
    source: ClassVar[str] = "folklore about gated and plain recurrent units; the bounds are ours"
    protocol: ClassVar[str] = (
        "One stream without resets, a 1 with probability 1/(1.5 n). Softmax, Adam 0.01 / "
        "(1 + t/30,000) with eps 1e-3, one update a bit. Every 1,000 bits the frozen weights "
        "answer 20,000 fresh bits from empty memory, counted from the first 1 on. The plain RNN "
        "learns by exact real-time recurrent learning; so does the update gate, whose units do "
        "not see each other. Nets set by hand answer a stream as long as the budget."
    )
    criterion: ClassVar[str] = "20,000 fresh bits without an error"
    unit: ClassVar[str] = "symbols"
    budget: ClassVar[int] = 100_000
    trials: ClassVar[int] = 8
    quick: ClassVar[tuple[int, int]] = (1, 5_000)
    picture: ClassVar[str] = (
        "bit     0 0 1 0 1 0 0 0 0 0 1 0 ...\nanswer  n n n n n n n y y y n n ...     (n = 3)"
    )
    wanting: ClassVar[str] = ""

    def rows(self) -> Sequence[Row]:
        """Nets set by hand, then learners, for each n."""
        rows = [row for n in LAGS for row in _hand_rows(n)]
        return rows + [_row(name, n) for name in LEARNERS for n in LAGS]

    def trial(self, row: str, seed: int, budget: int) -> Trial:
        """One net, learned until it answers 20,000 bits, or one set by hand."""
        name, _, lag = row.partition(" n=")
        task = RecentOne(n=int(lag))
        if name.startswith("hand-set"):
            return _by_hand(name, task, seed, budget)
        own, stream, test = (int(s) for s in np.random.SeedSequence(seed).generate_state(3))
        learner, state = LEARNERS[name](own), task.start(stream)
        for symbols in range(EVERY, budget + 1, EVERY):
            block, state = task.block(state, EVERY)
            learner.run(block.inputs, block.targets[:, None].astype(np.float64))
            if perfect(learner.predictor(), task, test + symbols, TEST, all_of_it=False):
                return Trial(True, symbols)
        return Trial(False, budget)


def _by_hand(name: str, task: RecentOne, seed: int, budget: int) -> Trial:
    """A net whose D is drawn within its bounds, or just outside on either side."""
    rng = np.random.default_rng(seed)
    low, high = bounds(task.n)
    share = rng.uniform(0.05, 0.95)
    if name == "hand-set-outside":
        share = float(rng.choice([-0.05, 1.05]))
    predictor = hand_set(low + share * (high - low), latch=name == "hand-set-latch")
    right = perfect(predictor, task, seed, budget, all_of_it=name == "hand-set-latch")
    return Trial(right, budget)


def _hand_rows(n: int) -> list[Row]:
    low, high = bounds(n)
    within = f"right iff {low:.3g} < D < {high:.3g}"
    return [
        Row(f"hand-set n={n}", f"set by hand, n = {n}, D within bounds", within, AtLeast(1.0)),
        Row(f"hand-set-outside n={n}", f"n = {n}, D just outside", within, AtMost(0.0)),
        Row(f"hand-set-latch n={n}", f"n = {n}, with a latch, all bits", "", AtLeast(1.0)),
    ]


def _row(name: str, n: int) -> Row:
    claim: Claim = Nothing()
    if name == "update-gate-1":
        claim = AtLeast(0.75)
    if name == "rnn-1":
        return Row(f"{name} n={n}", f"{LABELS[name]}, n = {n}", IMPOSSIBLE, AtMost(0), False, FALSE)
    return Row(f"{name} n={n}", f"{LABELS[name]}, n = {n}", "", claim)
