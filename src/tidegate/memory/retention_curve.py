"""How much of what was stored at one step is still there later."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidegate._core.trace import Trace
from tidegate.memory.direct_path import Floats, checked_step, direct_path

__all__ = ["RetentionCurve", "retention_curve"]


@dataclass(frozen=True, eq=False)
class RetentionCurve:
    """Of a memory at step ``step``: its share at that and every later step.

    Attributes:
        step: index in the Trace.
        log_share: log |R_(step+1) ... R_t| in nats, (steps - step, rows, units); 0 at first.
        sign: of the product.

    >>> kept = np.array([0.0, -0.1, -800.0]).reshape(3, 1, 1)
    >>> RetentionCurve(5, kept, np.ones((3, 1, 1))).share.ravel()
    array([1.       , 0.90483742, 0.        ])
    """

    step: int
    log_share: Floats
    sign: Floats

    @property
    def share(self) -> Floats:
        """The product itself; 1 at first."""
        return self.sign * np.exp(self.log_share)


def retention_curve(trace: Trace, step: int, memory: str | None = None) -> RetentionCurve:
    """prod_(j = step+1..t) R_j for every t from ``step`` on, along the direct path.

    Raises:
        UsageError: no such memory or step.

    >>> trace = Trace(log_retention={"c": np.log(np.full((4, 1, 1), 0.5))})
    >>> retention_curve(trace, 1).share.ravel()
    array([1.  , 0.5 , 0.25])
    """
    path, at = direct_path(trace, memory), checked_step(trace, step)
    log_share, sign = path.log_kept[at:].copy(), path.sign[at:].copy()
    log_share[0], sign[0] = 0.0, 1.0
    return RetentionCurve(at, np.cumsum(log_share, axis=0), np.multiply.accumulate(sign))
