"""A cell's equations in LaTeX, in the order and with the names its author used."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tidegate.calculus.derive import Equations, derive
from tidegate.calculus.graph import Node
from tidegate.cells.base import Cell

__all__ = ["latex"]

_PRECEDENCE = {"add": 1, "sub": 1, "mul": 2, "div": 3}
_ATOM = 4
_NAMES = {
    "sigmoid": r"\sigma",
    "tanh": r"\tanh",
    "exp": r"\exp",
    "log": r"\log",
    "log_sigmoid": r"\log\sigma",
    "maximum": r"\max",
    "minimum": r"\min",
}


def latex(cell: Cell) -> str:
    """The equations of ``cell``, one line each, gates first where the author computed them first.

    >>> from tidegate.cells import LSTM1997
    >>> print(latex(LSTM1997()))
    i_t &= \\sigma\\left(W_{i} x_t + U_{i} h_{t-1} + b_{i}\\right) \\\\
    g_t &= \\tanh\\left(W_{g} x_t + U_{g} h_{t-1} + b_{g}\\right) \\\\
    o_t &= \\sigma\\left(W_{o} x_t + U_{o} h_{t-1} + b_{o}\\right) \\\\
    c_t &= c_{t-1} + i_t \\odot g_t \\\\
    h_t &= o_t \\odot \\tanh\\left(c_t\\right)
    """
    equations = derive(cell)
    named = {node: name for name, node in equations.gates.items()}
    named |= {node: name for name, node in equations.hidden.items()}
    named |= {node: name for name, node in equations.memory.items()}
    aliases = _aliases(equations, named)
    lines = []
    for node, name in sorted(named.items(), key=lambda item: item[0].index):
        shown = {n: _symbol(other) for n, other in named.items() if n is not node}
        lines.append(f"{_symbol(name)} &= {_print(node, _Printer(equations, shown))}")
    return " \\\\\n".join(lines + aliases)


def _aliases(equations: Equations, named: Mapping[Node, str]) -> list[str]:
    """Lines for names that share one value: a hidden value that is a memory of another name."""
    pairs = [*equations.gates.items(), *equations.hidden.items()]
    return [
        f"{_symbol(name)} &= {_symbol(named[node])}" for name, node in pairs if named[node] != name
    ]


def _symbol(name: str, time: str = "t") -> str:
    head, _, tail = name.partition("_")
    letters, digits = head.rstrip("0123456789"), head[len(head.rstrip("0123456789")) :]
    index = "".join(filter(None, [digits, tail]))
    below = f"{index},{time}" if index else time
    return f"{letters}_{below}" if len(below) == 1 else f"{letters}_{{{below}}}"


class _Printer:
    def __init__(self, equations: Equations, shown: Mapping[Node, str]) -> None:
        self.equations = equations
        self.shown = shown

    def leaf(self, name: str) -> str:
        kind, _, name = name.partition(".")
        if kind == "past":
            return _symbol(name, "t-1")
        if kind == "par":
            return _symbol(name).replace(",t", "")
        return self.slot(name)

    def slot(self, slot: str) -> str:
        feed = self.equations.cell.slots[slot]
        hidden = r"h_{t-1}"
        if feed.times is not None:
            hidden = rf"\left({_symbol(feed.times)} \odot {hidden}\right)"
        tag = "{" + slot.replace("_", "") + "}"
        terms = [rf"W_{tag} x_t"] * feed.input + [rf"U_{tag} {hidden}"] * feed.hidden
        return " + ".join([*terms, f"b_{tag}"])


def _print(node: Node, printer: _Printer) -> str:
    if node.op in _PRECEDENCE:
        return _BINARY[node.op](node, printer)
    if node.op == "leaf":
        return printer.leaf(node.args[0])
    if node.op == "const":
        return f"{node.args[0]:g}"
    if node.op == "fixed":
        return _operand(node.args[0], printer, 0)
    if node.op == "absolute":
        return rf"\left|{_operand(node.args[0], printer, 0)}\right|"
    if node.op == "sqrt":
        return rf"\sqrt{{{_operand(node.args[0], printer, 0)}}}"
    inner = ", ".join(_operand(argument, printer, 0) for argument in node.args)
    name = _NAMES.get(node.op, rf"\operatorname{{{node.op}}}")
    return rf"{name}\left({inner}\right)"


def _operand(node: Node, printer: _Printer, least: int) -> str:
    """The node as an operand, in parentheses where it binds less than ``least``."""
    if node in printer.shown:
        return printer.shown[node]
    text = _print(node, printer)
    slot = node.op == "leaf" and " + " in text
    binds = 1 if slot else _PRECEDENCE.get(node.op, _ATOM)
    return rf"\left({text}\right)" if binds < least else text


def _product(node: Node, printer: _Printer) -> str:
    left, right = node.args
    if left.is_const(-1):
        return f"-{_operand(right, printer, 2)}"
    sign = " " if "const" in (left.op, right.op) else r" \odot "
    return f"{_operand(left, printer, 2)}{sign}{_operand(right, printer, 2)}"


_BINARY: dict[str, Callable[[Node, _Printer], str]] = {
    "add": lambda n, p: f"{_operand(n.args[0], p, 1)} + {_operand(n.args[1], p, 1)}",
    "sub": lambda n, p: f"{_operand(n.args[0], p, 1)} - {_operand(n.args[1], p, 2)}",
    "mul": _product,
    "div": lambda n, p: rf"\frac{{{_operand(n.args[0], p, 0)}}}{{{_operand(n.args[1], p, 0)}}}",
}
