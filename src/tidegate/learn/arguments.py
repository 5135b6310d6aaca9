"""What learners are given, made ready for kernels or refused with words that say why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tidegate._core.errors import UsageError
from tidegate.kernels.plan import Array, Loss

__all__ = ["check_clip", "float_type", "number_of_targets", "numbers"]


def float_type(owner: str, dtype: Any) -> Any:
    """The NumPy type of ``float32`` or ``float64``.

    Raises:
        UsageError: it is neither.
    """
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = None
    if found not in (np.float32, np.float64):
        raise UsageError(
            f"{owner} dtype", "float32 or float64", str(found or dtype), "Try dtype=np.float32."
        )
    return found.type


def check_clip(owner: str, clip: float) -> None:
    """Refuse a norm that is not above 0.

    Raises:
        UsageError: it is not.
    """
    if not clip > 0:
        raise UsageError(f"{owner} clip", "a norm above 0", repr(clip), "Try clip=10.")


def number_of_targets(loss: Loss, outputs: int) -> int:
    """How many targets a loss meets with a number of outputs.

    Raises:
        UsageError: it does not fit that number.
    """
    targets = loss.targets(outputs)
    parts: Sequence[str] = getattr(loss, "parts", ("value",))
    if targets < 1 or outputs % len(parts):
        raise UsageError(
            type(loss).__name__,
            f"a network whose outputs are a multiple of {len(parts)} ({', '.join(parts)})",
            f"outputs={outputs}",
            f"Try outputs={len(parts)} for one target.",
        )
    return targets


def numbers(name: str, values: ArrayLike) -> Array:
    """``values`` in float64; ``name`` says whose they are.

    Raises:
        UsageError: they are no numbers.
    """
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(
            name, "numbers", repr(values)[:60], "Give a NumPy array or a list."
        ) from error
