"""What engines on machine code share: code by its recipe, coefficients by tables, class checks."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import ClassVar, TypeAlias

import numpy as np

from tidegate.kernels.code import jit
from tidegate.kernels.code.cpu import Target
from tidegate.kernels.code.vector import Precision
from tidegate.kernels.online.online_code import OnlineCode
from tidegate.kernels.online.recipe import recipe
from tidegate.kernels.online.update_code import coefficient_names
from tidegate.kernels.plan import Array, SharedLoss
from tidegate.kernels.reference import Online

__all__ = ["Function", "Table", "check_classes", "code_functions", "online_code"]

Function: TypeAlias = Callable[[int], None]
"""A kernel: it takes the address of a frame."""


def online_code(online: Online, precision: Precision, lanes: int, group: int) -> OnlineCode:
    """What the code of ``online`` depends on."""
    cells = tuple(layer.equations for layer in online.plan.layers)
    averaging = online.averaging is not None
    return OnlineCode(cells, online.loss, online.optimiser, averaging, precision, lanes, group)


def code_functions(
    kind: str, code: OnlineCode, names: Sequence[str], write: Callable[[], str], target: Target
) -> list[Function]:
    """The kernels ``names`` that ``write`` writes, compiled or from the cache."""
    cells = "-".join(type(eq.cell).__name__.lower() for eq in code.cells)
    library = jit.library(f"{cells}-{kind}", recipe(kind, code), write, target)
    return [library.function(name, ctypes.c_void_p) for name in names]


class Table:
    """The optimiser's coefficients, and the share of the average, by the number of updates made.

    Attributes:
        rows: (1024, coefficients) of the learner's precision.
    """

    ROWS: ClassVar = 1024

    def __init__(self, online: Online, dtype: np.dtype[np.floating]) -> None:
        self._online = online
        self._names = coefficient_names(online.optimiser)
        width = len(self._names) + (online.averaging is not None)
        self.rows = np.zeros((self.ROWS, width), dtype)
        self._first = -1

    def fill(self, updates: int) -> int:
        """Make ``rows`` hold the update number ``updates``; the number of the first row.

        Always the same rows are computed together, so their bits do not depend on where a run
        was cut.
        """
        first = updates - updates % self.ROWS
        if first != self._first:
            numbers = np.arange(first, first + self.ROWS)
            coefficients = self._online.optimiser.coefficients(numbers)
            for k, name in enumerate(self._names):
                self.rows[:, k] = coefficients[name]
            if self._online.averaging is not None:
                self.rows[:, -1] = self._online.averaging.shares(numbers)
            self._first = first
        return first


def check_classes(online: Online, targets: Array) -> None:
    """Let a loss over classes refuse, before anything changes, a target that is no class.

    Raises:
        UsageError: from the loss.
    """
    if not isinstance(online.loss, SharedLoss):
        return
    outputs = online.plan.outputs
    classes = (targets >= 0) & (targets < outputs) & (targets == np.floor(targets))
    wrong = ~classes & np.isfinite(targets)
    if wrong.any():
        online.loss.error(np.zeros(outputs), targets[wrong][:1])
