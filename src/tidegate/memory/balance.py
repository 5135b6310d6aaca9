"""Write, keep, read: what each step does with a memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidegate._core.errors import UsageError
from tidegate._core.trace import Trace
from tidegate.memory.direct_path import Floats, direct_path

__all__ = ["Balance", "balance"]


@dataclass(frozen=True, eq=False)
class Balance:
    """Sizes (steps, rows, units), in the units of the memory.

    Attributes:
        write: |m_t - R_t m_(t-1)|, what came in (LSTM: |i g|).
        keep: |R_t m_(t-1)|, what stayed (LSTM: |f c|); 0 at the first step.
        read: |h_t|, what others see of it.

    >>> Balance(write=np.array(1.0), keep=np.array(3.0), read=np.array(0.5)).written_share
    np.float64(0.25)
    """

    write: Floats
    keep: Floats
    read: Floats

    @property
    def written_share(self) -> Floats:
        """write / (write + keep): 1 is a memory made anew; NaN where it is empty."""
        with np.errstate(invalid="ignore"):
            return self.write / (self.write + self.keep)


def balance(trace: Trace, memory: str | None = None) -> Balance:
    """The balance of every step.

    Where a cell shows several hidden values (a block), that at the memory's place among the
    memories is read, else the first.

    Raises:
        UsageError: no such memory, or the Trace holds no memory or hidden values.

    >>> c = np.array([8.0, 4.5]).reshape(2, 1, 1)
    >>> trace = Trace({"c": np.full((2, 1, 1), np.log(0.5))}, {"c": c}, {"h": np.tanh(c)})
    >>> found = balance(trace)
    >>> found.keep.ravel(), found.write.ravel(), found.written_share.ravel().round(2)
    (array([0., 4.]), array([8. , 0.5]), array([1.  , 0.11]))
    """
    path = direct_path(trace, memory)
    if not trace.hidden:
        raise UsageError("balance", "a Trace with hidden values", "none", "Record them.")
    shown = list(trace.hidden.values())
    place = list(trace.memory).index(path.name) if len(shown) == len(trace.memory) else 0
    return Balance(np.abs(path.write), np.abs(path.brought), np.abs(shown[place]).astype(float))
