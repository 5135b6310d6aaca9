"""Errors carried back through a graph of nodes, all inputs at once: reverse accumulation."""

from __future__ import annotations

from collections.abc import Iterable

from tidegate.calculus.graph import Node, ordered, slopes

__all__ = ["adjoint"]


def adjoint(errors: Iterable[tuple[Node, Node]], by: Iterable[Node]) -> list[Node]:
    """d loss / d x for every x of ``by``, from pairs of a node y and d loss / d y.

    A y may come more than once, and may itself be made of another.

    >>> from tidegate.calculus.graph import Graph
    >>> g = Graph()
    >>> f, x, e = g.leaf("f"), g.leaf("x"), g.leaf("e")
    >>> adjoint([(f * x, e), (x, e)], [f, x])
    [mul(x, e), add(e, mul(f, e))]
    """
    total: dict[Node, Node] = {}

    def add(node: Node, error: Node) -> None:
        total[node] = total[node] + error if node in total else error

    pairs = list(errors)
    for y, error in pairs:
        add(y, error)
    for node in reversed(ordered(y for y, _ in pairs)):
        if node not in total:
            continue
        for argument, slope in zip(node.args, slopes(node), strict=False):
            error = node.graph.wrap(slope) * total[node]
            if not error.is_const(0):
                add(argument, error)
    return [total.get(x, x.graph.const(0.0)) for x in by]
