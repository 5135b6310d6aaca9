"""Runs of kernels as nodes of torch's graph.

Differentiating twice, or by a transform of torch.func, goes through the eager form of the same
equations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from tidegate.layers import direction
from tidegate.layers.direction import Task
from tidegate.layers.layout import Carried, Layout
from tidegate.layers.noise import Noise

__all__ = ["Errors", "Results", "Start", "Way", "learns", "noted"]

Start = tuple[Tensor | None, Tensor | None]
Results = tuple[Tensor, ...]
"""hidden (T, B, Q * H), last hidden (Q, B, H), last memory (K, B, H); where K is 0, perhaps two."""
Errors = Sequence[Tensor | None]


class Way(Protocol):
    """A kind of run: what it was beside its tensors, and how it goes back."""

    @property
    def layout(self) -> Layout: ...
    @property
    def names(self) -> tuple[str, ...]:
        """Of the parameters."""

    @property
    def reverse(self) -> bool: ...
    @property
    def reset(self) -> Tensor | None:
        """(T, B) uint8."""

    @property
    def lengths(self) -> Tensor | None:
        """(B,) int64."""

    def backward(
        self,
        x: Tensor,
        start: Start,
        parameters: Sequence[Tensor],
        kept: Sequence[Tensor],
        errors: Errors,
        needs_x: bool,
    ) -> Sequence[Tensor | None]:
        """d loss / d x, hidden0, memory0 and every parameter."""


def learns(inputs: Sequence[Tensor | None]) -> bool:
    """Whether errors are to flow to any of them."""
    return torch.is_grad_enabled() and any(
        [tensor.requires_grad for tensor in inputs if tensor is not None]
    )


def noted(
    way: Way, results: Results, kept: tuple[Tensor, ...], inputs: tuple[Tensor | None, ...]
) -> Results:
    """Results of a run that was made, as torch is to see them.

    Args:
        kept: what the way back needs; memory that the results may share.
        inputs: x, hidden0, memory0, then the parameters.
    """
    return _apply(way, results, kept, *inputs)  # type: ignore[no-any-return,no-untyped-call]


class _Node(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, way: Way, results: Results, kept: tuple[Tensor, ...], *inputs: Any
    ) -> Any:
        ctx.way, ctx.kept = way, len(kept)
        ctx.save_for_backward(*kept, *inputs)
        ctx.set_materialize_grads(False)
        return results

    @staticmethod
    def backward(ctx: Any, *errors: Tensor | None) -> Any:
        saved, count = ctx.saved_tensors, ctx.kept
        x, hidden0, memory0, *parameters = saved[count:]
        start = hidden0, memory0
        needs = ctx.needs_input_grad
        if torch.is_grad_enabled():
            found = _again(ctx.way, saved[count:], errors, needs[3:])
        else:
            found = ctx.way.backward(x, start, parameters, saved[:count], errors, needs[3])
        return None, None, None, *found


_apply = super(torch.autograd.Function, _Node).apply
"""``_Node.apply`` without its look for transforms of torch.func, which no kernel runs under."""


def _again(
    way: Way, inputs: Sequence[Any], errors: Errors, needs: Sequence[bool]
) -> list[Tensor | None]:
    """The gradient as a graph of its own: for the second derivative."""
    results = _eagerly(way, *inputs)[: len(errors)]
    pairs = [(r, e) for r, e in zip(results, errors, strict=True) if e is not None]
    wanted = [given for given, needed in zip(inputs, needs, strict=True) if needed]
    found = iter(
        torch.autograd.grad(
            [result for result, _ in pairs],
            wanted,
            [error for _, error in pairs],
            create_graph=True,
            allow_unused=True,
        )
    )
    return [next(found) if needed else None for needed in needs]


def _eagerly(way: Way, x: Tensor, hidden: Tensor, memory: Tensor, *parameters: Tensor) -> Any:
    """The same results in torch operations, to be differentiated as often as one likes."""
    layout = way.layout
    start = None if hidden is None else Carried(hidden, memory)
    fresh = {name: value[0] for name, value in layout.by_name(layout.start(1, x)).items()}
    reset = None if way.reset is None else way.reset != 0
    task = Task(x, start, fresh, reset, way.lengths, way.reverse, trace=False, plain_start=True)
    weights = layout.weights(dict(zip(way.names, parameters, strict=True)))
    done = direction.run(layout, weights, task, Noise())
    return done.hidden, *done.state
