"""Graphs of nodes as vector code, products and sums fused where a product serves one sum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from tidegate.calculus.graph import Node, evaluate, ordered
from tidegate.kernels.code.vector import Vector

__all__ = ["values"]


def values(wanted: Iterable[Node], known: Mapping[Node, Vector]) -> list[Vector]:
    """The values of nodes from those of the known ones; what is fused depends on nothing else."""
    nodes = list(wanted)
    like = next(iter(known.values()))
    found: dict[Node, Vector] = dict(known)
    order = ordered(nodes, stop=known)
    uses = Counter(a for n in order if n not in known for a in n.args if isinstance(a, Node))
    uses.update(nodes)
    for node in order:
        if node.op == "const":
            found[node] = like.like(node.args[0])
        elif node not in found and not _waits(node, uses):
            found[node] = _value(node, found)
    return [found[node] if node in found else _value(node, found) for node in nodes]


def _waits(node: Node, uses: Counter[Node]) -> bool:
    """Whether a product is left to the one sum that uses it."""
    return node.op == "mul" and uses[node] == 1


def _value(node: Node, found: dict[Node, Vector]) -> Vector:
    if node.op in ("add", "sub"):
        left, right = node.args
        if right not in found and left in found:
            a, b = (_operand(x, found) for x in right.args)
            return a.fma(b if node.op == "add" else -b, found[left])
        if left not in found:
            a, b = (_operand(x, found) for x in left.args)
            c = _operand(right, found)
            return a.fma(b, c if node.op == "add" else -c)
    known = {a: _operand(a, found) for a in node.args if isinstance(a, Node)}
    (value,) = evaluate([node], known)
    return value  # type: ignore[no-any-return]


def _operand(node: Node, found: dict[Node, Vector]) -> Vector:
    if node not in found:
        found[node] = _value(node, found)
    return found[node]
