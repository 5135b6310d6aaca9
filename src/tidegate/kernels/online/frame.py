"""What a compiled kernel is told: one block of 64-bit words, each with a name.

Sizes, addresses and counts of a learner lie in it, so a call passes one pointer, and one piece of
machine code serves networks of every size.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tidegate.kernels.code.emit import Flags, Index, Reals, Words
from tidegate.kernels.code.vector import DOUBLE, Precision, Vector
from tidegate.kernels.plan import Array

__all__ = ["Frame", "FrameCode", "Rows", "frame_names"]

_LEARNER = (
    # what changes
    "updates",
    "fresh",
    # sizes
    "steps",
    "first_update",
    "inputs",
    "input_blocks",
    "outputs",
    "targets",
    "groups",
    "feature_blocks",
    "stride",
    "clip",
    # arrays of the caller
    "x",
    "target",
    "prediction",
    "flag",
    "table",
    "table_rows",
    # arrays of the learner
    "coefficients",
    "lane_updates",
    "seen",
    "features",
    "logits",
    "powers",
    "delta",
    "readout",
    "readout_error",
)
_LAYER = (
    "units",
    "blocks",
    "weights",
    "weights_block",
    "traces",
    "traces_block",
    "memory",
    "new_memory",
    "hidden",
    "new_hidden",
    "net",
    "slopes",
    "error",
    "immediate",
)


def frame_names(layers: int) -> tuple[str, ...]:
    """The words of a frame, in order, for a number of layers."""
    return _LEARNER + tuple(f"layer{n}.{name}" for n in range(layers) for name in _LAYER)


class Frame:
    """The words themselves, as the host fills them in."""

    def __init__(self, layers: int) -> None:
        self._place = {name: k for k, name in enumerate(frame_names(layers))}
        self._words = np.zeros(len(self._place), np.int64)
        self._held: dict[str, Array] = {}
        self.address = int(self._words.ctypes.data)

    def __getitem__(self, name: str) -> int:
        return int(self._words[self._place[name]])

    def __setitem__(self, name: str, number: int) -> None:
        self._words[self._place[name]] = number

    def set_double(self, name: str, number: float) -> None:
        """A word that is a floating-point number."""
        self._words.view(np.float64)[self._place[name]] = number

    def point(self, name: str, array: Array | NDArray[np.uint8], offset: int = 0) -> None:
        """A word that is the address of ``array[offset]``; the array is kept alive."""
        self._held[name] = array
        self[name] = array.ctypes.data + offset * array.itemsize


class Rows:
    """Arrays of many steps, a row each, of which a frame points at one row and those after it.

    Args:
        frame: that points.
        arrays: (steps, ...) by their names, all of as many steps, each in one piece; they must
            live as long as the frame points at them.
    """

    def __init__(self, frame: Frame, arrays: Mapping[str, Array | NDArray[np.uint8]]) -> None:
        self._frame = frame
        # Asking an array for its address takes longer than a few steps of learning.
        self._places = [(name, a.ctypes.data, a.strides[0]) for name, a in arrays.items()]

    def point(self, row: int, steps: int) -> None:
        """Let the frame point at ``steps`` rows from ``row`` on."""
        for name, address, stride in self._places:
            self._frame[name] = address + row * stride
        self._frame["steps"] = steps


class FrameCode:
    """The words as code reads them."""

    def __init__(self, words: Words, layers: int, precision: Precision, prefix: str = "") -> None:
        self._words, self._layers, self._precision = words, layers, precision
        self._prefix = prefix
        self._place = {name: k for k, name in enumerate(frame_names(layers))}

    def layer(self, n: int) -> FrameCode:
        """The words of one layer, by their short names."""
        return FrameCode(self._words, self._layers, self._precision, f"layer{n}.")

    def _position(self, name: str) -> int:
        return self._place[self._prefix + name]

    def size(self, name: str) -> Index:
        """A whole number."""
        return self._words.index(self._position(name))

    def count(self, name: str) -> Index:
        """A whole number that changes while the kernel runs."""
        return self._words.count(self._position(name))

    def set_count(self, name: str, number: Index) -> None:
        """Change it."""
        self._words.set_count(self._position(name), number)

    def double(self, name: str) -> Vector:
        """A double."""
        return self._words.double(self._position(name))

    def reals(self, name: str) -> Reals:
        """An array of the learner's precision."""
        return self._words.reals(self._position(name), self._precision)

    def doubles(self, name: str) -> Reals:
        """An array of doubles."""
        return self._words.reals(self._position(name), DOUBLE)

    def words(self, name: str) -> Words:
        """An array of words."""
        return self._words.words(self._position(name))

    def flags(self, name: str) -> Flags:
        """An array of bytes."""
        return self._words.flags(self._position(name))
