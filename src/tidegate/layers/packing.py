"""How the parameters of a direction become what kernels take, and errors on those errors on these.

Kernels take torch's own arrays where they lie: a bias kept twice is summed where it is packed.
Only where a cell's biases or parameters lie otherwise are they brought together first.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from tidegate.kernels.batch import Weights
from tidegate.layers.layout import Layout

__all__ = ["Given", "Packing", "address", "packing"]


class Given(NamedTuple):
    """Weights as kernels take them, contiguous, nothing where there are no rows; or errors on them.

    Attributes:
        input: (slots fed by the input * H, I). hidden: (slots fed by the hidden values * H, Q * H).
        bias: (slots with a bias * H,). second_bias: what is added to it.
        unit: the units' own parameters (P, H).
    """

    input: Tensor
    hidden: Tensor | None
    bias: Tensor | None
    second_bias: Tensor | None
    unit: Tensor | None

    def addresses(self) -> tuple[int, int, int, int, int]:
        """Where each lies; 0 for nothing."""
        by_input, by_hidden, bias, second_bias, unit = self
        return (
            by_input.data_ptr(), address(by_hidden), address(bias), address(second_bias),
            address(unit),
        )  # fmt: skip


@lru_cache(maxsize=256)
def packing(layout: Layout, names: tuple[str, ...]) -> Packing:
    """The packing of parameters called ``names``, in torch's order."""
    return Packing(layout, names)


class Packing:
    """The way from parameters to weights and back.

    >>> from tidegate.cells import LSTM
    >>> layout = Layout(LSTM(), inputs=3, units=5, projection=0, key="lstm")
    >>> lstm = packing(layout, ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    >>> parameters = [torch.ones(shape) for shape in layout.shapes(bias=True).values()]
    >>> lstm.given(parameters).second_bias is parameters[3], lstm.fits(parameters)
    (True, True)
    """

    def __init__(self, layout: Layout, names: tuple[str, ...]) -> None:
        self._layout, self._names = layout, names
        biases = layout.whole_biases(names)
        shapes = layout.shapes(bias=True)
        self._shapes = [torch.Size(shapes[name]) for name in names]
        self._errors = list(Weights.shapes(layout.cell, layout.inputs, layout.units).values())
        self._biases = None if biases is None else [*map(names.index, biases), *[-1] * 2][:2]
        self._hidden = names.index("weight_hh") if "weight_hh" in names else -1
        self._units = [names.index(name) for name in layout.cell.parameters]
        order = {"weight_ih": 0, "weight_hh": 1, "bias_ih": 2, "bias_hh": 2}
        order |= {name: 3 + k for k, name in enumerate(layout.cell.parameters)}
        self._order = [order[name] for name in names]

    def fits(self, parameters: Sequence[Tensor]) -> bool:
        """Whether parameters have the shapes of the layout and lie as kernels want them."""
        return [p.shape for p in parameters] == self._shapes and all(
            [p.is_contiguous() for p in parameters]
        )

    def given(self, parameters: Sequence[Tensor]) -> Given:
        """The weights."""
        found: tuple[Tensor | None, ...] = (*parameters, None)
        if self._biases is None:
            bias, second = self._bias(parameters), None
        else:
            bias, second = (found[k] for k in self._biases)
        unit = self._unit(parameters) if self._units else None
        return Given(parameters[0], found[self._hidden], bias, second, unit)

    @torch.no_grad()
    def _bias(self, parameters: Sequence[Tensor]) -> Tensor | None:
        return self._layout.bias(dict(zip(self._names, parameters, strict=True)))

    @torch.no_grad()
    def _unit(self, parameters: Sequence[Tensor]) -> Tensor:
        return torch.stack([parameters[k] for k in self._units])

    def room(self, like: Tensor) -> Given:
        """Memory for errors on weights."""
        by_input, by_hidden, bias, unit = [
            like.new_empty(*shape) if shape[0] else None for shape in self._errors
        ]
        assert by_input is not None
        return Given(by_input, by_hidden, bias, None, unit)

    def by_parameter(self, errors: Given) -> list[Tensor | None]:
        """Errors on parameters, in their order."""
        by_input, by_hidden, bias, _, unit = errors
        rows = () if unit is None else unit.unbind()
        if self._biases is None:
            return self._layout.by_parameter(self._names, by_input, by_hidden, bias, rows)
        found = (by_input, by_hidden, bias, *rows)
        return [found[k] for k in self._order]


def address(tensor: Tensor | None) -> int:
    """Where a tensor lies; 0 for nothing."""
    return 0 if tensor is None else tensor.data_ptr()
