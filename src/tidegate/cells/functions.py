"""What a cell may use in ``step``: each function once, for every kind of value.

On NumPy arrays and numbers the forms below apply. Other kinds of value (traced nodes, vectors of
machine code, torch tensors) bring their own forms and name them with :func:`register`; so this
module needs to know none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

__all__ = [
    "absolute",
    "choose",
    "exp",
    "fixed",
    "log",
    "log_sigmoid",
    "maximum",
    "minimum",
    "register",
    "sigmoid",
    "sqrt",
    "tanh",
]

Value = Any  #: a NumPy array, a number, a torch tensor, a traced node or a vector of machine code

_FORMS: dict[type, Mapping[str, Callable[..., Value]]] = {}


def register(kind: type, forms: Mapping[str, Callable[..., Value]]) -> None:
    """Use ``forms[name]`` wherever a function of this module meets a value of ``kind``.

    >>> class Sign(str): pass
    >>> register(Sign, {"tanh": lambda x: Sign(f"tanh({x})")})
    >>> print(tanh(Sign("x")))
    tanh(x)
    """
    _FORMS[kind] = forms


def _apply(name: str, *values: Value) -> Value:
    for value in values:
        for kind in type(value).__mro__:
            if kind in _FORMS:
                return _FORMS[kind][name](*values)
    return _NUMPY[name](*values)


def sigmoid(x: Value) -> Value:
    """1 / (1 + exp(-x)), with full relative accuracy at both ends.

    >>> float(sigmoid(0.0)), float(sigmoid(-700.0))
    (0.5, 9.859676543759771e-305)
    """
    return _apply("sigmoid", x)


def tanh(x: Value) -> Value:
    """The hyperbolic tangent."""
    return _apply("tanh", x)


def exp(x: Value) -> Value:
    """e to the power of x."""
    return _apply("exp", x)


def log(x: Value) -> Value:
    """The natural logarithm."""
    return _apply("log", x)


def sqrt(x: Value) -> Value:
    """The square root."""
    return _apply("sqrt", x)


def log_sigmoid(x: Value) -> Value:
    """log sigmoid(x) = -softplus(-x), exact where the gate itself rounds to 1.

    >>> float(log_sigmoid(120.0))
    -7.66764807372200e-53
    """
    return _apply("log_sigmoid", x)


def absolute(x: Value) -> Value:
    """The value without its sign."""
    return _apply("absolute", x)


def maximum(x: Value, y: Value) -> Value:
    """The larger of two values; NaN where either is."""
    return _apply("maximum", x, y)


def minimum(x: Value, y: Value) -> Value:
    """The smaller of two values; NaN where either is."""
    return _apply("minimum", x, y)


def choose(x: Value, y: Value, yes: Value, no: Value) -> Value:
    """``yes`` where x >= y, else ``no``.

    >>> choose(np.array([1.0, 2.0]), 1.5, 10.0, -10.0)
    array([-10.,  10.])
    """
    return _apply("choose", x, y, yes, no)


def fixed(x: Value) -> Value:
    """The same value, but no error flows through it (the stop-gradient of other libraries)."""
    return _apply("fixed", x)


def _quiet(function: Callable[..., Value]) -> Callable[..., Value]:
    """The ends are values (exp(1000) is inf, log(0) is -inf), nothing to warn of."""
    return np.errstate(all="ignore")(function)


def _numpy_sigmoid(x: Value) -> Value:
    small = np.exp(-np.abs(x))
    return np.where(np.asarray(x) < 0, small, np.ones_like(small)) / (1 + small)


def _numpy_log_sigmoid(x: Value) -> Value:
    return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))


def _numpy_choose(x: Value, y: Value, yes: Value, no: Value) -> Value:
    kind = np.result_type(x, y, yes, no)
    return np.where(np.asarray(x) >= y, np.asarray(yes, kind), np.asarray(no, kind))


_NUMPY: dict[str, Callable[..., Value]] = {
    "sigmoid": _numpy_sigmoid,
    "tanh": np.tanh,
    "exp": _quiet(np.exp),
    "log": _quiet(np.log),
    "sqrt": _quiet(np.sqrt),
    "log_sigmoid": _numpy_log_sigmoid,
    "absolute": np.abs,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "choose": _numpy_choose,
    "fixed": lambda x: x,
}
