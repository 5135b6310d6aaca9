"""Learners on machine code that take every step together, in one call."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tidegate.kernels.code import jit
from tidegate.kernels.engine import Engine
from tidegate.kernels.online.compiled import CompiledEngine
from tidegate.kernels.online.hosting import Function
from tidegate.kernels.together import Together

__all__ = ["CompiledTogether"]

_EACH = """
define void @each(ptr %functions, ptr %frames, i64 %count) {
start:
  br label %next
next:
  %k = phi i64 [ 0, %start ], [ %after, %next ]
  %function_place = getelementptr ptr, ptr %functions, i64 %k
  %frame_place = getelementptr ptr, ptr %frames, i64 %k
  %function = load ptr, ptr %function_place
  %frame = load ptr, ptr %frame_place
  call void %function(ptr %frame)
  %after = add i64 %k, 1
  %more = icmp slt i64 %after, %count
  br i1 %more, label %next, label %end
end:
  ret void
}
"""


class CompiledTogether(Together):
    """Kernels called one after the other by machine code, on frames that point at common arrays."""

    def __init__(self, engines: Sequence[Engine], inputs: Sequence[int]) -> None:
        super().__init__(engines, inputs)
        self._compiled = [engine for engine in engines if isinstance(engine, CompiledEngine)]
        self._flags = np.zeros(len(engines), np.uint8)
        self._each = jit.library("each", _EACH, lambda: _EACH).function(
            "each", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64
        )
        frames = np.array([engine._frame.address for engine in self._compiled], np.int64)
        self._kept = [frames, *(_addresses([getattr(e, name) for e in self._compiled])
                                for name in ("_predict", "_learn"))]  # fmt: skip
        self._frames, self._predicts, self._learns = (a.ctypes.data for a in self._kept)
        self._count = len(engines)
        self._room = self._done = 0
        self._pointed = False

    def predict(self) -> None:
        if not self._pointed:
            self._point()
        self._each(self._predicts, self._frames, self._count)

    def learn(self) -> None:
        if not self._room:
            self._refill()
        self._each(self._learns, self._frames, self._count)
        self._room -= 1
        self._done += 1

    def settle(self) -> None:
        for engine in self._compiled:
            engine._steps += self._done
            engine._room -= self._done
        self._room = self._done = 0
        self._pointed = False

    def _refill(self) -> None:
        self.settle()
        self._point()
        for engine in self._compiled:
            if not engine._room:
                engine._fill_table()
        self._room = min(engine._room for engine in self._compiled)

    def _point(self) -> None:
        for k, engine in enumerate(self._compiled):
            frame, engine._one.pointed = engine._frame, False
            frame.point("x", self.xs, k * self.xs.shape[1])
            frame.point("target", self.targets, k)
            frame.point("prediction", self.predictions, k)
            frame.point("flag", self._flags, k)
            frame["steps"] = 1
        self._pointed = True


def _addresses(functions: Sequence[Function]) -> NDArray[np.int64]:
    pointers = [ctypes.cast(function, ctypes.c_void_p) for function in functions]  # type: ignore[arg-type]
    return np.array([pointer.value for pointer in pointers], np.int64)
