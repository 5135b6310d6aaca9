"""Stability: three numbers, and what each does and does not prove."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tidegate._core.errors import UsageError
from tidegate._core.trace import Trace
from tidegate.memory.closed_loop import ClosedLoop
from tidegate.memory.direct_path import Floats, direct_path

__all__ = ["DirectStability", "LoopStability", "direct_stability", "loop_stability"]


@dataclass(frozen=True, eq=False)
class DirectStability:
    """What the gates seen say of every unit (units,), over steps and rows without resets.

    Attributes:
        bound: of |m|: max(|m first|, largest |write| / (1 - largest |R|)); inf where an |R| of 1
            or more was seen.
        average_gain: exp(mean log |R|) per step of the direct path.
        largest_gain: largest |R| seen in one step.

    >>> DirectStability.does_not_prove.split(".")[0]
    'Gates not seen may open further'
    """

    bound: Floats
    average_gain: Floats
    largest_gain: Floats

    proves: ClassVar[str] = (
        "As long as gates and writes stay within what was seen, no memory leaves its bound, "
        "whatever the loop through h does."
    )
    does_not_prove: ClassVar[str] = (
        "Gates not seen may open further. A gain below 1 says that a change fades along the "
        "direct path, not that it fades: the loop through h may make it grow."
    )


@dataclass(frozen=True, eq=False)
class LoopStability:
    """What the true Jacobian says, with the loop through h closed.

    Attributes:
        radius: spectral radius of the Jacobian of each step (steps,).
        exponent: mean log-growth of a small change in nats per step, over the whole Trace from a
            random direction on (the largest Lyapunov exponent, estimated).

    >>> LoopStability(radius=np.array([0.9]), exponent=-0.1).proves.split(" that")[0]
    'A radius below 1'
    """

    radius: Floats
    exponent: float

    proves: ClassVar[str] = (
        "A radius below 1 that holds at a fixed point proves that small changes fade there. An "
        "exponent below 0 says that they did fade on this stream."
    )
    does_not_prove: ClassVar[str] = (
        "Radii of single steps say nothing of their product: matrices with radii below 1 can "
        "multiply to growth. The exponent is one stream's, and of small changes only."
    )


def direct_stability(trace: Trace, memory: str | None = None) -> DirectStability:
    """Bound and gains along the direct path.

    Raises:
        UsageError: no such memory, or fewer than two steps.

    >>> c = np.array([0.0, 1.0, 1.5]).reshape(3, 1, 1)
    >>> found = direct_stability(Trace({"c": np.full((3, 1, 1), np.log(0.5))}, {"c": c}))
    >>> found.bound, found.average_gain
    (array([2.]), array([0.5]))
    """
    path = direct_path(trace, memory)
    if trace.steps < 2:
        raise UsageError("stability", "at least 2 steps", str(trace.steps), "Record more.")
    own = np.where(trace.reset[1:, :, None], np.nan, path.log_kept[1:])
    own = own.reshape(-1, trace.units)[~trace.reset[1:].reshape(-1)]
    if not len(own):
        raise UsageError("stability", "steps that are no resets", "none", "Record more.")
    highest = own.max(axis=0)
    written = np.abs(path.write[1:]).max(axis=(0, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        limit = np.where(highest < 0, written / -np.expm1(highest), np.inf)
    first = np.abs(path.memory[0]).max(axis=0)
    return DirectStability(np.maximum(first, limit), np.exp(own.mean(axis=0)), np.exp(highest))


def loop_stability(loop: ClosedLoop, seed: int = 0) -> LoopStability:
    """Radii and exponent of the closed loop, over all steps but the first and without resets.

    Raises:
        UsageError: no step is left.

    >>> from tidegate.cells import LSTM1997
    >>> zeros = np.zeros((200, 1, 1))
    >>> trace = Trace({"c": zeros}, {"c": zeros}, {"h": zeros}, slots=dict.fromkeys("igo", zeros))
    >>> found = loop_stability(ClosedLoop(LSTM1997(), np.ones((1, 3, 1)), trace))
    >>> float(found.radius[0]), round(float(np.exp(found.exponent)), 1)
    (1.25, 1.2)
    """
    steps = [t for t in range(1, loop.trace.steps) if not loop.trace.reset[t, loop.row]]
    if not steps:
        raise UsageError("stability", "steps that are no resets", "none", "Record more.")
    direction = np.random.default_rng(seed).normal(size=loop.size)
    radius, growth = np.zeros(len(steps)), 0.0
    direction /= np.linalg.norm(direction)
    for n, t in enumerate(steps):
        jacobian = loop.jacobian(t)
        radius[n] = np.abs(np.linalg.eigvals(jacobian)).max()
        direction = jacobian @ direction
        size = float(np.linalg.norm(direction))
        if size == 0:
            return LoopStability(radius[: n + 1], -np.inf)
        growth += np.log(size)
        direction /= size
    return LoopStability(radius, growth / len(steps))
