"""The forms in which sequences come, brought to (steps, rows, inputs) and back.

Three of them, as in torch.nn: a batch, one sequence without a batch, a PackedSequence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

from tidegate._core.errors import UsageError

__all__ = ["Sequences", "State", "opened"]

State = tuple[Tensor, ...]


class Form(Protocol):
    """How one of the three forms is taken apart and put together again."""

    def steps(self, array: Tensor) -> Tensor:
        """An array with the input's leading dimensions as (T, B, ...)."""

    def output(self, hidden: Tensor) -> Tensor | PackedSequence:
        """Hidden values (T, B, outputs) in the form of the input."""

    def state_in(self, state: State) -> State:
        """The user's states as (layers * directions, B, size)."""

    def state_out(self, state: State) -> State:
        """The way back."""


@dataclass(frozen=True)
class Batch:
    """(L, N, I), or (N, L, I) with ``batch_first``."""

    batch_first: bool

    def steps(self, array: Tensor) -> Tensor:
        return array.transpose(0, 1) if self.batch_first else array

    def output(self, hidden: Tensor) -> Tensor:
        return hidden.transpose(0, 1) if self.batch_first else hidden

    def state_in(self, state: State) -> State:
        _check_dimensions(state, 3, "batched 3-D")
        return state

    def state_out(self, state: State) -> State:
        return state


@dataclass(frozen=True)
class Single:
    """One sequence (L, I)."""

    def steps(self, array: Tensor) -> Tensor:
        return array.unsqueeze(1)

    def output(self, hidden: Tensor) -> Tensor:
        return hidden.squeeze(1)

    def state_in(self, state: State) -> State:
        _check_dimensions(state, 2, "unbatched 2-D")
        return tuple(value.unsqueeze(1) for value in state)

    def state_out(self, state: State) -> State:
        return tuple(value.squeeze(1) for value in state)


@dataclass(frozen=True)
class Packed:
    """A PackedSequence: rows by falling length inside, in the user's order outside."""

    like: PackedSequence

    def steps(self, array: Tensor) -> Tensor:
        return pad_packed_sequence(PackedSequence(array, self.like.batch_sizes))[0]

    def output(self, hidden: Tensor) -> PackedSequence:
        sizes = self.like.batch_sizes
        data = torch.cat([hidden[t, :n] for t, n in enumerate(sizes.tolist())])
        return PackedSequence(data, sizes, self.like.sorted_indices, self.like.unsorted_indices)

    def lengths(self) -> Tensor:
        """Steps of every row (B,), falling."""
        rows = torch.arange(int(self.like.batch_sizes[0]))
        return (self.like.batch_sizes[:, None] > rows).sum(dim=0)

    def state_in(self, state: State) -> State:
        return _permuted(state, self.like.sorted_indices)

    def state_out(self, state: State) -> State:
        return _permuted(state, self.like.unsorted_indices)


class Sequences(NamedTuple):
    """What a layer works on.

    Attributes:
        x: (T, B, I).
        reset: (T, B) bool, or nothing.
        lengths: (B,), or nothing where all rows are T long.
        form: how it came and how it goes back.
    """

    x: Tensor
    reset: Tensor | None
    lengths: Tensor | None
    form: Form


def opened(
    owner: str,
    input: Tensor | PackedSequence,
    reset: Tensor | PackedSequence | None,
    lengths: Tensor | None,
    batch_first: bool,
) -> Sequences:
    """The user's sequences as a layer works on them.

    Raises:
        ValueError: the input has neither 2 nor 3 dimensions.
        UsageError: reset or lengths do not fit the input.
    """
    if isinstance(input, PackedSequence):
        return _opened_packed(input, reset, lengths)
    if input.dim() not in (2, 3):
        got = f"{input.dim()}D tensor" if owner == "RNN" else f"{input.dim()}D"  # as torch words it
        raise ValueError(f"{owner}: Expected input to be 2D or 3D, got {got} instead")
    form = Batch(batch_first) if input.dim() == 3 else Single()
    x = form.steps(input)
    if reset is not None:
        _check_reset(reset, input.shape[:-1])
        assert isinstance(reset, Tensor)
        reset = form.steps(reset != 0)
    if lengths is not None:
        _check_lengths(lengths, x)
        lengths = lengths.to(x.device)
    return Sequences(x, reset, lengths, form)


def _opened_packed(
    input: PackedSequence, reset: Tensor | PackedSequence | None, lengths: Tensor | None
) -> Sequences:
    if lengths is not None:
        raise UsageError(
            "lengths", "none beside a PackedSequence", "both", "A PackedSequence has its own."
        )
    if input.data.dim() != 2:
        raise RuntimeError(f"input must have 2 dimensions, got {input.data.dim()}")
    form = Packed(input)
    flags = None
    if reset is not None:
        if not isinstance(reset, PackedSequence):
            raise UsageError(
                "reset", "a PackedSequence beside one", type(reset).__name__, "Pack it alike."
            )
        _check_reset(reset.data, input.data.shape[:1])
        flags = form.steps(reset.data != 0)
    lengths = form.lengths().to(input.data.device)
    return Sequences(form.steps(input.data), flags, lengths, form)


def _permuted(state: State, order: Tensor | None) -> State:
    return state if order is None else tuple(value.index_select(1, order) for value in state)


def _check_dimensions(state: State, wanted: int, kind: str) -> None:
    if all(value.dim() == wanted for value in state):
        return
    dims = ", ".join(f"{value.dim()}-D" for value in state)
    if len(state) == 1:
        raise RuntimeError(f"For {kind} input, hx should also be {wanted}-D but got {dims} tensor")
    raise RuntimeError(
        f"For {kind} input, hx and cx should also be {wanted}-D but got ({dims}) tensors"
    )


def _check_reset(reset: Tensor | PackedSequence, shape: torch.Size) -> None:
    if isinstance(reset, Tensor) and reset.shape == shape:
        return
    got = str(tuple(reset.shape)) if isinstance(reset, Tensor) else "a PackedSequence"
    raise UsageError(
        "reset", f"the input's leading dimensions {tuple(shape)}", got, "One flag for every step."
    )


def _check_lengths(lengths: Tensor, x: Tensor) -> None:
    whole = not (lengths.is_floating_point() or lengths.dtype == torch.bool)
    if lengths.shape != x.shape[1:2] or not whole:
        raise UsageError(
            "lengths",
            f"whole numbers ({x.shape[1]},), one for every row",
            f"{lengths.dtype} {tuple(lengths.shape)}",
            "Give the steps of every row; 0 is allowed.",
        )
