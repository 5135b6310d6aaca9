"""Gated cells, each written once as equations; one file per published cell.

A new file here with a subclass of :class:`Cell` is a new cell: everything else finds it by name.
"""

from __future__ import annotations

from tidegate._core.discovery import find, members
from tidegate.cells.base import Cell, Feed, Step, both, hidden, input
from tidegate.cells.block1997 import Block1997
from tidegate.cells.block2000 import Block2000
from tidegate.cells.coupled import Coupled
from tidegate.cells.elstm import ELSTM
from tidegate.cells.gru import GRU
from tidegate.cells.gru2014 import GRU2014
from tidegate.cells.indrnn import IndRNN
from tidegate.cells.janet import JANET
from tidegate.cells.laws import (
    chrono,
    constant,
    half_life,
    half_lives,
    minus,
    ramp,
    uniform,
    uniform_gate,
)
from tidegate.cells.layer_norm_lstm import LayerNormLSTM
from tidegate.cells.lstm import LSTM
from tidegate.cells.lstm1997 import LSTM1997
from tidegate.cells.mgu import MGU
from tidegate.cells.min_gru import MinGRU
from tidegate.cells.min_lstm import MinLSTM
from tidegate.cells.peephole import Peephole
from tidegate.cells.relu_rnn import ReluRNN
from tidegate.cells.rg_lru import RGLRU
from tidegate.cells.rnn import RNN
from tidegate.cells.slstm import SLSTM
from tidegate.cells.update_gate import UpdateGate
from tidegate.cells.ur_lstm import URLSTM

__all__ = [
    "ELSTM",
    "GRU",
    "GRU2014",
    "JANET",
    "LSTM",
    "LSTM1997",
    "MGU",
    "RGLRU",
    "RNN",
    "SLSTM",
    "URLSTM",
    "Block1997",
    "Block2000",
    "Cell",
    "Coupled",
    "Feed",
    "IndRNN",
    "LayerNormLSTM",
    "MinGRU",
    "MinLSTM",
    "Peephole",
    "ReluRNN",
    "Step",
    "UpdateGate",
    "both",
    "chrono",
    "constant",
    "half_life",
    "half_lives",
    "hidden",
    "input",
    "minus",
    "named",
    "names",
    "ramp",
    "uniform",
    "uniform_gate",
]


def names() -> list[str]:
    """The names of all cells.

    >>> {"gru", "lstm", "lstm1997", "rnn", "update_gate"} <= set(names())
    True
    """
    return sorted(members("tidegate.cells", Cell))  # type: ignore[type-abstract]


def named(name: str, owner: str = "cell") -> Cell:
    """The cell called ``name``, with its default options.

    Raises:
        UsageError: there is no such cell; the message names ``owner`` and the nearest.

    >>> named("lstm")
    LSTM(forget_bias=0.0)
    """
    return find("tidegate.cells", Cell, name, owner)()  # type: ignore[type-abstract]
