"""Arrays whose memory is used again.

The arrays of a run are large, short-lived and the same size run after run. Given back to the
operating system each time, every page of them has to be found and cleared anew, which costs a
fused layer up to a fifth of its time; so their memory waits here for the next run.
"""

from __future__ import annotations

from collections import OrderedDict
from math import prod
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["empty", "forget", "waiting"]

_LINE = 64
_SMALL = 2**16
"""Bytes below which nothing is gained."""
_MOST = 2**28
"""Bytes that may wait; beyond it the sizes not asked for the longest go first."""

Memory = NDArray[np.uint8]


class _Shelf:
    """Memory that waits, by size."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._by_size: OrderedDict[int, list[Memory]] = OrderedDict()
        self.bytes = 0

    def take(self, size: int) -> Memory:
        with self._lock:
            found = self._by_size.get(size)
            if found:
                self._by_size.move_to_end(size)
                self.bytes -= size
                return found.pop()
        return np.empty(size + _LINE, np.uint8)

    def put(self, size: int, memory: Memory) -> None:
        with self._lock:
            self._by_size.setdefault(size, []).append(memory)
            self.bytes += size
            while self.bytes > _MOST:
                oldest = next(iter(self._by_size))
                if self._by_size[oldest]:
                    self._by_size[oldest].pop()
                    self.bytes -= oldest
                else:
                    del self._by_size[oldest]

    def clear(self) -> None:
        with self._lock:
            self._by_size.clear()
            self.bytes = 0


_SHELF = _Shelf()


class _Lent:
    """Memory in use; the arrays that look at it keep this alive, and its end gives it back."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], size: int) -> None:
        self._size, self._memory = size, _SHELF.take(size)
        start = int(self._memory.__array_interface__["data"][0])
        self.__array_interface__ = {
            "version": 3, "shape": shape, "typestr": dtype.str,
            "data": (start + -start % _LINE, False),
        }  # fmt: skip

    def __del__(self) -> None:
        _SHELF.put(self._size, self._memory)


def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """An array as ``np.empty`` gives, large ones on cache lines and in memory that waited.

    The memory waits again when the array and everything that looks at it are gone.

    >>> first = empty((64, 1024), np.dtype(np.float32))
    >>> place = first.__array_interface__["data"]
    >>> del first
    >>> empty((64, 1024), np.dtype(np.float32)).__array_interface__["data"] == place
    True
    """
    size = prod(shape) * dtype.itemsize
    if size < _SMALL:
        return np.empty(shape, dtype)
    return np.asarray(_Lent(shape, dtype, _rounded(size)))


def waiting() -> int:
    """Bytes that wait to be used again."""
    return _SHELF.bytes


def forget() -> None:
    """Give everything that waits back to the operating system."""
    _SHELF.clear()


def _rounded(size: int) -> int:
    """Up to the next of eight steps between powers of two, so that near sizes share."""
    step = 1 << max(size.bit_length() - 4, 12)
    return -(-size // step) * step
