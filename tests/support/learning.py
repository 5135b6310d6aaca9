"""A learner to be made of parts, and a stream for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tidegate.cells import LSTM, Cell, Step, both, constant
from tidegate.cells.functions import exp, tanh
from tidegate.kernels.plan import Averaging, Loss, Optimiser, State
from tidegate.kernels.reference import Online
from tidegate.learn import SGD, Logistic, Network, Softmax, Squared

STEPS = 100


@dataclass(frozen=True)
class Case:
    """What learns, and how; rates are small, so that rounding stays rounding."""

    cell: object = "lstm"
    units: int | tuple[int, ...] = 8
    inputs: int = 3
    outputs: int = 2
    direct: bool = True
    loss: Loss = Squared()
    optimiser: Optimiser = SGD(0.02)
    averaging: Averaging | None = None
    clip: float = 2.0
    dtype: type = np.float64

    def online(self) -> Online:
        net = Network(self.inputs, self.outputs, self.cell, self.units, self.direct)
        return Online(net.plan, self.loss, self.optimiser, self.averaging, self.clip)

    def start(self) -> State:
        net = Network(self.inputs, self.outputs, self.cell, self.units, self.direct)
        return self.online().start(net.initial(seed=1).astype(self.dtype))

    def data(self, steps=STEPS, seed=0):
        rng = np.random.default_rng(seed)
        targets = self.loss.targets(self.outputs)
        if isinstance(self.loss, Softmax):
            wanted = rng.integers(0, self.outputs, (steps, 1)).astype(float)
        elif isinstance(self.loss, Logistic):
            wanted = rng.integers(0, 2, (steps, targets)).astype(float)
        else:
            wanted = rng.normal(size=(steps, targets))
        wanted[rng.random(wanted.shape) < 0.1] = np.nan
        wanted[7::20] = np.nan
        return rng.normal(size=(steps, self.inputs)) * 0.7, wanted


def assert_same_state(one: State, other: State) -> None:
    for key, array in vars(one).items():
        np.testing.assert_array_equal(array, getattr(other, key), err_msg=key)


class Doubled(LSTM):
    """Other equations."""

    def step(self, z, past, par):
        step = super().step(z, past, par)
        step.h = step.h * 2.0
        return step


class Growing(Cell):
    """Its memory grows without end where its parameter is 0: in lanes that are padding."""

    slots = {"g": both}
    memory = ("c",)
    parameters = {"p": constant(1.0)}
    start = {"c": 1.0}

    def step(self, z, past, par):
        c = past.c * (0.9 * exp(2.0 - 2.0 * par.p)) + tanh(z.g)
        return Step(h=tanh(c), c=c)


class Decayed(SGD):
    """Weights fade beside learning."""

    def update(self, weight, gradient, moment, c):
        rule = super().update(weight, gradient, moment, c)
        return replace(rule, weight=rule.weight - 0.01 * weight)
