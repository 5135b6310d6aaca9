"""Gated cells on torch tensors; torch is imported here and nowhere else.

The layer over any cell is :class:`Recurrent`; :class:`LSTM`, :class:`GRU` and :class:`RNN` stand in
for torch.nn's.
"""

from __future__ import annotations

try:
    import torch  # noqa: F401
except ImportError as error:
    from tidegate._core.errors import MissingExtraError

    raise MissingExtraError(
        "tidegate.layers", "torch", "an environment without it", "pip install 'tidegate[torch]'"
    ) from error

from tidegate.layers import functions
from tidegate.layers.convert_keras import gru_from_keras, lstm_from_keras
from tidegate.layers.convert_torch import from_torch, to_torch, to_torch_cell
from tidegate.layers.drop_in import GRU, LSTM, RNN
from tidegate.layers.initial import start_biases
from tidegate.layers.recurrent import Recurrent
from tidegate.layers.stateful import Stateful
from tidegate.layers.trace import LayerTrace

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "LayerTrace",
    "Recurrent",
    "Stateful",
    "from_torch",
    "functions",
    "gru_from_keras",
    "lstm_from_keras",
    "start_biases",
    "to_torch",
    "to_torch_cell",
]
