"""One layer as code: the step of its cell, and what is read of it without learning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from tidegate.calculus import Equations
from tidegate.calculus.graph import Node, evaluate
from tidegate.kernels.code.emit import Emitter, Index, Reals, Variable
from tidegate.kernels.code.vector import Mask, Vector
from tidegate.kernels.online.arrangement import Arrangement
from tidegate.kernels.online.frame import FrameCode

__all__ = ["SLOPES", "Key", "LayerCode", "Rows", "layer_codes"]

Key: TypeAlias = tuple[str, Any]
"""A value of the equations: its kind (``memory``, ``keep`` ...) and its name or pair of names."""

SLOPES = ("keep", "write", "show", "recall", "direct")


@dataclass(frozen=True)
class Rows:
    """The values that a zone's rows multiply: pieces (start, length) of an array."""

    values: Reals
    pieces: tuple[tuple[Index, Index], ...]

    @property
    def count(self) -> Index:
        """How many rows."""
        first, *others = (count for _, count in self.pieces)
        return sum(others, first)


class LayerCode:
    """Writes the code of one layer into a function.

    Args:
        code: the function.
        frame: the layer's own words.
        eq: the cell.
        arrangement: what lanes are.
        below: the values that the layer sees as its input.
    """

    def __init__(
        self,
        code: Emitter,
        frame: FrameCode,
        eq: Equations,
        arrangement: Arrangement,
        below: Rows,
    ) -> None:
        self.code, self.frame, self.eq, self.below = code, frame, eq, below
        self.arrangement, self.lanes = arrangement, arrangement.lanes
        self.units, self.blocks = frame.size("units"), frame.size("blocks")
        self.slopes = varying_slopes(eq)

    @property
    def padded(self) -> Index:
        """Lanes of all blocks."""
        return self.blocks * self.lanes

    def hidden_rows(self, name: str) -> Rows:
        """``hidden`` values of the step before or ``new_hidden``: one piece per hidden name."""
        length = self.padded // self.arrangement.each
        pieces = [(length * q, self.units) for q in range(len(self.eq.hidden))]
        return Rows(self.frame.reals(name), tuple(pieces))

    def rows(self, rows: Rows) -> Iterator[tuple[Index, Index]]:
        """Write a loop per piece: the number of the row, and of its value in the array."""
        first = self.code.index(0)
        for start, count in rows.pieces:
            with self.code.loop(count) as k:
                yield first + k, start + k
            first = first + count

    def real_lanes(self, block: Index) -> Mask:
        """The lanes of a block that are units, not padding."""
        numbers = self.code.lane_numbers(self.lanes, block * self.lanes)
        return numbers < self.units * self.arrangement.each

    def zeros(self, zone: str) -> list[Variable[Vector]]:
        """A sum for every slot that a zone feeds."""
        zero = self.code.number(0.0, width=self.lanes)
        return [self.code.variable(zero) for _ in self.eq.fed_by(zone)]

    def weights(self, block: Index) -> Reals:
        """The weights of a block."""
        return self.frame.reals("weights").at(block * self.frame.size("weights_block"))

    def store_net(self, block: Index, net: list[Variable[Vector]]) -> None:
        """Keep the hidden rows' part of the next net input."""
        place = self.frame.reals("net").at(block * (len(net) * self.lanes))
        for n, total in enumerate(net):
            place.store(total.value, n * self.lanes)

    def step(self) -> None:
        """Net input, new memories and hidden values, and the slopes that learning needs."""
        with self.code.loop(self.blocks) as block:
            known = self._leaves(block)
            self._store(block, self._evaluated(known))

    def project(self) -> None:
        """The hidden rows' part of the next net input, from weights and hidden values alone."""
        rows = self.hidden_rows("hidden")
        with self.code.loop(self.blocks) as block:
            net = self.zeros("hidden")
            self._add_products(net, self.weights(block), rows)
            self.store_net(block, net)

    def adopt(self) -> None:
        """New memories and hidden values become those of the step before."""
        for name, kinds in (("memory", self.eq.memory), ("hidden", self.eq.hidden)):
            new, old = self.frame.reals(f"new_{name}"), self.frame.reals(name)
            with self.code.loop(self.blocks * len(kinds)) as k:
                old.store(new.load(k * self.lanes, width=self.lanes), k * self.lanes)

    def _add_products(self, totals: list[Variable[Vector]], weights: Reals, rows: Rows) -> None:
        for row, number in self.rows(rows):
            z = self.arrangement.value(rows.values, number)
            place = weights.at(row * (len(totals) * self.lanes))
            for n, total in enumerate(totals):
                total.value = place.load(n * self.lanes, width=self.lanes).fma(z, total.value)

    def _leaves(self, block: Index) -> dict[str, Vector]:
        eq, lanes = self.eq, self.lanes
        zones = zone_starts(eq, self.units, self.below.count, lanes)
        weights = self.weights(block)
        bias, unit = weights.at(zones["bias"]), weights.at(zones["unit"])
        inputs = self.zeros("input")
        self._add_products(inputs, weights.at(zones["input"]), self.below)
        known = {f"z.{s}": v for s, v in self._net(block, inputs, bias).items()}
        memory = self.frame.reals("memory").at(block * (len(eq.memory) * lanes))
        for k, name in enumerate(eq.memory):
            known[f"past.{name}"] = memory.load(k * lanes, width=lanes)
        for k, name in enumerate(eq.parameters):
            known[f"par.{name}"] = unit.load(k * lanes, width=lanes)
        return known

    def _net(self, block: Index, inputs: list[Variable[Vector]], bias: Reals) -> dict[str, Vector]:
        """(hidden rows + input rows) + bias."""
        hidden, lanes = self.eq.fed_by("hidden"), self.lanes
        kept = self.frame.reals("net").at(block * (len(hidden) * lanes))
        net = {s: kept.load(n * lanes, width=lanes) for n, s in enumerate(hidden)}
        parts = zip(self.eq.fed_by("input"), (total.value for total in inputs), strict=True)
        biases = (
            (s, bias.load(n * lanes, width=lanes)) for n, s in enumerate(self.eq.fed_by("bias"))
        )
        for slot, part in (*parts, *biases):
            net[slot] = net[slot] + part if slot in net else part
        return net

    def _evaluated(self, known: Mapping[str, Vector]) -> dict[Key, Vector]:
        wanted: dict[Key, Node] = {("memory", m): node for m, node in self.eq.memory.items()}
        wanted |= {("hidden", h): node for h, node in self.eq.hidden.items()}
        wanted |= self.slopes
        leaves = {self.eq.leaves[name]: value for name, value in known.items()}
        zero = self.code.number(0.0, width=self.lanes)
        return {
            key: value if isinstance(value, Vector) else zero.like(value)
            for key, value in zip(wanted, evaluate(wanted.values(), leaves), strict=True)
        }

    def _store(self, block: Index, values: Mapping[Key, Vector]) -> None:
        """Padded lanes show 0 and learn nothing, whatever the equations make of them."""
        lanes, eq, real = self.lanes, self.eq, self.real_lanes(block)
        memory = self.frame.reals("new_memory").at(block * (len(eq.memory) * lanes))
        for k, name in enumerate(eq.memory):
            memory.store(values["memory", name], k * lanes)
        hidden = self.frame.reals("new_hidden").at(block * lanes)
        for k, name in enumerate(eq.hidden):
            hidden.store(real.select(values["hidden", name], 0.0), self.padded * k)
        place = self.frame.reals("slopes").at(block * (len(self.slopes) * lanes))
        for k, key in enumerate(self.slopes):
            place.store(real.select(values[key], 0.0), k * lanes)


