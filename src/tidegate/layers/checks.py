"""The errors of torch.nn.LSTM, GRU and RNN, word for word, so that what relies on them goes on."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Sequence

import torch
from torch import Tensor

__all__ = ["check_input", "check_sizes", "check_state"]


def check_sizes(
    input_size: object,
    hidden_size: object,
    num_layers: int,
    bias: object,
    batch_first: object,
    dropout: object,
    proj_size: int,
) -> None:
    """The arguments of a constructor.

    Raises:
        TypeError, ValueError: as torch.nn raises them.
    """
    if not _is_probability(dropout):
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element "
            "being zeroed"
        )
    if dropout and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
            f"expects num_layers greater than 1, but got dropout={dropout} and "
            f"num_layers={num_layers}",
            stacklevel=4,
        )
    for name, flag in (("bias", bias), ("batch_first", batch_first)):
        if not isinstance(flag, bool):
            raise TypeError(f"{name} should be of type bool, got: {type(flag).__name__}")
    for name, size in (("input_size", input_size), ("hidden_size", hidden_size)):
        if not isinstance(size, int):
            raise TypeError(f"{name} should be of type int, got: {type(size).__name__}")
        if size <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    assert isinstance(hidden_size, int)
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


def check_input(input: Tensor, input_size: int, weight: Tensor) -> None:
    """A batch (T, B, I) against the layer.

    Raises:
        ValueError: the dtypes of input and weights differ, and autocast is off.
        RuntimeError: a size that does not fit, or no steps.
    """
    if input.dtype != weight.dtype and not torch.is_autocast_enabled(input.device.type):
        raise ValueError(
            f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
            f"Convert input: input.to({weight.dtype}), or convert model: model.to({input.dtype})"
        )
    if input.size(-1) != input_size:
        raise RuntimeError(
            "input.size(-1) must be equal to input_size. "
            f"Expected {input_size}, got {input.size(-1)}"
        )
    if input.size(0) == 0:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")


def check_state(state: tuple[Tensor, ...], shapes: Sequence[tuple[int, ...]]) -> None:
    """Initial states against their shapes (layers * directions, B, size).

    Raises:
        RuntimeError: as torch.nn raises it.
    """
    if len(state) != len(shapes):
        raise RuntimeError(f"Expected {len(shapes)} hidden states, got {len(state)}")
    for n, (value, shape) in enumerate(zip(state, shapes, strict=True)):
        if value.shape != shape:
            place = f"[{n}]" if len(shapes) > 1 else ""
            raise RuntimeError(f"Expected hidden{place} size {shape}, got {list(value.shape)}")


def _is_probability(value: object) -> bool:
    number = float(value)  # type: ignore[arg-type]
    return isinstance(value, numbers.Number) and not isinstance(value, bool) and 0 <= number <= 1
