"""What the code of a learner is made of, as text: the key of the cache, found without any code.

The sources of everything that writes code, and the equations of cells, loss and optimiser as they
were traced: so a cell from a notebook has a key of its own, and an edit of a comment in it none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any

from tidegate.calculus import Equations
from tidegate.calculus.graph import Graph, Node
from tidegate.kernels.code import jit
from tidegate.kernels.online.online_code import OnlineCode
from tidegate.kernels.online.update_code import coefficient_names
from tidegate.kernels.plan import ZONES, Loss, Optimiser, PointwiseLoss

__all__ = ["graph_text", "recipe"]

_GENERATOR = ("calculus", "cells.functions", "kernels.code", "kernels.online", "kernels.plan")


def recipe(kind: str, code: OnlineCode) -> str:
    """Equal recipes mean equal text, on one processor; ``kind`` names who writes it."""
    parts = [_generator(), *map(_equations_text, code.cells)]
    parts += [_loss_text(code.loss), _optimiser_text(code.optimiser)]
    sizes = (kind, code.averaging, code.precision.bits, code.lanes, code.group)
    return "\n".join([*parts, repr(sizes)])


@cache
def _generator() -> str:
    return jit.sources(*(f"tidegate.{name}" for name in _GENERATOR))


def graph_text(nodes: Mapping[Any, Node]) -> str:
    """A graph as text, every node once: ``3=mul 0 2``; then which node has which name.

    >>> g = Graph()
    >>> x = g.leaf("x")
    >>> graph_text({"y": x * x + 1.0})
    '0=leaf x;1=mul 0 0;2=const 1.0;3=add 1 2;y:3'
    """
    number: dict[Node, int] = {}
    lines: list[str] = []
    for node in nodes.values():
        _number(node, number, lines)
    return ";".join([*lines, *(f"{name}:{number[node]}" for name, node in nodes.items())])


def _number(node: Node, number: dict[Node, int], lines: list[str]) -> None:
    if node in number:
        return
    for argument in node.args:
        if isinstance(argument, Node):
            _number(argument, number, lines)
    number[node] = len(number)
    arguments = (str(number[a]) if isinstance(a, Node) else str(a) for a in node.args)
    lines.append(f"{number[node]}={node.op} {' '.join(arguments)}")


def _equations_text(eq: Equations) -> str:
    kinds = ("memory", "hidden", "keep", "write", "show", "recall", "direct")
    nodes = {(kind, name): node for kind in kinds for name, node in getattr(eq, kind).items()}
    fed = [eq.fed_by(zone) for zone in ZONES]
    return f"{eq.slots} {fed} {eq.parameters} {eq.traces} {graph_text(nodes)}"


def _loss_text(loss: Loss) -> str:
    if not isinstance(loss, PointwiseLoss):
        return "shared"
    graph = Graph()
    logit = SimpleNamespace(**_leaves(graph, loss.parts))
    slopes = loss.slopes(logit, graph.leaf("target"))
    traced = {("mean", k): v for k, v in loss.means(logit).items()}
    traced |= {("slope", k): v for k, v in slopes.items()}
    return graph_text({key: graph.wrap(value) for key, value in traced.items()})


def _optimiser_text(optimiser: Optimiser) -> str:
    graph, names = Graph(), coefficient_names(optimiser)
    moment = SimpleNamespace(**_leaves(graph, optimiser.moments))
    c = SimpleNamespace(**_leaves(graph, names))
    rule = optimiser.update(graph.leaf("weight"), graph.leaf("gradient"), moment, c)
    traced = {"weight": rule.weight, **rule.moments}
    nodes = {key: graph.wrap(value) for key, value in traced.items()}
    return f"{names} {optimiser.moments} {graph_text(nodes)}"


def _leaves(graph: Graph, names: Iterable[str]) -> dict[str, Node]:
    return {name: graph.leaf(name) for name in names}
