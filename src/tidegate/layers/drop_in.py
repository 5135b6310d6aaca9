"""LSTM, GRU and RNN in place of torch.nn's: replacing the class name is all it takes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter

from tidegate import cells
from tidegate.cells.base import Cell
from tidegate.layers import cudnn
from tidegate.layers.recurrent import Input, Recurrent

__all__ = ["GRU", "LSTM", "RNN"]


class DropIn(Recurrent):
    """What torch.nn's recurrent modules have beside their call.

    Parameters start as in torch.nn, from the same random numbers.
    """

    mode: str

    def reset_parameters(self) -> None:
        bound = 1.0 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            torch.nn.init.uniform_(parameter, -bound, bound)
        if self.learn_initial_state:
            with torch.no_grad():
                for name in self.states:
                    getattr(self, f"initial_{name}").zero_()

    def flatten_parameters(self) -> None:
        """Nothing to do: parameters are taken where they lie."""

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """Parameters by layer and direction."""
        return [[getattr(self, full) for full in place.names.values()] for place in self.places]

    @property
    def _flat_weights(self) -> list[Parameter]:
        return [parameter for part in self.all_weights for parameter in part]

    def _repr_head(self) -> list[str]:
        return [str(self.input_size), str(self.hidden_size)]


class LSTM(DropIn):
    """``torch.nn.LSTM``: arguments, parameters, gate order i, f, g, o, state dict and errors.

    Beyond it: ``reset``, ``lengths``, ``trace``, zoneout, recurrent dropout, a learned initial
    state; see :class:`Recurrent` for those and for the shapes.

    >>> torch.manual_seed(0) and None
    >>> theirs, ours = torch.nn.LSTM(3, 4, num_layers=2), LSTM(3, 4, num_layers=2)
    >>> ours.load_state_dict(theirs.state_dict())
    <All keys matched successfully>
    >>> x = torch.ones(6, 2, 3)
    >>> bool(torch.allclose(ours(x)[0], theirs(x)[0], atol=1e-6))
    True
    """

    mode = "LSTM"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        *,
        zoneout: float | Mapping[str, float] = 0.0,
        recurrent_dropout: float = 0.0,
        learn_initial_state: bool = False,
    ) -> None:
        super().__init__(
            cells.LSTM(), input_size, hidden_size, num_layers, bias, batch_first, dropout,
            bidirectional, proj_size, device, dtype, zoneout=zoneout,
            recurrent_dropout=recurrent_dropout, learn_initial_state=learn_initial_state,
        )  # fmt: skip

    def forward(
        self,
        input: Input,
        hx: tuple[Tensor, ...] | Tensor | None = None,
        *,
        reset: Input | None = None,
        lengths: Tensor | None = None,
        trace: bool = False,
    ) -> Any:
        """``output, (h_n, c_n)`` as torch.nn.LSTM, and with ``trace`` a :class:`LayerTrace`."""
        if cudnn.applies(self, input, (reset, lengths), trace):
            return cudnn.run(self, input, hx)
        return super().forward(input, hx, reset=reset, lengths=lengths, trace=trace)


class OneState(DropIn):
    """What GRU and RNN share: their state is one tensor, and they have no projection."""

    def __init__(
        self,
        cell: Cell,
        input_size: int,
        hidden_size: int,
        num_layers: int,
        bias: bool,
        batch_first: bool,
        dropout: float,
        bidirectional: bool,
        proj_size: int | None,
        device: torch.device | str | None,
        dtype: torch.dtype | None,
        zoneout: float | Mapping[str, float],
        recurrent_dropout: float,
        learn_initial_state: bool,
    ) -> None:
        if proj_size is not None:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__(
            cell, input_size, hidden_size, num_layers, bias, batch_first, dropout,
            bidirectional, 0, device, dtype, zoneout=zoneout,
            recurrent_dropout=recurrent_dropout, learn_initial_state=learn_initial_state,
        )  # fmt: skip

    def forward(
        self,
        input: Input,
        hx: tuple[Tensor, ...] | Tensor | None = None,
        *,
        reset: Input | None = None,
        lengths: Tensor | None = None,
        trace: bool = False,
    ) -> Any:
        """``output, h_n`` as in torch.nn, and with ``trace`` a :class:`LayerTrace`."""
        if cudnn.applies(self, input, (reset, lengths), trace):
            return cudnn.run(self, input, hx)
        output, state, *traces = super().forward(
            input, hx, reset=reset, lengths=lengths, trace=trace
        )
        return output, state[0], *traces


class GRU(OneState):
    """``torch.nn.GRU``: arguments, parameters, gate order r, z, n, state dict and errors.

    >>> gru = GRU(3, 4, bidirectional=True)
    >>> output, h = gru(torch.ones(6, 2, 3))
    >>> output.shape, h.shape
    (torch.Size([6, 2, 8]), torch.Size([2, 2, 4]))
    """

    mode = "GRU"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        *,
        proj_size: int | None = None,
        zoneout: float | Mapping[str, float] = 0.0,
        recurrent_dropout: float = 0.0,
        learn_initial_state: bool = False,
    ) -> None:
        super().__init__(
            cells.GRU(), input_size, hidden_size, num_layers, bias, batch_first, dropout,
            bidirectional, proj_size, device, dtype, zoneout, recurrent_dropout,
            learn_initial_state,
        )  # fmt: skip


class RNN(OneState):
    """``torch.nn.RNN``: arguments, parameters, state dict and errors.

    >>> output, h = RNN(3, 4, nonlinearity="relu")(torch.ones(6, 2, 3))
    >>> torch.equal(output[-1:], h)
    True
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        *,
        proj_size: int | None = None,
        zoneout: float | Mapping[str, float] = 0.0,
        recurrent_dropout: float = 0.0,
        learn_initial_state: bool = False,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        self.nonlinearity = nonlinearity
        self.mode = f"RNN_{nonlinearity.upper()}"
        cell = cells.RNN() if nonlinearity == "tanh" else cells.ReluRNN()
        super().__init__(
            cell, input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
            proj_size, device, dtype, zoneout, recurrent_dropout, learn_initial_state,
        )  # fmt: skip
