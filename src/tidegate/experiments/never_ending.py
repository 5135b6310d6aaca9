"""The protocol of a stream that never ends: learn, now and then test, and see whether it is quiet.

No resets, one update after each symbol. Every so often the weights that predict are tested, frozen,
on ten fresh streams, each from empty memories with a burn-in that is not counted. Solved: all ten
without an error. Then ten fresh streams more (retest), and another 10^6 symbols are learned and
the errors made on the way, by the prediction before each symbol, are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol as Form

import numpy as np
import numpy.typing as npt

from tidegate.experiments.base import Trial
from tidegate.experiments.criteria import Criterion
from tidegate.experiments.mixture import pieces
from tidegate.kernels.plan import Array
from tidegate.tasks import Block, State, Task

__all__ = ["Endless", "Forecaster", "Frozen", "legal_symbols", "next_symbol", "run_endless"]


class Frozen(Form):
    """A predictor whose weights stay."""

    def run(self, xs: Array) -> Array:
        """Predictions (steps, outputs); memories go on."""

    def forget(self) -> None:
        """Memories to their start."""


class Forecaster(Form):
    """What predicts and learns."""

    def learn(self, xs: Array, targets: Array) -> Array:
        """Predictions (steps, outputs) made before the targets were seen; then learns them."""

    def frozen(self) -> Frozen:
        """A copy that no longer learns."""


def next_symbol(block: Block) -> Array:
    """(steps, 1) the class that comes; NaN where nothing is asked.

    >>> from tidegate.tasks import RecentOne
    >>> next_symbol(RecentOne(n=3).stream(seed=9).block(3)).ravel().tolist()
    [0.0, 0.0, 0.0]
    """
    return np.where(block.legal.any(axis=1, keepdims=True), block.targets[:, None], np.nan)


def legal_symbols(block: Block) -> Array:
    """(steps, outputs) 1 for every class that could come and 0 for the others.

    >>> from tidegate.tasks import RecentOne
    >>> legal_symbols(RecentOne(n=3).stream(seed=9).block(2)).tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    asked = block.legal.any(axis=1, keepdims=True)
    return np.where(asked, block.legal.astype(np.float64), np.nan)


@dataclass(frozen=True)
class Endless:
    """What is asked.

    Attributes:
        task: whose stream it is.
        criterion: when a prediction is right; steps that ask nothing are.
        every: symbols between tests.
        tests, length: streams of a test, and symbols of each.
        burn_in: symbols of each that are not counted.
        afterwards: symbols to be learned after solving, while errors are counted.
        piece: symbols that are learned between two looks at the averaged weights, at first.
        targets: what is learned of a block, NaN where nothing is asked.
    """

    task: Task
    criterion: Criterion
    every: int = 500
    tests: int = 10
    length: int = 100_000
    burn_in: int = 200
    afterwards: int = 1_000_000
    piece: int = 25
    targets: Callable[[Block], Array] = next_symbol


def run_endless(
    net: Forecaster, asked: Endless, seeds: np.random.SeedSequence, budget: int
) -> Trial:
    """Learn until solved or for ``budget`` symbols; the measure is the errors afterwards."""
    learning, testing = seeds.spawn(2)
    state = asked.task.start(int(learning.generate_state(1)[0]))
    for symbols in range(asked.every, budget + 1, asked.every):
        state, _ = _learn(net, asked, state, asked.every)
        if _passes(net.frozen(), asked, testing.spawn(1)[0]):
            retest = _passes(net.frozen(), asked, testing.spawn(1)[0])
            if not asked.afterwards:
                return Trial(True, symbols, retest=retest)
            _, errors = _learn(net, asked, state, asked.afterwards)
            return Trial(True, symbols, None, retest, errors == 0, float(errors))
    return Trial(False, budget)


def _learn(net: Forecaster, asked: Endless, state: State, steps: int) -> tuple[State, int]:
    """Learn ``steps`` symbols; where the stream stands then, and the errors made on the way."""
    errors = 0
    for size in pieces(steps, state.position, asked.piece):
        block, state = asked.task.block(state, size)
        predictions = net.learn(block.inputs.astype(np.float64), asked.targets(block))
        errors += int(np.count_nonzero(~_right(asked, predictions, block)))
    return state, errors


def _right(asked: Endless, predictions: Array, block: Block) -> npt.NDArray[np.bool_]:
    # By columns: the least and the most of a few outputs are found four times as fast.
    legal = np.asfortranarray(block.legal)
    right = asked.criterion(np.asfortranarray(predictions), legal)
    return np.asarray(right | ~legal.any(axis=1))


def _passes(frozen: Frozen, asked: Endless, seeds: np.random.SeedSequence) -> bool:
    streams = seeds.generate_state(asked.tests).tolist()
    return all(_faultless(frozen, asked, seed) for seed in streams)


def _faultless(frozen: Frozen, asked: Endless, seed: int) -> bool:
    """Whether a fresh stream is predicted without an error after the burn-in."""
    frozen.forget()
    state, seen = asked.task.start(seed), 0
    for size in _growing(asked.burn_in + asked.length):
        block, state = asked.task.block(state, size)
        right = _right(asked, frozen.run(block.inputs), block)
        if not right[max(0, asked.burn_in - seen) :].all():
            return False
        seen += size
    return True


def _growing(total: int) -> Iterator[int]:
    """Lengths that add up to ``total`` and grow: a test that fails early ends early."""
    done, length = 0, 500
    while done < total:
        size = min(length, total - done)
        yield size
        done, length = done + size, min(4 * length, 32_000)
