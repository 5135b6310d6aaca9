"""The network of 2000: four memory blocks of two cells, logistic outputs, squared error, SGD."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tidegate.cells import Block2000, Cell
from tidegate.cells.base import Step, both
from tidegate.cells.functions import sigmoid
from tidegate.cells.laws import Law, constant, ramp
from tidegate.learn import SGD, Learner, Network, Schedule
from tidegate.learn.squared_logistic import SquaredLogistic

__all__ = ["KeepingBlock", "OpenBlock", "paper_learner"]

BLOCKS = 4
FORGETTING: Cell = Block2000(size=2)


@dataclass(frozen=True)
class KeepingBlock(Cell):
    """A block as of 2000 without a forget gate: s_t = keep s_(t-1) + i_t g(net).

    ``keep`` = 1 is the standard LSTM of the paper's tables, ``keep`` = 0.9 its state decay. Biases
    of input and output gates are those of the forgetting block. Retention: ``keep``.

    Source: Gers, Schmidhuber & Cummins (2000), sections 2 and 4.4.

    >>> KeepingBlock(keep=0.9).memory
    ('c1', 'c2')
    """

    keep: float = 1.0

    slots = {"i": both, "o": both, "g1": both(bias=False), "g2": both(bias=False)}
    memory = ("c1", "c2")
    hidden = ("h1", "h2")

    def step(self, z: Any, past: Any, par: Any) -> Step:
        i, o = sigmoid(z.i), sigmoid(z.o)
        c1 = self.keep * past.c1 + i * (4 * sigmoid(z.g1) - 2)
        c2 = self.keep * past.c2 + i * (4 * sigmoid(z.g2) - 2)
        h1, h2 = o * (2 * sigmoid(c1) - 1), o * (2 * sigmoid(c2) - 1)
        return Step(c1=c1, c2=c2, h1=h1, h2=h2, gates={"i": i, "o": o})

    def biases(self) -> Mapping[str, Law]:
        return {"i": ramp(-0.5, -0.5), "o": ramp(-0.5, -0.5)}


@dataclass(frozen=True)
class OpenBlock(Block2000):
    """A block of 2000 whose forget gates all begin with one bias.

    >>> OpenBlock(forget_bias=5.0).biases()["f"](np.random.default_rng(0), 2)
    array([5., 5.])
    """

    forget_bias: float = 5.0

    def biases(self) -> Mapping[str, Law]:
        gates = {"i": ramp(-0.5, -0.5), "o": ramp(-0.5, -0.5)}
        return gates | {"f": constant(self.forget_bias)}


def paper_learner(
    cell: Cell,
    seed: int,
    rate: float | Schedule = 0.5,
    shortcuts: bool = True,
    symbols: int = 7,
    dtype: Any = np.float32,
) -> Learner:
    """The learner of 2000: weights in [-0.2, 0.2], those of the output biases too.

    Args:
        cell: of the four blocks: ``FORGETTING``, or a :class:`KeepingBlock`.
        seed: of the start weights.
        rate: learning rate, 0.5 in the paper.
        shortcuts: whether the outputs see the inputs: 424 weights, as the journal counts, or 375,
            as the report does.
        symbols: inputs and outputs.
        dtype: the report's ``float64`` is twice the time, and no other result.

    >>> [paper_learner(FORGETTING, 1, shortcuts=s).state.weights.size for s in (True, False)]
    [424, 375]
    >>> [paper_learner(KeepingBlock(), 1, shortcuts=s).state.weights.size for s in (True, False)]
    [360, 311]
    """
    network = Network(symbols, symbols, cell=cell, units=BLOCKS, direct=shortcuts)
    learner = Learner(network, SquaredLogistic(), SGD(rate), seed=seed, dtype=dtype)
    state = learner.state
    biases = np.random.default_rng([seed, 1]).uniform(-0.2, 0.2, symbols)
    network.plan.weights.views(state.weights)["readout.bias"][...] = biases
    learner.state = state
    return learner
