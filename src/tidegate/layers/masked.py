"""Runs with resets or lengths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from tidegate.layers import arrays
from tidegate.layers.arrays import Call
from tidegate.layers.graph import Errors, Results, Start, learns, noted
from tidegate.layers.layout import Layout
from tidegate.layers.recording import Recording

__all__ = ["Masked"]


class Masked(NamedTuple):
    """A run over one direction of a layer.

    Attributes:
        names: of the parameters.
        reset: (T, B) uint8, or nothing.
        lengths: (B,) int64, or nothing.
    """

    layout: Layout
    names: tuple[str, ...]
    reverse: bool
    reset: Tensor | None
    lengths: Tensor | None

    def run(
        self, x: Tensor, start: Start, parameters: Sequence[Tensor], trace: bool
    ) -> tuple[Results, Recording | None]:
        """Run from ``start``, or from where the cell itself starts."""
        inputs = (x, *start, *parameters)
        call = self._call(trace, saving=learns(inputs))
        (hidden, last_hidden, last_memory), kept, left = arrays.forward(
            call, self._tensors(x, start, parameters)
        )
        results: Results = (hidden, last_hidden, last_memory)
        if call.saving:
            results = noted(self, results, kept, inputs)
        if left is None:
            return results, None
        return results, Recording(call.cell, call.reverse, results[0].detach(), lambda: left)

    def backward(
        self,
        x: Tensor,
        start: Start,
        parameters: Sequence[Tensor],
        kept: Sequence[Tensor],
        errors: Errors,
        needs_x: bool,
    ) -> Sequence[Tensor | None]:
        call = self._call(trace=False, saving=True)
        given = self._tensors(x, start, parameters)
        d_x, *weights, d_hidden0, d_memory0 = arrays.backward(call, given, kept, errors, needs_x)
        first = (d_x, None, None) if start[0] is None else (d_x, d_hidden0, d_memory0)
        by_input, by_hidden, bias, unit = weights
        assert by_input is not None and unit is not None  # only d_x can be missing
        found = self.layout.by_parameter(self.names, by_input, by_hidden, bias, unit.unbind())
        return *first, *found

    def _call(self, trace: bool, saving: bool) -> Call:
        return Call(self.layout.cell, self.reset, self.lengths, self.reverse, trace, saving)

    @torch.no_grad()
    def _tensors(self, x: Tensor, start: Start, parameters: Sequence[Tensor]) -> list[Any]:
        hidden0, memory0 = self.layout.start(x.shape[1], x) if start[0] is None else start
        weights = self.layout.weights(dict(zip(self.names, parameters, strict=True)))
        together = (x, *weights[:4], hidden0, memory0)
        return [tensor.contiguous() for tensor in together if tensor is not None]
