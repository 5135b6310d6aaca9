"""The arrays of a task, and symbols as one-hot rows."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tidegate._core.errors import UsageError

Bools: TypeAlias = npt.NDArray[np.bool_]
Floats: TypeAlias = npt.NDArray[np.float32]
Symbols: TypeAlias = npt.NDArray[np.uint8]


def one_hot(symbols: npt.ArrayLike, size: int) -> Floats:
    """(steps, size) rows of zeros with a one at each symbol.

    >>> one_hot([2, 0], 3).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]

    Raises:
        UsageError: a symbol is not in 0 .. size - 1.
    """
    codes = np.asarray(symbols)
    if codes.size and not 0 <= codes.min() <= codes.max() < size:
        wrong = f"{codes.min()} .. {codes.max()}"
        raise UsageError("one_hot", f"symbols in 0 .. {size - 1}", wrong, "Take a larger size.")
    rows: Floats = np.eye(size, dtype=np.float32)[codes]
    return rows
