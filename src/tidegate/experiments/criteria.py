"""When a prediction counts as right: the three readings of the paper's criterion.

The report of 1999 asks that "the mean squared error at each of the 7 output units" be below 0.49.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tidegate.tasks import correct
from tidegate.tasks.arrays import Bools

__all__ = ["CRITERIA", "Criterion", "every", "near", "some", "square_near"]

#: (scores (steps, classes), legal (steps, classes)) -> right (steps,)
Criterion: TypeAlias = Callable[[npt.NDArray[Any], Bools], Bools]


def some(rows: Bools) -> Bools:
    """Which rows hold a true value; ``any(axis=1)`` takes five times as long for short rows.

    >>> some(np.array([[False, True], [False, False]]))
    array([ True, False])
    """
    found: Bools = rows @ np.ones(rows.shape[1], np.bool_)
    return found


def every(rows: Bools) -> Bools:
    """Which rows hold no false value.

    >>> every(np.array([[False, True], [True, True]]))
    array([False,  True])
    """
    return ~some(~rows)


def near(outputs: npt.NDArray[Any], legal: Bools) -> Bools:
    """A: every output is within 0.49 of its target, 1 for a legal symbol and 0 for another.

    So the first author states the bound in 2002; memory is needed to keep it.

    >>> legal = np.array([[True, True, False]])
    >>> near(np.array([[0.6, 0.6, 0.4]]), legal), near(np.array([[0.5, 0.6, 0.4]]), legal)
    (array([ True]), array([False]))
    """
    return every(abs(outputs - legal) < 0.49)


def square_near(outputs: npt.NDArray[Any], legal: Bools) -> Bools:
    """B: every squared error is below 0.49, the text read literally: errors below 0.7.

    An output of 0.5 for T and for P passes everywhere, so memory is not needed.

    >>> square_near(np.array([[0.5, 0.5, 0.4]]), np.array([[True, False, False]]))
    array([ True])
    """
    return every((outputs - legal) ** 2 < 0.49)


#: by the letter the tables use; C: every legal symbol scores above every other (1997)
CRITERIA: dict[str, Criterion] = {"A": near, "B": square_near, "C": correct}
