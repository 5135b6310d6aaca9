"""What the weights of a layer are called and how they lie: torch's names and torch's order.

For every cell: ``weight_ih`` holds the slots fed by the input, one below the other in the order in
which the cell declares them, ``weight_hh`` those fed by the hidden values; a slot fed by both has
its bias twice, in ``bias_ih`` and ``bias_hh``. For LSTM, GRU and RNN that is torch.nn's own layout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor

from tidegate.cells.base import Cell
from tidegate.kernels.batch.plan import start

__all__ = ["Carried", "DirectionWeights", "Layout", "Place", "wide"]


class DirectionWeights(NamedTuple):
    """The weights of one direction of one layer; S slots, H units, Q hidden names, I inputs.

    Attributes:
        input: (slots fed by the input * H, I).
        hidden: (slots fed by the hidden values * H, Q * H), or narrower under a projection.
        bias: (slots with a bias * H,), what torch keeps twice summed.
        unit: the units' own parameters (P, H).
        project: (projection, H), or nothing.
    """

    input: Tensor
    hidden: Tensor
    bias: Tensor
    unit: Tensor
    project: Tensor | None


class Carried(NamedTuple):
    """What one direction of one layer carries from step to step.

    Attributes:
        hidden: (Q, B, H), or narrower under a projection.
        memory: those that are no hidden values as well (K, B, H).
    """

    hidden: Tensor
    memory: Tensor


def wide(dtype: torch.dtype) -> torch.dtype:
    """The dtype of states and gates: single precision at least.

    A memory in half precision stands still: 2,048 + 1 is 2,048.

    >>> wide(torch.bfloat16), wide(torch.float64)
    (torch.float32, torch.float64)
    """
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


@dataclass(frozen=True)
class Layout:
    """Sizes of one direction of one layer, and the weights that follow from them.

    Attributes:
        key: what stands for the cell where only text is taken.

    >>> from tidegate.cells import GRU
    >>> Layout(GRU(), inputs=3, units=5, projection=0, key="gru").shapes(bias=False)
    {'weight_ih': (15, 3), 'weight_hh': (15, 5)}
    """

    cell: Cell
    inputs: int
    units: int
    projection: int
    key: str

    def __post_init__(self) -> None:
        # torch.compile follows a cached property only once it holds a value
        for name in ("state", "_zones", "_bias_rows", "_bias_back", "_starts"):
            getattr(self, name)

    def __hash__(self) -> int:
        return hash((self.key, self.inputs, self.units, self.projection))

    @property
    def outputs(self) -> int:
        """Hidden values that the layer above sees."""
        return self.projection or len(self.cell.hidden) * self.units

    @cached_property
    def state(self) -> dict[str, int]:
        """Hidden values and memories without repeats, each with its size."""
        names = dict.fromkeys((*self.cell.hidden, *self.cell.memory), self.units)
        if self.projection:
            names |= dict.fromkeys(self.cell.hidden, self.projection)
        return names

    def carried(self, state: Sequence[Tensor], part: int) -> Carried:
        """One part of a whole stack's states, each (parts, B, size) in the order of ``state``."""
        hiddens = len(self.cell.hidden)
        hidden = _piled(state[:hiddens], part)
        if len(state) > hiddens:
            return Carried(hidden, _piled(state[hiddens:], part))
        return Carried(hidden, hidden.new_empty(0, hidden.shape[1], self.units))

    def by_name(self, carried: Carried) -> dict[str, Tensor]:
        """The same as one tensor (B, size) for every name."""
        return dict(zip(self.state, (*carried.hidden, *carried.memory), strict=True))

    def together(self, state: Mapping[str, Tensor]) -> Carried:
        """The way back."""
        values = [state[name].unsqueeze(0) for name in self.state]
        return self.carried(values, 0)

    def start(self, rows: int, like: Tensor) -> Carried:
        """Where the cell itself starts."""
        hiddens = len(self.cell.hidden)
        return Carried(
            _filled(self._starts[:hiddens], (rows, self.projection or self.units), like),
            _filled(self._starts[hiddens:], (rows, self.units), like),
        )

    @cached_property
    def _starts(self) -> tuple[float, ...]:
        return tuple(start(self.cell, name) for name in self.state)

    def shapes(self, bias: bool) -> dict[str, tuple[int, ...]]:
        """The parameters by name, in torch's order; the ones without rows left out."""
        rows = {zone: len(slots) * self.units for zone, slots in self._zones.items()}
        shapes: dict[str, tuple[int, ...]] = {
            "weight_ih": (rows["weight_ih"], self.inputs),
            "weight_hh": (rows["weight_hh"], self.outputs),
        }
        if bias:
            shapes |= {name: (rows[name],) for name in ("bias_ih", "bias_hh")}
        if self.projection:
            shapes["weight_hr"] = (self.projection, self.units)
        shapes |= {parameter: (self.units,) for parameter in self.cell.parameters}
        return {name: shape for name, shape in shapes.items() if shape[0]}

    def rows_of(self, slot: str) -> dict[str, slice]:
        """Where a slot lies in the parameters that hold a part of it."""
        found = {}
        for name, slots in self._zones.items():
            if slot in slots:
                first = slots.index(slot) * self.units
                found[name] = slice(first, first + self.units)
        return found

    def weights(self, given: Mapping[str, Tensor]) -> DirectionWeights:
        """The weights from parameters by name; ``given`` may lack the biases."""
        like = given["weight_ih"]
        unit = [given[name] for name in self.cell.parameters]
        return DirectionWeights(
            input=like,
            hidden=given["weight_hh"] if "weight_hh" in given else like.new_empty(0, self.outputs),
            bias=self.bias(given),
            unit=torch.stack(unit) if unit else like.new_empty(0, self.units),
            project=given.get("weight_hr"),
        )

    def by_parameter(
        self,
        names: Sequence[str],
        by_input: Tensor,
        by_hidden: Tensor | None,
        bias: Tensor | None,
        units: Sequence[Tensor],
    ) -> list[Any]:
        """Errors on parameters by name, from those on weights, the units' own one by one."""
        found = {"weight_ih": by_input, "weight_hh": by_hidden}
        for zone, blocks in self._bias_back.items():
            if zone in names and bias is not None:
                found[zone] = bias if blocks is None else torch.cat([bias[b] for b in blocks])
        found |= zip(self.cell.parameters, units, strict=True)
        return [found[name] for name in names]

    def whole_biases(self, names: Sequence[str]) -> list[str] | None:
        """The biases among names, if each has rows for every slot with a bias; else nothing.

        >>> from tidegate.cells import GRU, LSTM
        >>> names = ("bias_ih", "bias_hh")
        >>> Layout(LSTM(), 3, 5, 0, key="lstm").whole_biases(names)
        ['bias_ih', 'bias_hh']
        >>> Layout(GRU(), 3, 5, 0, key="gru").whole_biases(names) is None
        True
        """
        present = [name for name in self._bias_back if name in names and self._zones[name]]
        whole = all(self._bias_back[name] is None for name in present)
        return present if whole and bool(present) == bool(self._bias_rows) else None

    @cached_property
    def _bias_back(self) -> dict[str, tuple[slice, ...] | None]:
        """For every bias parameter, its slots' rows in the summed bias; nothing for all of them."""
        slots = self.cell.fed_by("bias")
        rows = {s: slice(k * self.units, (k + 1) * self.units) for k, s in enumerate(slots)}
        return {
            zone: None if self._zones[zone] == slots else tuple(rows[s] for s in self._zones[zone])
            for zone in ("bias_ih", "bias_hh")
        }

    @cached_property
    def _zones(self) -> dict[str, tuple[str, ...]]:
        cell = self.cell
        biased = cell.fed_by("bias")
        return {
            "weight_ih": cell.fed_by("input"),
            "weight_hh": cell.fed_by("hidden"),
            "bias_ih": tuple(s for s in cell.fed_by("input") if s in biased),
            "bias_hh": tuple(s for s in cell.fed_by("hidden") if s in biased),
        }

    @cached_property
    def _bias_rows(self) -> tuple[dict[str, slice], ...]:
        """For every slot with a bias, its rows in each parameter that holds a part of it."""
        return tuple(
            {name: rows for name, rows in self.rows_of(slot).items() if name.startswith("bias")}
            for slot in self.cell.fed_by("bias")
        )

    def bias(self, given: Mapping[str, Tensor]) -> Tensor:
        """The bias of every slot that has one, from parameters by name; 0 where they lack it."""
        present = [name for name in self._bias_back if name in given]
        if not present:
            return given["weight_ih"].new_zeros(len(self._bias_rows) * self.units)
        if all([self._bias_back[name] is None for name in present]):
            return _sum([given[name] for name in present])
        parts = [[given[name][r] for name, r in rows.items()] for rows in self._bias_rows]
        return torch.cat([_sum(part) for part in parts])


