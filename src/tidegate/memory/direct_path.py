"""The direct path of one memory in a Trace: what a step keeps, and what it writes.

m_t = R_t m_(t-1) + w_t defines the write w_t: all of the new memory that the direct path did not
bring. For an LSTM it is i g, for a GRU (1 - z) n. A reset keeps nothing; what there was before a
Trace's first step counts as written by it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidegate._core.errors import UsageError
from tidegate._core.trace import Trace

__all__ = ["DirectPath", "Floats", "checked_step", "direct_path"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DirectPath:
    """One memory's log-retention and its sign, (steps, rows, units) float64.

    Attributes:
        name: of the memory.
        log_kept: log |R_t| in nats per step; -inf at a reset.
        sign: of R_t.
        trace: where it comes from.

    >>> c = np.array([8.0, 4.5]).reshape(2, 1, 1)
    >>> trace = Trace({"c": np.full((2, 1, 1), np.log(0.5))}, {"c": c})
    >>> direct_path(trace).write.ravel()
    array([8. , 0.5])
    """

    name: str
    log_kept: Floats
    sign: Floats
    trace: Trace

    @property
    def kept(self) -> Floats:
        """R_t."""
        return np.multiply(self.sign, np.exp(self.log_kept))

    @property
    def memory(self) -> Floats:
        """m_t, float64.

        Raises:
            UsageError: the Trace holds no memory.
        """
        if self.name not in self.trace.memory:
            raise UsageError(
                "Trace", f"the memory {self.name!r}", "log-retention alone", "Record the memory."
            )
        return np.asarray(self.trace.memory[self.name], np.float64)

    @property
    def brought(self) -> Floats:
        """R_t m_(t-1), what the direct path brought into step t; 0 at the first step."""
        memory = self.memory
        before = np.concatenate([np.zeros_like(memory[:1]), memory[:-1]])
        return np.asarray(self.kept * before)

    @property
    def write(self) -> Floats:
        """w_t = m_t - R_t m_(t-1)."""
        return self.memory - self.brought


def direct_path(trace: Trace, memory: str | None = None) -> DirectPath:
    """The direct path of ``memory``; of the only one where there is one.

    Raises:
        UsageError: there is none (a plain RNN), none of that name, or a choice to be made.

    >>> trace = Trace(log_retention={"c": np.log([[[0.5]], [[0.9]]])})
    >>> direct_path(trace).kept.ravel()
    array([0.5, 0.9])
    """
    names = list(trace.log_retention)
    if memory is None and len(names) == 1:
        memory = names[0]
    if memory is None or memory not in names:
        raise UsageError(
            "memory",
            f"one of {', '.join(names)}" if names else "a memory with a direct path",
            repr(memory) if names else f"a Trace of {trace.meta.cell or 'a cell'} without one",
            "Name one of them." if names else "Only gated cells have retention.",
        )
    log_kept = np.where(trace.reset[:, :, None], -np.inf, trace.log_retention[memory])
    sign = trace.retention_sign.get(memory)
    signs = np.ones(log_kept.shape) if sign is None else sign.astype(np.float64)
    return DirectPath(memory, log_kept, signs, trace)


def checked_step(trace: Trace, step: int) -> int:
    """``step`` as an index from the Trace's first step; negative ones count from its end.

    Raises:
        UsageError: the Trace has no such step.
    """
    if not -trace.steps <= step < trace.steps:
        raise UsageError(
            "step", f"one of the Trace's {trace.steps} steps", str(step), "Steps count from 0."
        )
    return step % trace.steps
