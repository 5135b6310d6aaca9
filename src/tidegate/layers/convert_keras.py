"""Weights of Keras layers, as the arrays that ``get_weights()`` gives; Keras is not needed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from tidegate import cells
from tidegate._core.errors import UsageError
from tidegate.layers.drop_in import GRU, LSTM
from tidegate.layers.recurrent import Recurrent

__all__ = ["gru_from_keras", "lstm_from_keras"]


@torch.no_grad()
def lstm_from_keras(weights: Sequence[ArrayLike], *, recurrent_activation: str = "sigmoid") -> LSTM:
    """An LSTM with the weights of ``keras.layers.LSTM``, or of Bidirectional round one.

    Args:
        weights: kernel (I, 4U), recurrent kernel (U, 4U) and, with ``use_bias``, bias (4U); for
            Bidirectional the same once more.
        recurrent_activation: of the Keras layer. Old models have ``"hard_sigmoid"``, which is
            another cell.

    Returns:
        a layer with ``batch_first=True``.

    Raises:
        UsageError: shapes that do not fit one another, or another activation.

    >>> layer = lstm_from_keras([np.ones((1, 4)), np.ones((1, 4))])
    >>> output, (h, c) = layer(torch.ones(1, 3, 1))
    >>> round(h.item(), 5), round(c.item(), 5)
    (0.78877, 1.73949)
    """
    _check_activation(recurrent_activation)
    parts, biased = _split(weights, gates=4)
    inputs, units = len(parts[0][0]), len(parts[0][1])
    layer = LSTM(inputs, units, bias=biased, batch_first=True, bidirectional=len(parts) == 2)
    for place, (kernel, recurrent, *bias) in zip(layer.places, parts, strict=True):
        given = {"weight_ih": kernel.T, "weight_hh": recurrent.T}
        if bias:
            given |= {"bias_ih": bias[0], "bias_hh": np.zeros_like(bias[0])}
        _set(layer, place.suffix, given)
    return layer


@torch.no_grad()
def gru_from_keras(
    weights: Sequence[ArrayLike], *, reset_after: bool = True, recurrent_activation: str = "sigmoid"
) -> Recurrent:
    """A GRU with the weights of ``keras.layers.GRU``, or of Bidirectional round one.

    Args:
        weights: kernel (I, 3U), recurrent kernel (U, 3U) and, with ``use_bias``, bias: (2, 3U)
            with ``reset_after``, else (3U).
        reset_after: of the Keras layer. Without it the reset gate comes before the product, which
            is the cell of 2014.
        recurrent_activation: of the Keras layer.

    Returns:
        a layer with ``batch_first=True``: :class:`GRU`, or ``Recurrent("gru2014", ...)``.

    Raises:
        UsageError: shapes that do not fit one another, or another activation.

    >>> gru_from_keras([np.ones((2, 9)), np.ones((3, 9)), np.ones(9)], reset_after=False).cell
    GRU2014()
    """
    _check_activation(recurrent_activation)
    parts, biased = _split(weights, gates=3)
    sizes = (len(parts[0][0]), len(parts[0][1]))
    both = len(parts) == 2
    layer: Recurrent
    if reset_after:
        layer = GRU(*sizes, bias=biased, batch_first=True, bidirectional=both)
    else:
        cell = cells.GRU2014()
        layer = Recurrent(cell, *sizes, bias=biased, batch_first=True, bidirectional=both)
    for place, (kernel, recurrent, *bias) in zip(layer.places, parts, strict=True):
        given = {"weight_ih": _r_first(kernel).T, "weight_hh": _r_first(recurrent).T}
        if bias:
            given |= _biases(bias[0], reset_after, sizes[1])
        _set(layer, place.suffix, given)
    return layer


def _biases(
    bias: NDArray[np.float64], reset_after: bool, units: int
) -> dict[str, NDArray[np.float64]]:
    wanted = (2, 3 * units) if reset_after else (3 * units,)
    if bias.shape != wanted:
        raise UsageError(
            "gru_from_keras", f"a bias {wanted}", str(bias.shape), "See the layer's reset_after."
        )
    ordered = _r_first(np.atleast_2d(bias))
    return {"bias_ih": ordered[0], "bias_hh": ordered[1] if reset_after else 0 * ordered[0]}


def _r_first(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Columns z, r, h as r, z, h."""
    z, r, h = np.split(rows, 3, axis=1)
    return np.concatenate([r, z, h], axis=1)


def _split(
    weights: Sequence[ArrayLike], gates: int
) -> tuple[list[list[NDArray[np.float64]]], bool]:
    """The arrays of every direction, and whether there are biases."""
    arrays = [np.asarray(array, np.float64) for array in weights]
    if len(arrays) not in (2, 3, 4, 6):
        raise _misfit("2 or 3 arrays, or twice as many", str(len(arrays)))
    count = len(arrays) if len(arrays) < 4 else len(arrays) // 2
    parts = [arrays[n : n + count] for n in range(0, len(arrays), count)]
    for kernel, recurrent, *_ in parts:
        units = len(recurrent)
        if kernel.ndim != 2 or kernel.shape[1] != gates * units:
            raise _misfit(f"a kernel (inputs, {gates * units})", str(kernel.shape))
        if recurrent.shape != (units, gates * units):
            raise _misfit(f"a recurrent kernel (U, {gates}U)", str(recurrent.shape))
    return parts, count == 3


def _set(layer: Recurrent, suffix: str, given: dict[str, NDArray[np.float64]]) -> None:
    for name, values in given.items():
        parameter: Tensor = getattr(layer, name + suffix)
        if parameter.shape != values.shape:
            raise _misfit(f"{name} {tuple(parameter.shape)}", str(values.shape))
        parameter.copy_(torch.as_tensor(values.copy()))


def _misfit(expected: str, got: str) -> UsageError:
    return UsageError("Keras weights", expected, got, "Give what the layer's get_weights() gives.")


def _check_activation(name: str) -> None:
    if name != "sigmoid":
        raise UsageError(
            "recurrent_activation", "'sigmoid'", repr(name), "Its gates are other functions here."
        )
