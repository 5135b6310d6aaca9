"""Running what was written: a function of vectors over arrays, here or for a lesser processor."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import llvmlite.ir as ir
import numpy as np
import pytest

from tidegate.kernels.code import jit
from tidegate.kernels.code.cpu import Target, flushing, host
from tidegate.kernels.code.emit import DOUBLE, SINGLE, Emitter, Index, Reals
from tidegate.kernels.code.vector import Vector

Function = Callable[..., Vector]


def text_of(function: Function, arrays: int, width: int, double: bool, target: Target) -> str:
    """A kernel y[k] = function(x1[k], x2[k], ...), vector by vector."""
    module = ir.Module("test")
    arguments = {f"x{k}": Reals for k in range(arrays)} | {"y": Reals, "count": Index}
    code = Emitter(module, "body", arguments, DOUBLE if double else SINGLE)
    *xs, y, count = code.arguments
    with code.loop(count) as k:
        y.store(function(*(x.load(k * width, width=width) for x in xs)), k * width)
    code.finish()
    flushing(code.function, "kernel", target)
    return str(module)


def evaluate(
    function: Function, *xs: np.ndarray, width: int = 8, target: Target | None = None
) -> np.ndarray:
    """The function on arrays of one dtype, padded to whole vectors with ones."""
    padded = [np.append(x, np.ones(-len(x) % width, x.dtype)) for x in xs]
    chosen = target or host()
    text = text_of(function, len(xs), width, xs[0].dtype == np.float64, chosen)
    y = np.empty_like(padded[0])
    kernel = jit.library("test", text, lambda: text, chosen).function(
        "kernel", *[ctypes.c_void_p] * (len(xs) + 1), ctypes.c_int64
    )
    kernel(*(x.ctypes.data for x in (*padded, y)), len(y) // width)
    return y[: len(xs[0])]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Every test has a cache of its own."""
    monkeypatch.setenv("TIDEGATE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TIDEGATE_DUMP", raising=False)
    return tmp_path / "cache"


@pytest.fixture(name="evaluate")
def _evaluate():
    return evaluate


@pytest.fixture(name="text_of")
def _text_of():
    return text_of
