"""A small tracer: a graph of nodes with sharing, its partial derivatives, its evaluation.

A cell's ``step`` is run once on nodes. Equal nodes are one node, so a memory inside a hidden value
is known by identity; sympy, which flattens sums and products, loses it there.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Mapping
from math import log
from typing import Any, NoReturn

from tidegate.cells import functions
from tidegate.cells.functions import Value

__all__ = ["Graph", "Node", "depends", "evaluate", "log_of", "ordered", "partial", "slopes"]


class Graph:
    """The table in which equal nodes are found again; one per traced cell.

    >>> g = Graph()
    >>> x, y = g.leaf("x"), g.leaf("y")
    >>> (x * y) is (x * y), x * 1.0 is x
    (True, True)
    """

    def __init__(self) -> None:
        self._table: dict[tuple[Any, ...], Node] = {}

    def node(self, op: str, *args: Any) -> Node:
        key = (op, *(id(a) if isinstance(a, Node) else a for a in args))
        if key not in self._table:
            self._table[key] = Node(self, len(self._table), op, args)
        return self._table[key]

    def leaf(self, name: str) -> Node:
        """A value that comes from outside."""
        return self.node("leaf", name)

    def const(self, value: float) -> Node:
        return self.node("const", float(value))

    def wrap(self, value: Node | float) -> Node:
        return value if isinstance(value, Node) else self.const(value)


class Node:
    """One value of a graph; Python's operators on nodes make nodes.

    Attributes:
        index: the order in which nodes were made; arguments always come before.
        op: ``leaf``, ``const``, ``add``, ``sub``, ``mul``, ``div`` or a name of
            :mod:`tidegate.cells.functions`.
    """

    __slots__ = ("args", "graph", "index", "op")
    __array_ufunc__ = None  # so that NumPy leaves mixed expressions to us

    def __init__(self, graph: Graph, index: int, op: str, args: tuple[Any, ...]) -> None:
        self.graph, self.index, self.op, self.args = graph, index, op, args

    def is_const(self, value: float) -> bool:
        return self.op == "const" and bool(self.args[0] == value)

    def __add__(self, other: Node | float) -> Node:
        right = self.graph.wrap(other)
        if self.is_const(0):
            return right
        if right.is_const(0):
            return self
        if (negated := right._negated()) is not None:
            return self - negated
        if (negated := self._negated()) is not None:
            return right - negated
        return self._fold("add", right)

    def __sub__(self, other: Node | float) -> Node:
        right = self.graph.wrap(other)
        if right.is_const(0):
            return self
        negated = right._negated()
        return self._fold("sub", right) if negated is None else self + negated

    def __mul__(self, other: Node | float) -> Node:
        right = self.graph.wrap(other)
        if self.is_const(0) or right.is_const(1):
            return self
        if right.is_const(0) or self.is_const(1):
            return right
        if (negated := right._negated()) is not None:
            return negated if self.is_const(-1) else -(self * negated)
        return self._fold("mul", right)

    def __truediv__(self, other: Node | float) -> Node:
        right = self.graph.wrap(other)
        return self if right.is_const(1) or self.is_const(0) else self._fold("div", right)

    def __neg__(self) -> Node:
        return self.graph.const(-1.0) * self

    def __radd__(self, other: float) -> Node:
        return self.graph.wrap(other) + self

    def __rsub__(self, other: float) -> Node:
        return self.graph.wrap(other) - self

    def __rmul__(self, other: float) -> Node:
        return self.graph.wrap(other) * self

    def __rtruediv__(self, other: float) -> Node:
        return self.graph.wrap(other) / self

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a cell's step cannot branch on a value: it is traced once for all values; "
            "use choose(x, y, yes, no)"
        )

    def _compared(self, other: object) -> NoReturn:
        self.__bool__()

    __lt__ = __le__ = __gt__ = __ge__ = _compared
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        """Whether it is the same node: tables of nodes need to know; numbers are a branch."""
        return other is self if isinstance(other, Node) else self._compared(other)

    def __repr__(self) -> str:
        if self.op in ("leaf", "const"):
            return str(self.args[0])
        return f"{self.op}({', '.join(map(repr, self.args))})"

    def _fold(self, op: str, right: Node) -> Node:
        if self.op == right.op == "const":
            return self.graph.const(_OPERATIONS[op](self.args[0], right.args[0]))
        return self.graph.node(op, self, right)

    def _negated(self) -> Node | None:
        """x where this node is (-1) * x: then a + (-1) * x can become a - x."""
        if self.op == "mul" and self.args[0].is_const(-1):
            return self.args[1]  # type: ignore[no-any-return]
        return None


_FUNCTIONS = [name for name in functions.__all__ if name != "register"]
_OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    **{name: getattr(functions, name) for name in _FUNCTIONS},
}


def _traced(name: str) -> Callable[..., Node]:
    def form(*args: Node | float) -> Node:
        graph = next(a.graph for a in args if isinstance(a, Node))
        return graph.node(name, *map(graph.wrap, args))

    return form


functions.register(Node, {name: _traced(name) for name in _FUNCTIONS})

#: op -> (the node, its arguments) -> the slope by each argument
_SLOPES: dict[str, Callable[..., tuple[Node | float, ...]]] = {
    "add": lambda y, a, b: (1.0, 1.0),
    "sub": lambda y, a, b: (1.0, -1.0),
    "mul": lambda y, a, b: (b, a),
    "div": lambda y, a, b: (1.0 / b, -(y / b)),
    "sigmoid": lambda y, a: (y * (1.0 - y),),
    "tanh": lambda y, a: (1.0 - y * y,),
    "exp": lambda y, a: (y,),
    "log": lambda y, a: (1.0 / a,),
    "sqrt": lambda y, a: (0.5 / y,),
    "log_sigmoid": lambda y, a: (functions.sigmoid(-a),),
    "absolute": lambda y, a: (functions.choose(a, 0.0, 1.0, -1.0),),
    "maximum": lambda y, a, b: (
        functions.choose(a, b, 1.0, 0.0),
        functions.choose(a, b, 0.0, 1.0),
    ),
    "minimum": lambda y, a, b: (
        functions.choose(a, b, 0.0, 1.0),
        functions.choose(a, b, 1.0, 0.0),
    ),
    "choose": lambda y, a, b, yes, no: (
        0.0,
        0.0,
        functions.choose(a, b, 1.0, 0.0),
        functions.choose(a, b, 0.0, 1.0),
    ),
}
_SOURCES = ("leaf", "const", "fixed")  # no error flows further back from here


def slopes(node: Node) -> tuple[Node | float, ...]:
    """d node / d argument, one for each argument; none where no error flows further back.

    >>> g = Graph()
    >>> x, f = g.leaf("x"), g.leaf("f")
    >>> slopes(f * x), slopes(functions.fixed(f))
    ((x, f), ())
    """
    return () if node.op in _SOURCES else _SLOPES[node.op](node, *node.args)


def partial(y: Node, x: Node, held: Collection[Node] = ()) -> Node:
    """d y / d x with the nodes in ``held`` held fixed.

    >>> g = Graph()
    >>> x, f = g.leaf("x"), g.leaf("f")
    >>> partial(f * x + x, x), partial(f * x + x, x, held={f * x})
    (add(f, 1.0), 1.0)
    """
    graph = y.graph
    found: dict[Node, Node] = {x: graph.const(1.0)}
    blocked = set(held) - {x}
    for node in ordered([y]):
        if node is x or node in blocked or node.op in _SOURCES:
            continue
        total = graph.const(0.0)
        for argument, slope in zip(node.args, slopes(node), strict=True):
            if argument in found:
                total = total + graph.wrap(slope) * found[argument]
        if not total.is_const(0):
            found[node] = total
    return found.get(y, graph.const(0.0))


def depends(y: Node, x: Node) -> bool:
    """Whether the value of y needs x, even where no error flows.

    >>> g = Graph()
    >>> x = g.leaf("x")
    >>> depends(functions.fixed(2.0 * x), x)
    True
    """
    return x in ordered([y])


def evaluate(nodes: Iterable[Node], known: Mapping[Node, Value]) -> list[Value]:
    """The values of ``nodes`` from the values of the ``known`` ones (a const is a Python float).

    >>> import numpy as np
    >>> g = Graph()
    >>> x = g.leaf("x")
    >>> evaluate([2.0 * x, functions.tanh(x)], {x: np.array([0.0, 1.0])})
    [array([0., 2.]), array([0.        , 0.76159416])]
    """
    wanted = list(nodes)
    values = dict(known)
    for node in ordered(wanted, stop=known):
        if node.op == "const":
            values[node] = node.args[0]
        elif node not in values:
            values[node] = _OPERATIONS[node.op](*(values[a] for a in node.args))
    return [values[node] for node in wanted]


def ordered(nodes: Iterable[Node], stop: Collection[Node] = ()) -> list[Node]:
    """Every node below ``nodes``, arguments before what is made of them."""
    found: set[Node] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            if node not in stop:
                waiting += [a for a in node.args if isinstance(a, Node)]
    return sorted(found, key=lambda node: node.index)


def log_of(node: Node) -> Node | None:
    """log |node| taken exactly from pre-activations; None where it is no product of gates.

    >>> g = Graph()
    >>> z = g.leaf("z")
    >>> log_of(functions.sigmoid(z)), log_of(1.0 - functions.sigmoid(z)), log_of(z + 1.0)
    (log_sigmoid(z), log_sigmoid(mul(-1.0, z)), None)
    """
    if node.op == "const" and node.args[0] > 0:
        return node.graph.const(log(node.args[0]))
    if node.op == "fixed":
        return log_of(node.args[0])
    if node.op == "sigmoid":
        return functions.log_sigmoid(node.args[0])  # type: ignore[no-any-return]
    if node.op == "exp":
        return node.args[0]  # type: ignore[no-any-return]
    if node.op == "sub" and node.args[0].is_const(1) and node.args[1].op == "sigmoid":
        return functions.log_sigmoid(-node.args[1].args[0])  # type: ignore[no-any-return]
    if node.op == "mul":
        left, right = log_of(node.args[0]), log_of(node.args[1])
        return None if left is None or right is None else left + right
    return None
