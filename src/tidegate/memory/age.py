"""Memory age: which past moments a memory of today is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidegate._core.trace import Trace
from tidegate.memory.direct_path import Floats, checked_step, direct_path

__all__ = ["MemoryAge", "memory_age"]


@dataclass(frozen=True, eq=False)
class MemoryAge:
    """The exact split of a memory at one step into what was written when.

    Attributes:
        step: index in the Trace.
        parts: (step + 1, rows, units), what is left at ``step`` of each earlier write, oldest
            first; their sum is the memory. What there was before the Trace is in the first.

    >>> MemoryAge(2, np.array([2.0, 0.0, 2.0]).reshape(3, 1, 1)).mean_age
    array([[1.]])
    """

    step: int
    parts: Floats

    @property
    def mean_age(self) -> Floats:
        """Steps since the write, averaged by the size of what is left (rows, units).

        NaN where nothing is left of anything.
        """
        size = np.abs(self.parts)
        ages = np.arange(self.step, -1, -1.0)[:, None, None]
        with np.errstate(invalid="ignore"):
            return np.asarray((size * ages).sum(axis=0) / size.sum(axis=0))


def memory_age(trace: Trace, step: int, memory: str | None = None) -> MemoryAge:
    """m_t = sum_k (prod_(j = k+1..t) R_j) w_k, with the writes w_k = m_k - R_k m_(k-1).

    For an LSTM w_k is i_k g_k. Where a step is not linear in its old memory (peepholes) the split
    is along the slope R at each step, and still sums to the memory.

    Raises:
        UsageError: no such memory or step, or the Trace holds no memory.

    >>> f, writes = 0.5, np.array([8.0, 0.0, 1.0])
    >>> c = np.array([8.0, 4.0, 3.0]).reshape(3, 1, 1)
    >>> trace = Trace(log_retention={"c": np.full((3, 1, 1), np.log(f))}, memory={"c": c})
    >>> memory_age(trace, 2).parts.ravel(), float(memory_age(trace, 2).mean_age[0, 0])
    (array([2., 0., 1.]), 1.3333333333333333)
    """
    path, at = direct_path(trace, memory), checked_step(trace, step)
    write, kept = path.write[: at + 1], path.kept[: at + 1]
    # A product of the R themselves, not of their logarithms: so it telescopes to the last bits.
    later = np.concatenate([kept[1:], np.ones_like(kept[:1])])
    return MemoryAge(at, np.cumprod(later[::-1], axis=0)[::-1] * write)
