"""When a prediction of several possible classes is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tidegate._core.errors import UsageError
from tidegate.tasks.arrays import Bools


def correct(scores: npt.NDArray[Any], legal: Bools) -> Bools:
    """(steps,) whether every legal class scores above every illegal one.

    ``scores`` and ``legal`` are (steps, classes). Equal scores are not above, NaN is never right,
    and where nothing is legal nothing can be wrong. Hochreiter & Schmidhuber 1997, section 5.1.

    >>> legal = np.array([[True, True, False]])
    >>> correct(np.array([[0.3, 0.5, 0.2]]), legal), correct(np.array([[0.2, 0.6, 0.2]]), legal)
    (array([ True]), array([False]))

    Raises:
        UsageError: the shapes differ.
    """
    if scores.shape != legal.shape:
        raise UsageError(
            "scores",
            f"the shape {legal.shape}",
            f"{scores.shape}",
            "Score every class at each step.",
        )
    lowest = np.where(legal, scores, np.inf).min(axis=1)
    highest = np.where(legal, -np.inf, scores).max(axis=1)
    right: Bools = lowest > highest
    return right