def _piled(values: Sequence[Tensor], part: int) -> Tensor:
    if len(values) > 1:
        return torch.stack([value[part] for value in values])
    return values[0] if values[0].shape[0] == 1 else values[0][part : part + 1]


def _filled(values: Sequence[float], shape: tuple[int, int], like: Tensor) -> Tensor:
    """One block of ``shape`` for every value."""
    if any(values):
        blocks = [like.new_full(shape, value, dtype=wide(like.dtype)) for value in values]
        return torch.stack(blocks)
    return like.new_zeros((len(values), *shape), dtype=wide(like.dtype))


def _sum(parts: list[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


@dataclass(frozen=True)
class Place:
    """One direction of one layer of a module, and the full names of its parameters.

    >>> from tidegate.cells import RNN
    >>> layout = Layout(RNN(), inputs=3, units=5, projection=0, key="rnn")
    >>> Place.of(layout, layer=1, reverse=True, bias=False).names
    {'weight_ih': 'weight_ih_l1_reverse', 'weight_hh': 'weight_hh_l1_reverse'}
    """

    layout: Layout
    suffix: str
    names: Mapping[str, str]
    given: tuple[str, ...]

    @staticmethod
    def of(layout: Layout, layer: int, reverse: bool, bias: bool) -> Place:
        suffix = f"_l{layer}_reverse" if reverse else f"_l{layer}"
        given = tuple(layout.shapes(bias))
        return Place(layout, suffix, {name: name + suffix for name in given}, given)

    def shapes(self, bias: bool) -> dict[str, tuple[int, ...]]:
        """The parameters by full name."""
        return {self.names[name]: shape for name, shape in self.layout.shapes(bias).items()}
