"""Runs without resets and lengths, by kernels that work where the tensors lie."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial

import torch
from torch import Tensor

from tidegate.layers.graph import Errors, Results, Start, learns, noted
from tidegate.layers.in_place import Shape, sized
from tidegate.layers.layout import Layout
from tidegate.layers.packing import packing
from tidegate.layers.recording import Recording

__all__ = ["Plain", "plain"]


@lru_cache(maxsize=256)
def plain(
    layout: Layout, names: tuple[str, ...], dtype: torch.dtype, shape: Shape, reverse: bool
) -> Plain:
    """Runs of one size: x (T, B, I), none of them 0, and parameters of these names."""
    return Plain(layout, names, dtype, shape, reverse)


class Plain:
    """Runs of one size over one direction of a layer."""

    reset = lengths = None

    def __init__(
        self,
        layout: Layout,
        names: tuple[str, ...],
        dtype: torch.dtype,
        shape: Shape,
        reverse: bool,
    ) -> None:
        self.layout, self.names, self.reverse = layout, names, reverse
        self._packing, self._sized = packing(layout, names), sized(layout, dtype, shape, reverse)

    def fits(self, start: Start, parameters: Sequence[Tensor]) -> bool:
        """Whether they have the shapes that follow from the sizes, and lie as kernels want them."""
        return self._packing.fits(parameters) and (start[0] is None or self._sized.fits(start))

    def run(
        self, x: Tensor, start: Start, parameters: Sequence[Tensor], trace: bool
    ) -> tuple[Results, Recording | None]:
        """Run from ``start``, or from where the cell itself starts.

        Args:
            parameters: as they ``fit``.
        """
        inputs = (x, *start, *parameters)
        saving = learns(inputs)
        given = self._packing.given(parameters)
        results, kept = self._sized.forward(x, given, start, saving, trace)
        if saving:
            results = noted(self, results, kept[:3], inputs)
        if not trace:
            return results, None
        look = partial(self._sized.left, kept)
        return results, Recording(self.layout.cell, self.reverse, results[0].detach(), look)

    def backward(
        self,
        x: Tensor,
        start: Start,
        parameters: Sequence[Tensor],
        kept: Sequence[Tensor],
        errors: Errors,
        needs_x: bool,
    ) -> Sequence[Tensor | None]:
        given, into = self._packing.given(parameters), self._packing.room(x)
        needs = needs_x, start[0] is not None
        first = self._sized.backward(x, given, kept, errors, into, needs)
        return *first, *self._packing.by_parameter(into)
