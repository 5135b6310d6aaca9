"""One pass over a stream: every method predicts a row, then meets it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from time import process_time

import numpy as np
from numpy.typing import NDArray

from tidegate.bench.method import Method
from tidegate.forecast.judging.intervals import WINDOW, Conformal

__all__ = ["Score", "compare"]

Floats = NDArray[np.float64]

LEVEL = 0.9
EVERY = 100  #: rows from one call of ``seen`` to the next


@dataclass(frozen=True)
class Score:
    """Of one method on one stream, over the rows that are scored.

    Attributes:
        mae: mean absolute error, in units of the target.
        coverage: share of values inside the 90 % interval.
        worst_window: the smallest such share in 500 scored rows that follow each other.
        interval_score: mean of width + 20 (distance outside), in units of the target.
        plain_score: that of plain intervals: the quantile of the last 500 absolute errors.
        us_per_step: processor time of predict and learn, in microseconds.
        scored: rows.
        silent: rows among them at which it said nothing, and the last value stood in.

    >>> Score(1.0, 0.9, 0.85, 4.0, 4.5, 10.0, scored=1000, silent=0).scored
    1000
    """

    mae: float
    coverage: float
    worst_window: float
    interval_score: float
    plain_score: float
    us_per_step: float
    scored: int
    silent: int


def _unseen(rows: int) -> None:
    pass


def compare(
    method: Method,
    times: Sequence[float],
    values: Sequence[float],
    first: int,
    seen: Callable[[int], None] = _unseen,
) -> Score:
    """Predict and learn every row; score those from ``first`` on that have a value.

    Args:
        method: fresh.
        times: in seconds.
        values: of the target; NaN where missing.
        first: row, from 0, from which rows are scored.
        seen: called with the rows that are done, now and then.

    >>> from tidegate.bench import made
    >>> score = compare(made("persistence", 1.0, 0), range(100), [1.0, 2.0] * 50, first=10)
    >>> score.mae, score.scored
    (1.0, 90)
    """
    errors, low, high, plain = (np.full(len(values), nan) for _ in range(4))
    silent = np.zeros(len(values), bool)
    residuals, spent, last = Conformal((LEVEL,)), 0.0, nan
    for n, (time, value) in enumerate(zip(times, values, strict=True)):
        begun = process_time()
        said = method.predict(time)
        spent += process_time() - begun
        silent[n] = not isfinite(said)
        said = last if silent[n] else said
        width = residuals.plain_width(LEVEL)
        own = method.interval() or (said - width, said + width)
        last = value if isfinite(value) else last
        if isfinite(value) and isfinite(said):
            errors[n] = value - said
            low[n], high[n], plain[n] = own[0] - said, own[1] - said, width
            residuals.learn(abs(value - said))
        begun = process_time()
        method.learn(time, value)
        spent += process_time() - begun
        if n % EVERY == 0:
            seen(n)
    seen(len(values))
    scored = np.isfinite(errors) & (np.arange(len(errors)) >= first)
    ends = low[scored], high[scored], plain[scored]
    us = 1e6 * spent / len(values)
    return _score(errors[scored], *ends, us, int(silent[scored].sum()))


def _score(
    errors: Floats, low: Floats, high: Floats, plain: Floats, us: float, silent: int
) -> Score:
    inside = (errors >= low) & (errors <= high)
    window = min(WINDOW, len(inside)) or 1
    shares = np.convolve(inside, np.ones(window) / window, "valid") if len(inside) else [nan]
    return Score(
        mae=float(np.abs(errors).mean()) if len(errors) else nan,
        coverage=float(inside.mean()) if len(errors) else nan,
        worst_window=float(np.min(shares)),
        interval_score=_interval_score(errors, low, high),
        plain_score=_interval_score(errors, -plain, plain),
        us_per_step=us,
        scored=len(errors),
        silent=silent,
    )


def _interval_score(errors: Floats, low: Floats, high: Floats) -> float:
    if not len(errors):
        return nan
    outside = np.maximum(low - errors, 0) + np.maximum(errors - high, 0)
    return float((high - low + 2 / (1 - LEVEL) * outside).mean())
