"""Text that stands for cells: an operator of torch takes no objects."""

from __future__ import annotations

from tidegate.cells.base import Cell

__all__ = ["cell_key", "cell_of"]

_CELLS: dict[str, Cell] = {}
_KEYS: dict[Cell, str] = {}


def cell_key(cell: Cell) -> str:
    """The text that stands for a cell in this process; equal cells have one.

    >>> from tidegate.cells import LSTM
    >>> cell_key(LSTM()) == cell_key(LSTM()) != cell_key(LSTM(forget_bias=1.0))
    True
    """
    if cell not in _KEYS:
        _KEYS[cell] = f"{type(cell).__name__}-{len(_KEYS)}"
        _CELLS[_KEYS[cell]] = cell
    return _KEYS[cell]


def cell_of(key: str) -> Cell:
    """The cell that :func:`cell_key` gave a text to in this process."""
    return _CELLS[key]
