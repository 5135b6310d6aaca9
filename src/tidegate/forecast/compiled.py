"""Plain functions on arrays as machine code: by Numba, or as they stand where that is asked for.

What a forecaster does at every step is written in small functions on float64 arrays, and whole
phases of a step are one call into the code that Numba makes of them. The code is kept beside the
source, or in the user's cache folder where that cannot be written; a change in any source of this
folder, or of one in it, makes it anew. ``TIDEGATE_REFERENCE=1`` or ``NUMBA_DISABLE_JIT=1`` runs the
same source as Python, which is the reference that the code is tested against.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numpy.typing import NDArray

from tidegate.kernels.code import jit
from tidegate.kernels.engine import reference

__all__ = ["Integers", "compiled", "four_products", "inner", "kept", "product"]

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_njit: Any = numba.njit
_FUSED = {"contract"}  #: a product and a sum may be rounded once
_LOOSE = {"contract", "nsz", "reassoc"}  #: sums may be taken in any order, so that they are vectors


def compiled(function: _Function) -> _Function:
    """The function as machine code, made at its first call and kept on disk.

    It may call other compiled functions, and takes numbers, arrays and tuples of these.

    >>> @compiled
    ... def double(x: float) -> float:
    ...     return 2 * x
    >>> double(2.0)
    4.0
    """
    if reference():
        return function
    made = _njit(fastmath=_FUSED, error_model="numpy", no_cfunc_wrapper=True)(function)
    if made is not function:
        with suppress(RuntimeError):  # no folder can be written: compiled anew every time
            made._cache = _Cache(function)
    return cast(_Function, made)


def kept(function: Callable[..., Any]) -> bool:
    """Whether code of a :func:`compiled` function is there from before, or none is needed."""
    found = getattr(function, "_cache", None)
    if not isinstance(found, _Cache):
        return reference()
    return found.has_code()


def inner(function: _Function) -> _Function:
    """The function for compiled ones to call, as if it stood in them: Python itself cannot."""
    return cast(_Function, _inner(function, _FUSED, "always"))


def _inner(function: _Function, fastmath: set[str], inline: str) -> Any:
    if reference():
        return function
    return _njit(
        fastmath=fastmath, error_model="numpy", inline=inline,
        no_cpython_wrapper=True, no_cfunc_wrapper=True,
    )(function)  # fmt: skip


def _product(weights: Floats, x: Floats) -> float:
    """The sum of ``weights`` times ``x``."""
    total = 0.0
    for i in range(len(weights)):
        total += weights[i] * x[i]
    return total


def _four_products(
    a: Floats, b: Floats, c: Floats, d: Floats, x: Floats
) -> tuple[float, float, float, float]:
    """The sums of each of four times ``x``."""
    by_a, by_b, by_c, by_d = 0.0, 0.0, 0.0, 0.0
    for i in range(len(x)):
        by_a += a[i] * x[i]
        by_b += b[i] * x[i]
        by_c += c[i] * x[i]
        by_d += d[i] * x[i]
    return by_a, by_b, by_c, by_d


# Nowhere else: where sums may be reordered, x - x is 0 even for NaN, and so is isfinite's test.
product = cast(Callable[[Floats, Floats], float], _inner(_product, _LOOSE, "never"))
four_products = cast(
    Callable[[Floats, Floats, Floats, Floats, Floats], tuple[float, float, float, float]],
    _inner(_four_products, _LOOSE, "never"),
)


class _Files(IndexDataCacheFile):
    """What is kept of a function; of sources that are gone, it may name what is no more."""

    def _load_index(self) -> Any:
        try:
            return super()._load_index()  # type: ignore[no-untyped-call]
        except (AttributeError, ImportError):
            return {}


class _Cache(FunctionCache):
    """Numba looks at the file of a function only; its callees stand in other files here."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._cache_file = _Files(  # type: ignore[no-untyped-call]
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def has_code(self) -> bool:
        """For whatever it is called with: none would be kept for other sources."""
        keys = self._cache_file._load_index()  # type: ignore[no-untyped-call]
        return any(key[-1] == _sources() for key in keys)

    def _index_key(self, *place: Any) -> tuple[Any, ...]:
        return *super()._index_key(*place), _sources()  # type: ignore[no-untyped-call]


@cache
def _sources() -> str:
    return jit.sources("tidegate.forecast")
