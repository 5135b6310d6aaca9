"""Cells on sympy, the oracle of derivatives.

sympy flattens sums and products and so loses the memory inside a hidden value. Here nothing is
evaluated while a step runs, so that a memory is still found in the hidden value and can be
replaced by a symbol of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sympy
from scipy.special import expit, log_expit

from support.values import stepped
from tidegate.cells import Cell, functions


class Sigmoid(sympy.Function):
    def fdiff(self, argindex=1):
        return self * (1 - self)


class Tanh(sympy.Function):
    def fdiff(self, argindex=1):
        return 1 - self**2


class Exp(sympy.Function):
    def fdiff(self, argindex=1):
        return self


class Log(sympy.Function):
    def fdiff(self, argindex=1):
        return 1 / self.args[0]


class LogSigmoid(sympy.Function):
    def fdiff(self, argindex=1):
        return 1 - Sigmoid(self.args[0])


class Fixed(sympy.Function):
    def fdiff(self, argindex=1):
        return sympy.Integer(0)


class Maximum(sympy.Function):
    nargs = 2

    def fdiff(self, argindex=1):
        mine, other = self.args[argindex - 1], self.args[2 - argindex]
        return sympy.Heaviside(mine - other)


NUMERIC = {
    "Sigmoid": expit,
    "Tanh": np.tanh,
    "Exp": np.exp,
    "Log": np.log,
    "LogSigmoid": log_expit,
    "Fixed": lambda x: x,
    "Maximum": np.maximum,
    "Heaviside": lambda x, at_0=0.5: np.heaviside(x, at_0),
}


@dataclass(frozen=True, eq=False)
class Symbolic:
    """A sympy expression whose operators evaluate nothing."""

    expression: sympy.Expr

    def __add__(self, other):
        return _made(sympy.Add, self, other)

    def __radd__(self, other):
        return _made(sympy.Add, other, self)

    def __mul__(self, other):
        return _made(sympy.Mul, self, other)

    def __rmul__(self, other):
        return _made(sympy.Mul, other, self)

    def __neg__(self):
        return _made(sympy.Mul, -1, self)

    def __sub__(self, other):
        return self + _made(sympy.Mul, -1, other)

    def __rsub__(self, other):
        return other + -self

    def __truediv__(self, other):
        return self * _made(sympy.Pow, other, -1)

    def __rtruediv__(self, other):
        return other * _made(sympy.Pow, self, -1)


def _expression(value) -> sympy.Expr:
    return value.expression if isinstance(value, Symbolic) else sympy.sympify(value)


def _made(kind, *values) -> Symbolic:
    return Symbolic(kind(*map(_expression, values), evaluate=False))


def _form(kind):
    return lambda *values: Symbolic(kind(*map(_expression, values)))


functions.register(
    Symbolic,
    {
        "sigmoid": _form(Sigmoid),
        "tanh": _form(Tanh),
        "exp": _form(Exp),
        "log": _form(Log),
        "log_sigmoid": _form(LogSigmoid),
        "sqrt": _form(sympy.sqrt),
        "fixed": _form(Fixed),
        "maximum": _form(Maximum),
    },
)


class Oracle:
    """Derivatives of a cell's step by sympy; ``names`` are leaf names as in ``Equations``."""

    def __init__(self, cell: Cell) -> None:
        parts = {"z": cell.slots, "past": cell.memory, "par": cell.parameters}
        names = [f"{kind}.{name}" for kind, of in parts.items() for name in of]
        self.leaves = {name: sympy.Symbol(name.replace(".", "_")) for name in names}
        step = stepped(cell, {name: Symbolic(leaf) for name, leaf in self.leaves.items()})
        self.memory = {m: _expression(getattr(step, m)) for m in cell.memory}
        new = {m: sympy.Symbol(f"new_{m}") for m in cell.memory}
        inside = {self.memory[m]: new[m] for m in cell.memory}
        self.hidden = {h: _expression(getattr(step, h)).xreplace(inside) for h in cell.hidden}
        self.new = new

    def value(self, expression: sympy.Expr, known: dict) -> np.ndarray:
        """The value of an expression; new memories take the values that the step gives them."""
        units = len(next(iter(known.values())))
        given = {self.leaves[name]: value for name, value in known.items()}
        for memory, symbol in self.new.items():
            given[symbol] = _number(self.memory[memory], given)
        return np.broadcast_to(_number(expression, given), units)


def _number(expression, given):
    return sympy.lambdify(list(given), expression, [NUMERIC, "numpy"])(*given.values())
