"""What a kernel's run is beside its tensors."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from tidegate.cells.base import Cell

__all__ = ["Call", "Tensors"]

Tensors = tuple[Tensor, ...]


class Call(NamedTuple):
    """What a run is beside its tensors.

    Attributes:
        reset: (T, B) uint8, or nothing.
        lengths: (B,) int64, or nothing.
        saving: whether a backward run may follow.
    """

    cell: Cell
    reset: Tensor | None
    lengths: Tensor | None
    reverse: bool
    trace: bool
    saving: bool
