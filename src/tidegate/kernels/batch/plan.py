"""What batch kernels take and give: one layer, one direction, whole sequences at once.

Arrays are C-contiguous and of one dtype, float32 or float64. T steps, B rows, I inputs, H units,
S slots, Q hidden names, P parameters of a unit, K *kept* memories: those that are not hidden
values as well (the LSTM's c is kept, the GRU's h is its hidden value and not counted again).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tidegate._core.errors import UsageError
from tidegate.calculus import Equations, derive
from tidegate.calculus.graph import depends
from tidegate.cells.base import Cell

__all__ = [
    "Array",
    "Forward",
    "Gradients",
    "Saved",
    "Weights",
    "check",
    "kept",
    "slots_of_retention",
    "start",
    "wrong",
]

Array = NDArray[Any]


class Weights(NamedTuple):
    """A layer's weights as torch holds them; their gradient has the same form.

    Attributes:
        input: (slots fed by the input * H, I), ``weight_ih``; slots in declared order.
        hidden: (slots fed by the hidden values * H, Q * H), ``weight_hh``; a slot with ``times``
            counts.
        bias: (slots with a bias * H,): what torch keeps twice, ``bias_ih`` and ``bias_hh``, summed
            for slots fed by both.
        unit: the units' own parameters (P, H).
    """

    input: Array
    hidden: Array
    bias: Array
    unit: Array

    @staticmethod
    def shapes(cell: Cell, inputs: int, units: int) -> dict[str, tuple[int, ...]]:
        """Shapes by name.

        >>> from tidegate.cells import GRU
        >>> Weights.shapes(GRU(), inputs=3, units=5)
        {'input': (15, 3), 'hidden': (15, 5), 'bias': (20,), 'unit': (0, 5)}
        """
        equations = derive(cell)
        rows = {zone: len(equations.fed_by(zone)) * units for zone in ("input", "hidden", "bias")}
        return {
            "input": (rows["input"], inputs),
            "hidden": (rows["hidden"], len(equations.hidden) * units),
            "bias": (rows["bias"],),
            "unit": (len(equations.parameters), units),
        }


class Saved(NamedTuple):
    """What :func:`backward` needs of a forward run; plain arrays, nothing is hidden.

    ``state`` and ``memory`` hold, for every step, what that step started from: a step at time t
    reads block t and leaves its result for the next in block t + 1; in reverse it reads block
    t + 1 and leaves it in block t.

    Attributes:
        x: (T, B, I).
        state: hidden values (T + 1, B, Q * H).
        memory: kept memories (T + 1, B, K * H).
        values: what the compiled way back cannot do without (T, B, V, H), gates first; the
            reference steps anew and keeps none.
        reset: (T, B) uint8, or nothing.
        lengths: (B,) int64, or nothing.
        reverse: whether steps went from the last time to the first.
    """

    cell: Cell
    weights: Weights
    x: Array
    state: Array
    memory: Array
    values: Array
    reset: NDArray[np.uint8] | None
    lengths: NDArray[np.int64] | None
    reverse: bool


class Forward(NamedTuple):
    """A forward run.

    Attributes:
        hidden: (T, B, Q * H); 0 beyond a row's length.
        last_hidden: (Q, B, H) and last_memory: (K, B, H), after the last step of each row.
        gates: by name (T, B, H), where a trace was asked for; undefined beyond a row's length.
        slots: by name (T, B, H), likewise: the pre-activations that log-retention is read from.
        memories: kept memories by name after each step (T, B, H), likewise.
        saved: for :func:`backward`, where it was asked for.
    """

    hidden: Array
    last_hidden: Array
    last_memory: Array
    gates: Mapping[str, Array]
    slots: Mapping[str, Array]
    memories: Mapping[str, Array]
    saved: Saved | None


class Gradients(NamedTuple):
    """d loss / d everything that went in.

    Attributes:
        x: (T, B, I), or nothing where it was not asked for.
        weights: in the form of the weights.
        hidden0: (Q, B, H), memory0: (K, B, H).
    """

    x: Array | None
    weights: Weights
    hidden0: Array
    memory0: Array


def kept(equations: Equations) -> tuple[str, ...]:
    """The memories that are not hidden values as well.

    >>> from tidegate.cells import GRU, LSTM
    >>> kept(derive(LSTM())), kept(derive(GRU()))
    (('c',), ())
    """
    return tuple(name for name in equations.memory if name not in equations.hidden)


def slots_of_retention(equations: Equations) -> tuple[str, ...]:
    """The slots that log-retention is read from.

    >>> from tidegate.cells import LSTM
    >>> slots_of_retention(derive(LSTM()))
    ('f',)
    """
    read = (*equations.log_retention.values(), *equations.retention_sign.values())
    leaves = equations.leaves
    return tuple(
        s for s in equations.slots if any(depends(node, leaves[f"z.{s}"]) for node in read)
    )


def start(cell: Cell, name: str) -> float:
    """Where a memory or hidden value starts, and starts again at a reset."""
    return cell.start.get(name, 0.0) if name in cell.memory else 0.0


def check(
    cell: Cell,
    weights: Weights,
    x: Array,
    hidden0: Array,
    memory0: Array,
    reset: Array | None,
    lengths: Array | None,
) -> None:
    """Machine code trusts sizes, so nothing that does not fit may pass.

    Raises:
        UsageError: a shape, a dtype or a layout that cannot be.
    """
    equations = derive(cell)
    _check_array("x", x, (None, None, None), x.dtype)
    if x.dtype not in (np.float32, np.float64):
        raise wrong("x", "float32 or float64", str(x.dtype))
    steps, rows, inputs = x.shape
    if steps < 1:
        raise wrong("x", "at least one step", "none")
    _check_array("weights.unit", weights.unit, (len(equations.parameters), None), x.dtype)
    hiddens, units = len(equations.hidden), weights.unit.shape[1]
    for name, shape in Weights.shapes(cell, inputs, units).items():
        _check_array(f"weights.{name}", getattr(weights, name), shape, x.dtype)
    _check_array("hidden0", hidden0, (hiddens, rows, units), x.dtype)
    _check_array("memory0", memory0, (len(kept(equations)), rows, units), x.dtype)
    if reset is not None:
        _check_array("reset", reset, (steps, rows), np.dtype(np.uint8))
    if lengths is not None:
        _check_array("lengths", lengths, (rows,), np.dtype(np.int64))
        if rows and not (1 <= lengths.min() and lengths.max() <= steps):
            raise wrong("lengths", f"1 to {steps}", f"{lengths.min()} to {lengths.max()}")


def _check_array(
    name: str, array: Array, shape: tuple[int | None, ...], dtype: np.dtype[Any]
) -> None:
    fits = array.ndim == len(shape) and all(
        wanted in (None, got) for wanted, got in zip(shape, array.shape, strict=True)
    )
    if not fits:
        raise wrong(name, f"shape {shape}", str(array.shape))
    if array.dtype != dtype:
        raise wrong(name, str(dtype), str(array.dtype))
    if not array.flags.c_contiguous:
        raise wrong(name, "a C-contiguous array", "a strided one")


def wrong(name: str, expected: str, got: str) -> UsageError:
    """An error about an array of a call."""
    return UsageError(name, expected, got, "See tidegate.kernels.batch.plan for the form of each.")
