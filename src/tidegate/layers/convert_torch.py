"""Weights to and from torch.nn: LSTM, GRU, RNN and their cells."""

from __future__ import annotations

from torch import nn

from tidegate import cells
from tidegate._core.errors import UsageError
from tidegate.layers.drop_in import GRU, LSTM, RNN, DropIn
from tidegate.layers.recurrent import Recurrent

__all__ = ["from_torch", "to_torch", "to_torch_cell"]

_CELLS = (nn.LSTMCell, nn.GRUCell, nn.RNNCell)


def from_torch(module: nn.RNNBase | nn.RNNCellBase) -> DropIn:
    """A layer with the sizes and weights (copied) of a module of torch.nn.

    A cell becomes a layer that runs it over sequences.

    Raises:
        UsageError: it is none of LSTM, GRU, RNN, LSTMCell, GRUCell, RNNCell.

    >>> import torch
    >>> theirs, x = torch.nn.GRU(3, 4, bidirectional=True), torch.ones(5, 2, 3)
    >>> bool(torch.allclose(from_torch(theirs)(x)[0], theirs(x)[0], atol=1e-6))
    True
    """
    if isinstance(module, _CELLS):
        layer = _like_cell(module)
        weights = {f"{name}_l0": value for name, value in module.state_dict().items()}
    elif isinstance(module, nn.LSTM | nn.GRU | nn.RNN):
        layer = _like_layer(module)
        weights = module.state_dict()
    else:
        raise UsageError(
            "from_torch", "a recurrent module of torch.nn", type(module).__name__, "Try nn.LSTM."
        )
    like = next(iter(weights.values()))
    layer.to(like.device, like.dtype)
    layer.load_state_dict(weights)
    return layer.train(module.training)


def to_torch(layer: Recurrent) -> nn.LSTM | nn.GRU | nn.RNN:
    """A module of torch.nn with the sizes and weights (copied) of a layer.

    Raises:
        UsageError: torch.nn has no such cell, or no zoneout, recurrent dropout or learned initial
            state.

    >>> to_torch(LSTM(3, 4, num_layers=2))
    LSTM(3, 4, num_layers=2)
    """
    kind = _kind_of(layer)
    sizes = (layer.input_size, layer.hidden_size, layer.num_layers)
    shape = (layer.bias, layer.batch_first, layer.dropout, layer.bidirectional)
    module: nn.LSTM | nn.GRU | nn.RNN
    if kind == "LSTM":
        module = nn.LSTM(*sizes, *shape, proj_size=layer.proj_size)
    elif kind == "GRU":
        module = nn.GRU(*sizes, *shape)
    else:
        module = nn.RNN(*sizes, kind.removeprefix("RNN_").lower(), *shape)
    module.to(layer.weight_ih_l0.device, layer.weight_ih_l0.dtype)
    module.load_state_dict(layer.state_dict())
    module.train(layer.training)
    return module


def to_torch_cell(layer: Recurrent) -> nn.LSTMCell | nn.GRUCell | nn.RNNCell:
    """The cell of torch.nn with the weights (copied) of a layer with one direction.

    Raises:
        UsageError: as for :func:`to_torch`; there are several layers or directions, or a
            projection.

    >>> to_torch_cell(GRU(3, 4))
    GRUCell(3, 4)
    """
    kind = _kind_of(layer)
    if len(layer.places) > 1 or layer.proj_size:
        raise UsageError(
            "to_torch_cell", "one layer, one direction, no projection", repr(layer), "Try to_torch."
        )
    sizes = (layer.input_size, layer.hidden_size, layer.bias)
    cell: nn.LSTMCell | nn.GRUCell | nn.RNNCell
    if kind == "LSTM":
        cell = nn.LSTMCell(*sizes)
    elif kind == "GRU":
        cell = nn.GRUCell(*sizes)
    else:
        cell = nn.RNNCell(*sizes, kind.removeprefix("RNN_").lower())
    cell.to(layer.weight_ih_l0.device, layer.weight_ih_l0.dtype)
    weights = layer.state_dict()
    cell.load_state_dict({name.removesuffix("_l0"): value for name, value in weights.items()})
    return cell


def _kind_of(layer: Recurrent) -> str:
    """LSTM, GRU, RNN_TANH or RNN_RELU."""
    kinds = {cells.LSTM: "LSTM", cells.GRU: "GRU", cells.RNN: "RNN_TANH", cells.ReluRNN: "RNN_RELU"}
    kind = kinds.get(type(layer.cell))
    if kind is None or layer.zoneout or layer.recurrent_dropout or layer.learn_initial_state:
        raise UsageError(
            "to_torch", "what torch.nn has: LSTM, GRU or RNN without zoneout, recurrent dropout "
            "and learned initial state", repr(layer), "Export it with to_onnx instead.",
        )  # fmt: skip
    return kind


def _like_layer(module: nn.LSTM | nn.GRU | nn.RNN) -> DropIn:
    sizes = (module.input_size, module.hidden_size, module.num_layers)
    bias, batch_first, dropout = module.bias, module.batch_first, module.dropout
    both = module.bidirectional
    if isinstance(module, nn.LSTM):
        return LSTM(*sizes, bias, batch_first, dropout, both, module.proj_size)
    if isinstance(module, nn.GRU):
        return GRU(*sizes, bias, batch_first, dropout, both)
    return RNN(*sizes, module.nonlinearity, bias, batch_first, dropout, both)


def _like_cell(cell: nn.LSTMCell | nn.GRUCell | nn.RNNCell) -> DropIn:
    if isinstance(cell, nn.LSTMCell):
        return LSTM(cell.input_size, cell.hidden_size, bias=cell.bias)
    if isinstance(cell, nn.GRUCell):
        return GRU(cell.input_size, cell.hidden_size, bias=cell.bias)
    return RNN(cell.input_size, cell.hidden_size, 1, cell.nonlinearity, cell.bias)
