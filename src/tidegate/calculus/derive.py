"""What follows from a cell's equations: sparse derivatives, the trace set, retention."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import TypeVar

from tidegate._core.errors import UsageError
from tidegate.calculus.graph import Graph, Node, depends, evaluate, log_of, partial
from tidegate.cells import functions
from tidegate.cells.base import Cell, Step
from tidegate.cells.functions import Value

__all__ = ["Equations", "derive"]

T = TypeVar("T")
Pair = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Equations:
    """A cell as a graph, with every derivative that is not zero.

    A *source* is a slot or a per-unit parameter. Leaves are named ``z.slot``, ``past.memory``,
    ``par.parameter``.

    Attributes:
        memory: new memories by name.
        hidden: new hidden values by name.
        gates: named gates.
        keep: d memory / d memory of the step before, by (memory, past memory).
        write: d memory / d source, by (memory, source).
        show: d hidden / d memory with the sources and past memories held, by (hidden, memory).
        recall: d hidden / d past memory with the new memories held, by (hidden, past memory).
        direct: d hidden / d source with the memories held, by (hidden, source).
        traces: the (memory, source) pairs that need an eligibility trace, ordered by source.
        log_retention: log |d memory / d same memory before|, by memory, in nats per step; exact
            where it is a product of gates; absent where the memory has no direct path.
        retention_sign: +1 or -1 by memory, only where the sign can change.

    >>> from tidegate.cells import LSTM1997
    >>> equations = derive(LSTM1997())
    >>> equations.slots, equations.keep, equations.fed_by("bias")
    (('i', 'g', 'o'), {('c', 'c'): 1.0}, ('i', 'g', 'o'))
    """

    cell: Cell
    leaves: Mapping[str, Node]
    memory: Mapping[str, Node]
    hidden: Mapping[str, Node]
    gates: Mapping[str, Node]
    keep: Mapping[Pair, Node]
    write: Mapping[Pair, Node]
    show: Mapping[Pair, Node]
    recall: Mapping[Pair, Node]
    direct: Mapping[Pair, Node]
    traces: tuple[Pair, ...]
    log_retention: Mapping[str, Node]
    retention_sign: Mapping[str, Node]

    @property
    def slots(self) -> tuple[str, ...]:
        return tuple(self.cell.slots)

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(self.cell.parameters)

    @property
    def second_product(self) -> Mapping[str, str]:
        """slot -> the gate that multiplies h before its product; empty for most cells."""
        return self.cell.second_product

    @property
    def normalised(self) -> tuple[str, ...]:
        """The slots that are normalised over the units of a row; none for most cells."""
        return self.cell.fed_by("norm")

    def fed_by(self, zone: str) -> tuple[str, ...]:
        """The slots fed by a zone of rows: ``hidden``, ``input`` or ``bias``."""
        return self.cell.fed_by(zone)

    def traces_of(self, sources: tuple[str, ...]) -> tuple[Pair, ...]:
        """The eligibility traces of ``sources``.

        Raises:
            UsageError: a slot is normalised, so that every unit's memory depends on all units'
                weights.
        """
        if self.normalised:
            raise UsageError(
                type(self.cell).__name__,
                "a cell whose slots are not normalised for online learning",
                f"slots {', '.join(self.normalised)} with norm=True",
                "Learn it in batches (tidegate.layers), or take a cell without norm=.",
            )
        return tuple((m, s) for m, s in self.traces if s in sources)

    def evaluate(
        self, nodes: Mapping[Pair, Node] | Mapping[str, Node], known: Mapping[str, Value]
    ) -> dict[Pair | str, Value]:
        """Values of ``nodes`` from values of leaves by name."""
        env = {self.leaves[name]: value for name, value in known.items() if name in self.leaves}
        return dict(zip(nodes, evaluate(nodes.values(), env), strict=True))


@cache
def derive(cell: Cell) -> Equations:
    """Trace ``cell.step`` once and differentiate it.

    Raises:
        UsageError: the step does not give what the cell declares, gives two memories that are one
            and the same, or multiplies h by a gate that itself needs the second product.

    >>> from tidegate.cells import LSTM
    >>> eq = derive(LSTM())
    >>> eq.keep, eq.log_retention
    ({('c', 'c'): sigmoid(z.f)}, {'c': log_sigmoid(z.f)})
    >>> eq.traces
    (('c', 'i'), ('c', 'f'), ('c', 'g'))
    """
    graph = Graph()
    z = {s: graph.leaf(f"z.{s}") for s in cell.slots}
    past = {m: graph.leaf(f"past.{m}") for m in cell.memory}
    par = {p: graph.leaf(f"par.{p}") for p in cell.parameters}
    step = _traced(cell, z, past, par)
    memory = _declared(cell, step, cell.memory, graph)
    hidden = _declared(cell, step, cell.hidden, graph)
    gates = {name: graph.wrap(value) for name, value in step.gates.items()}
    _check(cell, memory, gates, z)

    sources = z | par
    new = set(memory.values())
    keep = _nonzero(memory, past, cell.memory, lambda y, x: partial(y, x))
    write = _nonzero(memory, sources, sources, lambda y, x: partial(y, x))
    show = _nonzero(hidden, memory, memory, lambda y, x: partial(y, x, new | set(past.values())))
    # A leaf that is itself a new memory (a delay: d = past.c) is held; show counts it.
    past_beside = [m for m in past if past[m] not in new]
    sources_beside = [s for s in sources if sources[s] not in new]
    recall = _nonzero(hidden, past, past_beside, lambda y, x: partial(y, x, new))
    direct = _nonzero(hidden, sources, sources_beside, lambda y, x: partial(y, x, new))
    traces = _trace_set(cell, tuple(sources), keep, write, show, recall)
    log_retention, sign = _retention(cell, z, past, par, step, keep, graph)
    leaves = {node.args[0]: node for node in [*z.values(), *past.values(), *par.values()]}
    return Equations(
        cell, leaves, memory, hidden, gates, keep, write, show, recall, direct, traces,
        log_retention, sign,
    )  # fmt: skip


def _traced(
    cell: Cell, z: Mapping[str, Node], past: Mapping[str, Node], par: Mapping[str, Node]
) -> Step:
    try:
        return cell.step(SimpleNamespace(**z), SimpleNamespace(**past), SimpleNamespace(**par))
    except AttributeError as error:
        raise UsageError(
            type(cell).__name__,
            "step to use declared slots, memories and parameters only",
            f"a use of {error.name!r}",
            "Declare it; a hidden value of the step before is declared as a memory.",
        ) from error


def _declared(cell: Cell, step: Step, names: tuple[str, ...], graph: Graph) -> dict[str, Node]:
    missing = [name for name in names if name not in vars(step)]
    if missing:
        raise UsageError(
            type(cell).__name__,
            f"step to give {', '.join(names)}",
            f"no {', '.join(missing)}",
            "Return every declared memory and hidden value from step.",
        )
    return {name: graph.wrap(getattr(step, name)) for name in names}


def _check(
    cell: Cell, memory: Mapping[str, Node], gates: Mapping[str, Node], z: Mapping[str, Node]
) -> None:
    owner = type(cell).__name__
    if len(set(memory.values())) < len(memory):
        raise UsageError(
            owner, "memories that differ", "two with the same equation", "Keep one of them."
        )
    second = {slot: feed.times for slot, feed in cell.slots.items() if feed.times is not None}
    for slot, gate in second.items():
        if gate not in gates:
            raise UsageError(
                owner, f"a gate {gate!r} that multiplies h for slot {slot!r}",
                f"gates {sorted(gates)}", "Name it in Step(gates=...).",
            )  # fmt: skip
        circular = [s for s in second if depends(gates[gate], z[s])]
        if circular:
            raise UsageError(
                owner,
                f"gate {gate!r} to need no second product",
                f"one that uses slot {circular[0]!r}",
                "A slot with times= may only use gates of slots without it.",
            )  # fmt: skip


def _nonzero(
    of: Mapping[str, Node],
    by: Mapping[str, Node],
    names: Collection[str],
    derivative: Callable[[Node, Node], Node],
) -> dict[Pair, Node]:
    found = {(y, x): derivative(of[y], by[x]) for y in of for x in names}
    return {pair: node for pair, node in found.items() if not node.is_const(0)}


def _trace_set(
    cell: Cell,
    sources: tuple[str, ...],
    keep: Mapping[Pair, Node],
    write: Mapping[Pair, Node],
    show: Mapping[Pair, Node],
    recall: Mapping[Pair, Node],
) -> tuple[Pair, ...]:
    """(memory, source) pairs that a write reaches and that reach a hidden value."""
    written = _closure(set(write), lambda found: {
        (m, s) for m, before in keep for kept, s in found if kept == before
    })  # fmt: skip
    shown = _closure({m for _, m in (*show, *recall)}, lambda found: {
        before for m, before in keep if m in found
    })  # fmt: skip
    return tuple((m, s) for s in sources for m in cell.memory if (m, s) in written and m in shown)


def _closure(start: set[T], more: Callable[[set[T]], set[T]]) -> set[T]:
    found = start
    while not (new := more(found)) <= found:
        found = found | new
    return found


def _retention(
    cell: Cell,
    z: Mapping[str, Node],
    past: Mapping[str, Node],
    par: Mapping[str, Node],
    step: Step,
    keep: Mapping[Pair, Node],
    graph: Graph,
) -> tuple[dict[str, Node], dict[str, Node]]:
    stated = cell.log_retention(
        SimpleNamespace(**z), SimpleNamespace(**past), SimpleNamespace(**par), step
    )
    log_retention = {name: graph.wrap(value) for name, value in stated.items()}
    sign: dict[str, Node] = {}
    for name in cell.memory:
        if name in stated or (name, name) not in keep:
            continue
        node = keep[name, name]
        exact = log_of(node)
        log_retention[name] = functions.log(functions.absolute(node)) if exact is None else exact
        if exact is None:
            sign[name] = functions.choose(node, 0.0, 1.0, -1.0)
    return log_retention, sign
