"""What the arithmetic of gates takes: numbers and arrays, but no half precision."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidegate._core.errors import UsageError

__all__ = ["Floats", "floats"]

Floats = NDArray[np.float64]


def floats(owner: str, values: ArrayLike) -> Floats:
    """``values`` as float64.

    Raises:
        UsageError: they are no numbers, or of a 16-bit type, in which every half-life above 1,419
            steps (bfloat16: 177) reads as forever.

    >>> floats("retention", [0.5, 1])
    array([0.5, 1. ])
    """
    given = np.asarray(values)
    if given.dtype.name in ("float16", "bfloat16"):
        raise UsageError(
            owner, "float32 or float64", given.dtype.name,
            "Half precision has rounded long half-lives away: convert the pre-activation first.",
        )  # fmt: skip
    if given.dtype.kind not in "biuf":
        raise UsageError(owner, "numbers", repr(values)[:60], "Give a number or an array.")
    return given.astype(np.float64)
