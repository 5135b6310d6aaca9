"""The one pass over memory that learns, for one layer.

Every row of weights is met once: trace, gradient, weight and, with the hidden values of this step,
which are already known, the row's part of the *next* step's net input. So a step reads the hidden
rows once, and a prediction needs nothing but the input rows.

With z the value of a row and E its traces, keep and write the slopes of memories by past memories
and by sources, A, P, D those of the loss by memories, past memories and sources:

    E' = keep E + write z,    gradient = A E' + P E + D z
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tidegate.calculus.derive import Pair
from tidegate.kernels.code.emit import Index, Reals
from tidegate.kernels.code.sums import Factor, product, sum_of_products
from tidegate.kernels.code.vector import Vector
from tidegate.kernels.online.layer_code import SLOPES, LayerCode, zone_starts
from tidegate.kernels.online.update_code import UpdateCode
from tidegate.kernels.plan import ZONES

__all__ = ["carry_on", "learn_down"]


def _learn(layer: LayerCode, update: UpdateCode, below_error: Reals | None) -> None:
    """Update traces and weights of a layer, and hand the error down.

    Args:
        layer: after its step, with ``error`` holding d loss / d hidden values.
        update: the rule of this step.
        below_error: where d loss / d input values goes, laid out as those values are; for the
            lowest layer nowhere.
    """
    with layer.code.loop(layer.blocks) as block:
        _Pass(layer, block, update, below_error is not None).write()
    if below_error is not None:
        immediate, lanes = layer.frame.reals("immediate"), layer.lanes
        arrangement = layer.arrangement
        for row, number in layer.rows(layer.below):
            total = arrangement.total(immediate.load(row * lanes, width=lanes))
            below_error.store(total, number * arrangement.each)


def learn_down(layers: list[LayerCode], update: UpdateCode) -> None:
    """The pass over all layers, from the readout's errors downwards."""
    for n in reversed(range(len(layers))):
        _learn(layers[n], update, layers[n - 1].frame.reals("error") if n else None)


def carry_on(layer: LayerCode) -> None:
    """The pass of a step without a target: traces go on, weights stay."""
    with layer.code.loop(layer.blocks) as block:
        _Pass(layer, block, None, False).write()


@dataclass(frozen=True)
class _Zone:
    """The rows of one zone in one block: what they feed, and where weights and traces lie."""

    sources: tuple[str, ...]
    pairs: tuple[Pair, ...]
    weights: Reals
    traces: Reals


