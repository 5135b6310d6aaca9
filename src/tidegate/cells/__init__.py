"""Gated cells, each written once as equations; one file per published cell.

A new file here with a subclass of :class:`Cell` is a new cell: everything else finds it by name.
"""

from __future__ import annotations

from tidegate._core.discovery import find, members
from tidegate.cells.base import Cell, Feed, Step, both, hidden, input
from tidegate.cells.gru import GRU
from tidegate.cells.laws import constant, uniform
from tidegate.cells.lstm import LSTM
from tidegate.cells.lstm1997 import LSTM1997
from tidegate.cells.rnn import RNN
from tidegate.cells.update_gate import UpdateGate

__all__ = [
    "GRU",
    "LSTM",
    "LSTM1997",
    "RNN",
    "Cell",
    "Feed",
    "Step",
    "UpdateGate",
    "both",
    "constant",
    "hidden",
    "input",
    "named",
    "names",
    "uniform",
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