def layer_codes(
    code: Emitter, frame: FrameCode, cells: tuple[Equations, ...], arrangement: Arrangement
) -> list[LayerCode]:
    """The layers of a network, each seeing the new hidden values of the one below."""
    below = Rows(frame.reals("seen"), ((code.index(0), frame.size("inputs")),))
    layers: list[LayerCode] = []
    for n, eq in enumerate(cells):
        layers.append(LayerCode(code, frame.layer(n), eq, arrangement, below))
        below = layers[-1].hidden_rows("new_hidden")
    return layers


def varying_slopes(eq: Equations) -> dict[Key, Node]:
    """The slopes that are not always the same number, by (kind, pair)."""
    return {
        (kind, pair): node
        for kind in SLOPES
        for pair, node in getattr(eq, kind).items()
        if node.op != "const" and (kind != "write" or pair in eq.traces)
    }


def zone_starts(
    eq: Equations, units: Index, inputs: Index, lanes: int, traces: bool = False
) -> dict[str, Index]:
    """Where in a block the weights of each zone start, or its traces."""

    def vectors(zone: str) -> int:
        sources = eq.fed_by(zone)
        return len(eq.traces_of(sources)) if traces else len(sources)

    hidden = units * (len(eq.hidden) * vectors("hidden") * lanes)
    bias = hidden + inputs * (vectors("input") * lanes)
    unit = bias + vectors("bias") * lanes
    return {"hidden": hidden * 0, "input": hidden, "bias": bias, "unit": unit}