class _Pass:
    def __init__(
        self, layer: LayerCode, block: Index, update: UpdateCode | None, passes_error: bool
    ) -> None:
        self.layer, self.block, self.update = layer, block, update
        self.passes_error = passes_error
        self.eq, self.lanes = layer.eq, layer.lanes
        self.slope = self._slopes()
        dh = self._hidden_errors() if update else {}
        self.on_memory, self.on_past, self.direct = (
            _weighted(self.slope[kind], dh) for kind in ("show", "recall", "direct")
        )
        self.zones = self._zones()

    def write(self) -> None:
        """Hidden rows, input rows, biases, parameters: in the order in which they lie."""
        layer = self.layer
        old, new = layer.hidden_rows("hidden"), layer.hidden_rows("new_hidden")
        net = layer.zeros("hidden")
        value = layer.arrangement.value
        for row, number in layer.rows(old):
            z, following = (value(rows.values, number) for rows in (old, new))
            for total, weight in zip(net, self._row("hidden", row, z), strict=True):
                total.value = weight.fma(following, total.value)
        layer.store_net(self.block, net)
        passed = self._passed() if self.passes_error else []
        for row, number in layer.rows(layer.below):
            if passed:
                self._hand_down(row, passed)
            self._row("input", row, value(layer.below.values, number))
        first = layer.code.index(0)
        self._row("bias", first, 1.0)
        self._row("unit", first, 1.0)

    def _row(self, name: str, row: Index, z: Factor) -> list[Vector]:
        """Traces, gradient and weights of one row; the weights as they are afterwards."""
        zone, lanes = self.zones[name], self.lanes
        traces = zone.traces.at(row * (len(zone.pairs) * lanes))
        weights = zone.weights.at(row * (len(zone.sources) * lanes))
        old = {p: traces.load(k * lanes, width=lanes) for k, p in enumerate(zone.pairs)}
        new = {pair: self._carried_on(pair, old, z) for pair in zone.pairs}
        for k, pair in enumerate(zone.pairs):
            traces.store(new[pair], k * lanes)
        after = [weights.load(n * lanes, width=lanes) for n in range(len(zone.sources))]
        if self.update is not None:
            for n, source in enumerate(zone.sources):
                terms = self._gradient(source, old, new, z)
                after[n] = self.update(weights, n * lanes, after[n], *terms)
        return after

    def _carried_on(self, pair: Pair, old: Mapping[Pair, Vector], z: Factor) -> Vector:
        memory, source = pair
        keep, write = self.slope["keep"], self.slope["write"]
        kept = [
            (keep[memory, before], old[before, source])
            for before in self.eq.memory
            if (memory, before) in keep and (before, source) in old
        ]
        written = product(write[pair], z) if pair in write else 0.0
        return self._vector(sum_of_products(written, *kept))

    def _gradient(
        self, source: str, old: Mapping[Pair, Vector], new: Mapping[Pair, Vector], z: Factor
    ) -> list[tuple[Factor, Factor]]:
        """The products whose sum is the gradient of a weight; first factors are of the block."""
        terms: list[tuple[Factor, Factor]] = [(self.direct.get(source, 0.0), z)]
        for memory, of in new:
            if of == source:
                terms.append((self.on_memory.get(memory, 0.0), new[memory, of]))
                terms.append((self.on_past.get(memory, 0.0), old[memory, of]))
        return terms

    def _passed(self) -> list[Vector]:
        """d loss / d slot at this step only, for the slots that the layer below feeds."""
        write, passed = self.slope["write"], []
        for slot in self.eq.fed_by("input"):
            terms = [(write.get((m, slot), 0.0), error) for m, error in self.on_memory.items()]
            total = sum_of_products(self.direct.get(slot, 0.0), *terms)
            passed.append(self._vector(total))
        return passed

    def _hand_down(self, row: Index, passed: list[Vector]) -> None:
        """Add this block's part of the error of one input value, lane by lane."""
        zone, lanes = self.zones["input"], self.lanes
        weights = zone.weights.at(row * (len(zone.sources) * lanes))
        immediate = self.layer.frame.reals("immediate")
        total = immediate.load(row * lanes, width=lanes)
        total = self.block.equals(0).select(total.like(0.0), total)
        for n, error in enumerate(passed):
            total = weights.load(n * lanes, width=lanes).fma(error, total)
        immediate.store(total, row * lanes)

    def _slopes(self) -> dict[str, dict[Pair, Factor]]:
        """All slopes by kind and pair: constants as Python numbers, the others from the step."""
        slopes: dict[str, dict[Pair, Factor]] = {
            kind: {
                p: node.args[0] for p, node in getattr(self.eq, kind).items() if node.op == "const"
            }
            for kind in SLOPES
        }
        count, lanes = len(self.layer.slopes), self.lanes
        place = self.layer.frame.reals("slopes").at(self.block * (count * lanes))
        for k, (kind, pair) in enumerate(self.layer.slopes):
            slopes[kind][pair] = place.load(k * lanes, width=lanes)
        return slopes

    def _hidden_errors(self) -> dict[str, Vector]:
        place = self.layer.frame.reals("error").at(self.block * self.lanes)
        return {
            name: place.load(self.layer.padded * q, width=self.lanes)
            for q, name in enumerate(self.eq.hidden)
        }

    def _zones(self) -> dict[str, _Zone]:
        layer, eq, frame = self.layer, self.eq, self.layer.frame
        weights = layer.weights(self.block)
        traces = frame.reals("traces").at(self.block * frame.size("traces_block"))
        inputs = layer.below.count
        w = zone_starts(eq, layer.units, inputs, self.lanes)
        e = zone_starts(eq, layer.units, inputs, self.lanes, traces=True)
        sources = {zone: eq.fed_by(zone) for zone in ZONES} | {"unit": eq.parameters}
        return {
            zone: _Zone(names, eq.traces_of(names), weights.at(w[zone]), traces.at(e[zone]))
            for zone, names in sources.items()
        }

    def _vector(self, value: Factor) -> Vector:
        if isinstance(value, Vector):
            return value.spread(self.lanes)
        return self.layer.code.number(value, width=self.lanes)


def _weighted(slopes: Mapping[Pair, Factor], dh: Mapping[str, Vector]) -> dict[str, Factor]:
    """Sum over hidden values of d loss / d hidden times d hidden / d something, by something."""
    totals: dict[str, Factor] = {}
    for (hidden, name), slope in slopes.items():
        if hidden in dh:
            totals[name] = sum_of_products(totals.get(name, 0.0), (slope, dh[hidden]))
    return totals
