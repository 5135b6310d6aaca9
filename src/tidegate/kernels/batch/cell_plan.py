"""What a cell's batch code computes: errors back as nodes, and the values kept for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from tidegate.calculus import Equations, derive
from tidegate.calculus.adjoint import adjoint
from tidegate.calculus.graph import Node, depends, ordered
from tidegate.cells.base import Cell
from tidegate.kernels.batch.plan import kept, slots_of_retention

__all__ = ["CellPlan", "cell_plan"]


@dataclass(frozen=True, eq=False)
class CellPlan:
    """A cell's equations and what follows from them for a run over whole sequences.

    Attributes:
        kept: memories that are not hidden values as well.
        errors: leaves that stand for d loss / d ``hidden.name``, ``memory.name``, ``gate.name``.
        back: d loss / d every leaf of the equations, from the errors on hidden values and kept
            memories.
        gate_back: the same from the error on a gate that multiplies h, by gate.
        saved: values that the way back cannot do without, by name; gates first.
        shown: values that only a trace asks for, by name.
    """

    equations: Equations
    kept: tuple[str, ...]
    errors: Mapping[str, Node]
    back: Mapping[str, Node]
    gate_back: Mapping[str, Mapping[str, Node]]
    saved: Mapping[str, Node]
    shown: Mapping[str, Node]

    @cached_property
    def first(self) -> tuple[str, ...]:
        """Slots fed by the hidden values as they are."""
        second = self.equations.second_product
        return tuple(s for s in self.equations.fed_by("hidden") if s not in second)

    @cached_property
    def second(self) -> tuple[str, ...]:
        """Slots fed by the hidden values times a gate, gate by gate."""
        second = self.equations.second_product
        return tuple(s for gate in self.gates for s in second if second[s] == gate)

    @cached_property
    def gates(self) -> tuple[str, ...]:
        """The gates that multiply hidden values before a product."""
        return tuple(dict.fromkeys(self.equations.second_product.values()))

    @cached_property
    def read(self) -> tuple[str, ...]:
        """Slots that log-retention is read from."""
        return slots_of_retention(self.equations)

    @cached_property
    def traced(self) -> tuple[tuple[tuple[str, int, int], ...], ...]:
        """Where a trace finds every gate, and every slot of ``read``: 0 saved or 1 shown, number.

        >>> from tidegate.cells import LSTM
        >>> cell_plan(LSTM()).traced
        ((('i', 0, 0), ('f', 0, 1), ('g', 0, 2), ('o', 0, 3)), (('f', 1, 0),))
        """
        places = {n: (0, k) for k, n in enumerate(self.saved)}
        places |= {n: (1, k) for k, n in enumerate(self.shown)}
        return (
            tuple((gate, *places[gate]) for gate in self.equations.gates),
            tuple((slot, *places[f"z.{slot}"]) for slot in self.read),
        )

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """Leaves whose errors are summed into gradients: slots, then parameters."""
        eq = self.equations
        return (*(f"z.{s}" for s in eq.slots), *(f"par.{p}" for p in eq.parameters))

    @cached_property
    def direct(self) -> bool:
        """Whether errors reach the hidden values of the step before beside the first products."""
        return bool(self.gates) or any(m in self.equations.hidden for m in self.equations.memory)


@cache
def cell_plan(cell: Cell) -> CellPlan:
    """The plan of a cell.

    >>> from tidegate.cells import GRU, LSTM
    >>> cell_plan(LSTM()).saved
    {'i': sigmoid(z.i), 'f': sigmoid(z.f), 'g': tanh(z.g), 'o': sigmoid(z.o)}
    >>> list(cell_plan(GRU()).saved), list(cell_plan(LSTM()).shown)
    (['r', 'z', 'n', 'z.n_h'], ['z.f'])
    """
    eq = derive(cell)
    own = kept(eq)
    graph = next(iter(eq.hidden.values())).graph
    results = {f"hidden.{n}": node for n, node in eq.hidden.items()}
    results |= {f"memory.{n}": eq.memory[n] for n in own}
    gates = {gate: eq.gates[gate] for gate in dict.fromkeys(eq.second_product.values())}
    errors = {n: graph.leaf(f"error.{n}") for n in (*results, *(f"gate.{g}" for g in gates))}
    pairs = [(node, errors[n]) for n, node in results.items()]
    back = dict(zip(eq.leaves, adjoint(pairs, eq.leaves.values()), strict=True))
    gate_back = {
        gate: dict(zip(eq.leaves, adjoint([(node, errors[f"gate.{gate}"])], eq.leaves.values()),
                       strict=True))
        for gate, node in gates.items()
    }  # fmt: skip
    wanted = [*back.values(), *gates.values(), *(n for b in gate_back.values() for n in b.values())]
    saved = _saved(eq, wanted, errors.values())
    read = {f"z.{s}": eq.leaves[f"z.{s}"] for s in slots_of_retention(eq)}
    shown = {n: node for n, node in {**eq.gates, **read}.items() if n not in saved}
    return CellPlan(eq, own, errors, back, gate_back, saved, shown)


def _saved(eq: Equations, wanted: list[Node], errors: Iterable[Node]) -> dict[str, Node]:
    """Few values from which, with memories and parameters, all of ``wanted`` can be computed.

    Gates come first, for a trace shows them anyway; of those, what can be had from the rest is
    left out. A slot that is still needed gives way to the last value that makes it needless, so
    that the way back computes little anew. A normalised slot is always kept.
    """
    slots = {node: name for name, node in eq.leaves.items() if name.startswith("z.")}
    free = {node for name, node in eq.leaves.items() if not name.startswith("z.")} | set(errors)
    always = {f"z.{s}": eq.leaves[f"z.{s}"] for s in eq.normalised}

    def needed(kept: Collection[Node]) -> set[Node]:
        return slots.keys() & set(ordered(wanted, stop=free | set(kept)))

    found = {n: g for n, g in eq.gates.items() if any(depends(g, s) for s in slots)}
    for name in sorted(found, key=lambda n: -found[n].index):
        rest = [node for n, node in found.items() if n != name]
        if needed(rest) <= needed([*rest, found[name]]) - {found[name]}:
            del found[name]
    for node in reversed(ordered(wanted, stop=free | set(found.values()))):
        with_it = {*found.values(), node}
        fewer = needed(with_it) < needed(found.values())
        if fewer and node not in slots and not _depends_on(node, errors):
            found[f"value{node.index}"] = node
    found |= {slots[node]: node for node in sorted(needed(found.values()), key=lambda n: n.index)}
    return found | always


def _depends_on(node: Node, leaves: Iterable[Node]) -> bool:
    return any(depends(node, leaf) for leaf in leaves)
