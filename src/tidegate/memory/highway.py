"""The gradient highway in two curves: the direct product, and the true Jacobian.

d c_t / d c_(t-1) = f holds for the direct path only; the loop through h adds to it, and may make
it grow where the gates alone would let it fade. Neither curve stands for the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidegate._core.trace import Trace
from tidegate.memory.closed_loop import ClosedLoop
from tidegate.memory.direct_path import Floats, checked_step
from tidegate.memory.retention_curve import retention_curve

__all__ = ["Highway", "direct_product", "highway"]


@dataclass(frozen=True, eq=False)
class Highway:
    """How much of a small change of a memory at ``step`` is there at it and every later step.

    Attributes:
        step: index in the Trace.
        direct: product of R along the direct path, (steps - step, units).
        jacobian: d memory_t / d memory_step with the loop closed, (steps - step, units, units).

    >>> jacobian = np.array([[[0.5, 2.0], [0.0, 0.1]]])
    >>> found = Highway(0, np.array([[0.5, 0.1]]), jacobian)
    >>> found.direct_mean, found.diagonal_mean, found.norm.round(2)
    (array([0.3]), array([0.3]), array([2.06]))
    """

    step: int
    direct: Floats
    jacobian: Floats

    @property
    def direct_mean(self) -> Floats:
        """Mean |product of R| over units: the direct curve."""
        return np.asarray(np.abs(self.direct).mean(axis=1))

    @property
    def diagonal_mean(self) -> Floats:
        """Mean |diagonal of the Jacobian|: what returns to the same unit, by every path."""
        return np.asarray(np.abs(np.diagonal(self.jacobian, axis1=1, axis2=2)).mean(axis=1))

    @property
    def norm(self) -> Floats:
        """Spectral norm of the Jacobian: the most that any change can grow to. Above 1 it does."""
        return np.asarray(np.linalg.norm(self.jacobian, 2, axis=(1, 2)))


def direct_product(trace: Trace, step: int, row: int = 0, memory: str | None = None) -> Floats:
    """The direct curve of every unit alone, (steps - step, units); it needs no weights.

    Raises:
        UsageError: no such memory or step.

    >>> trace = Trace(log_retention={"c": np.log(np.full((3, 1, 1), 0.5))})
    >>> direct_product(trace, 0).ravel()
    array([1.  , 0.5 , 0.25])
    """
    return retention_curve(trace, step, memory).share[:, row]


def highway(loop: ClosedLoop, step: int, memory: str | None = None) -> Highway:
    """Both curves of ``memory`` from ``step`` to the end of the Trace.

    Raises:
        UsageError: no such memory or step.

    >>> from tidegate.cells import LSTM1997
    >>> zeros = np.zeros((3, 1, 1))
    >>> trace = Trace({"c": zeros}, {"c": zeros}, {"h": zeros}, slots=dict.fromkeys("igo", zeros))
    >>> found = highway(ClosedLoop(LSTM1997(), np.ones((1, 3, 1)), trace), 0)
    >>> found.direct_mean, found.diagonal_mean
    (array([1., 1., 1.]), array([1.    , 1.25  , 1.5625]))
    """
    at = checked_step(loop.trace, step)
    name = memory or next(iter(loop.trace.log_retention), loop.cell.memory[0])
    direct = direct_product(loop.trace, at, loop.row, name)
    moved = loop.shown(at, name)
    place = loop.place(name)
    jacobians = [moved[place]]
    for t in range(at + 1, loop.trace.steps):
        moved = loop.jacobian(t) @ moved
        jacobians.append(moved[place])
    return Highway(at, direct, np.stack(jacobians))
