"""The forget gates of a trained net over one test stream, with string ends marked."""

from __future__ import annotations

import numpy as np

from tidegate.experiments.base import Figure
from tidegate.experiments.drawing import Curve, chart
from tidegate.experiments.paper_net import FORGETTING, paper_learner
from tidegate.experiments.training_streams import Protocol, run_protocol
from tidegate.kernels.plan import Array
from tidegate.kernels.reference import Online, forward
from tidegate.learn import SGD, Learner
from tidegate.tasks import Task

__all__ = ["gate_figure", "solving_net"]

TRIES = 6


def solving_net(protocol: Protocol, seed: int) -> Learner:
    """A net of 2000 with forget gates that solved its task; the last of six where none did."""
    for one in np.random.SeedSequence(seed).spawn(TRIES):
        own, streams = one.spawn(2)
        net = paper_learner(FORGETTING, int(own.generate_state(1)[0]))
        if run_protocol(net, protocol, streams).solved:
            break
    return net


def gate_figure(net: Learner, task: Task, seed: int, steps: int, burn_in: int = 200) -> Figure:
    """The forget gate of each unit over ``steps`` symbols of a fresh stream.

    Args:
        net: whose cell names a gate ``f``.
        task: whose stream it reads, from empty memories.
        seed: of the stream.
        steps: to be drawn.
        burn_in: steps before them that are read but not drawn.
    """
    block = task.stream(seed).block(burn_in + steps)
    gates = _gates(net, block.inputs)[burn_in:]
    at = np.arange(steps)
    starts = block.starts[burn_in:]
    curves = [Curve(f"unit {n + 1}", at, gates[:, n]) for n in range(min(8, gates.shape[1]))]
    letters = [(float(k), task.alphabet[s]) for k, s in enumerate(block.symbols[burn_in:])]
    marks = [float(k) for k in np.flatnonzero(starts)]
    caption = "Forget gates over one test stream; dotted lines are where strings begin."
    svg = chart(curves, "symbol seen", "forget gate", marks, letters if steps <= 90 else ())
    return Figure("forget-gate", caption, svg)


def _gates(net: Learner, inputs: Array) -> Array:
    """(steps, units) the forget gates of the first layer, in double precision."""
    plan, weights = net.network.plan, net.state.weights.astype(np.float64)
    online = Online(plan, net.loss, SGD())
    state, gates = online.start(weights), []
    for x in inputs.astype(np.float64):
        step = forward(plan, state.weights, state.memory, state.hidden, x)
        gates.append(step.layers[0].gates["f"])
        online.adopt(state, step)
    return np.array(gates)
