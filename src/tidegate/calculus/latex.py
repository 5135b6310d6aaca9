"""A cell's equations in LaTeX, in the order and with the names its author used."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tidegate.calculus.derive import Equations, derive
from tidegate.calculus.graph import Node
from tidegate.cells.base import Cell

__all__ = ["latex"]

_PRECEDENCE = {"add": 1, "sub": 1, "mul": 2, "div": 3}
_ATOM = 4
_PARTS = ("memory", "gates", "hidden")
_NAMES = {
    "sigmoid": r"\sigma",
    "tanh": r"\tanh",
    "exp": r"\exp",
    "log": r"\log",
    "log_sigmoid": r"\log\sigma",
    "maximum": r"\max",
    "minimum": r"\min",
}
_AROUND = {"absolute": (r"\left|", r"\right|"), "sqrt": (r"\sqrt{", "}")}


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
    values = [(n, node) for part in _PARTS for n, node in getattr(equations, part).items()]
    named = {node: name for name, node in reversed(values) if _deserves_a_name(node)}
    values.sort(key=lambda item: (item[1].index, named.get(item[1]) != item[0]))
    lines = []
    for name, node in dict.fromkeys(values):
        shown = {n: _symbol(other) for n, other in named.items() if other != name}
        lines.append(f"{_symbol(name)} &= {_operand(node, _Printer(equations, shown), 0)}")
    return " \\\\\n".join(lines)


def _deserves_a_name(node: Node) -> bool:
    """Numbers and values of the step before are written as they are, also where a gate is one."""
    return node.op != "const" and not (node.op == "leaf" and node.args[0].startswith("past."))


def _symbol(name: str, time: str = "t") -> str:
    """c2 at time t is c_{2,t}; a parameter p_i, which has no time, is p_i."""
    head, _, tail = name.partition("_")
    letters, digits = head.rstrip("0123456789"), head[len(head.rstrip("0123456789")) :]
    index = "".join(filter(None, [digits, tail]))
    below = ",".join(filter(None, [index, time]))
    if not below:
        return letters
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
            return _symbol(name, "")
        return self.slot(name)

    def slot(self, slot: str) -> str:
        feed = self.equations.cell.slots[slot]
        hidden = r"h_{t-1}"
        if feed.times is not None:
            hidden = rf"\left({_symbol(feed.times)} \odot {hidden}\right)"
        tag = "{" + slot.replace("_", "") + "}"
        terms = [rf"W_{tag} x_t"] * feed.input + [rf"U_{tag} {hidden}"] * feed.hidden
        if feed.norm:
            return rf"\operatorname{{norm}}\left({' + '.join(terms)}\right)"
        return " + ".join(terms + [f"b_{tag}"] * feed.bias)


def _print(node: Node, printer: _Printer) -> str:
    if node.op in _PRECEDENCE:
        return _BINARY[node.op](node, printer)
    if node.op == "leaf":
        return printer.leaf(node.args[0])
    if node.op == "const":
        return _number(node.args[0])
    if node.op in _AROUND:
        before, after = _AROUND[node.op]
        return f"{before}{_operand(node.args[0], printer, 0)}{after}"
    inner = ", ".join(_operand(argument, printer, 0) for argument in node.args)
    name = _NAMES.get(node.op, rf"\operatorname{{{node.op}}}")
    return rf"{name}\left({inner}\right)"


def _number(value: float) -> str:
    digits, e, power = f"{value:.12g}".partition("e")
    return rf"{digits} \cdot 10^{{{int(power)}}}" if e else digits


def _operand(node: Node, printer: _Printer, least: int) -> str:
    """The node as an operand, in parentheses where it binds less than ``least``."""
    if node in printer.shown:
        return printer.shown[node]
    if node.op == "fixed":
        return _operand(node.args[0], printer, least)
    text = _print(node, printer)
    return rf"\left({text}\right)" if _binds(node, text) < least else text


def _binds(node: Node, text: str) -> int:
    slot = node.op == "leaf" and " + " in text and not text.startswith(r"\operatorname")
    return 1 if slot or _negative(node) else _PRECEDENCE.get(node.op, _ATOM)


def _negative(node: Node) -> bool:
    """Whether it is written with a sign in front."""
    first = node.args[0] if node.op == "mul" else node
    return first.op == "const" and bool(first.args[0] < 0)


def _sum(node: Node, printer: _Printer) -> str:
    left, right = node.args
    least = 2 if _negative(right) else 1
    return f"{_operand(left, printer, 1)} + {_operand(right, printer, least)}"


def _product(node: Node, printer: _Printer) -> str:
    left, right = node.args
    if left.is_const(-1):
        return f"-{_operand(right, printer, 2)}"
    sign = " " if left.op == "const" else r" \cdot " if right.op == "const" else r" \odot "
    return f"{_operand(left, printer, 2)}{sign}{_operand(right, printer, 2)}"


_BINARY: dict[str, Callable[[Node, _Printer], str]] = {
    "add": _sum,
    "sub": lambda n, p: f"{_operand(n.args[0], p, 1)} - {_operand(n.args[1], p, 2)}",
    "mul": _product,
    "div": lambda n, p: rf"\frac{{{_operand(n.args[0], p, 0)}}}{{{_operand(n.args[1], p, 0)}}}",
}
