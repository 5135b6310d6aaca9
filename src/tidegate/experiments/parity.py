"""Parity: who can carry one bit that every new bit may turn over?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tidegate import cells
from tidegate.experiments.base import Row
from tidegate.experiments.claims import AtMost
from tidegate.experiments.yardstick import Contestant, Yardstick, exact, truncated
from tidegate.tasks import Parity, Task

__all__ = ["ParityYardstick"]

BLIND = "gates that do not see h cannot follow a state"


class ParityYardstick(Yardstick):
    """Is the number of ones so far odd? No finite stretch of the past tells.

    >>> list(ParityYardstick().contestants())
    ['rnn', 'lstm', 'gru', 'slstm', 'elstm', 'janet', 'min_gru', 'min_lstm']
    """

    name: ClassVar[str] = "parity"
    title: ClassVar[str] = "Parity of all bits so far"
    protocol: ClassVar[str] = (
        "One endless stream of fair bits, no resets, the parity asked after each. 8 units, Adam "
        "0.01 / (1 + t/30,000), eps 1e-3; the plain RNN (4 units) learns by the exact gradient. "
        "Every 1,000 bits: a fresh stream of 10,000 bits from empty memories."
    )
    wanting: ClassVar[str] = (
        "On an endless stream none of these learns it within 200,000 bits, but JANET now and then: "
        "a state that was once wrong stays wrong, and nothing starts anew. Streams that end at "
        "their first error teach it within thousands of bits: see "
        "[parity-restarts](parity-restarts.md)."
    )
    picture: ClassVar[str] = "  bit     1 1 0 1 0 0 ...\n  answer  1 0 0 1 1 1 ..."

    def task(self, row: str) -> Task:
        return Parity()

    def contestants(self) -> Mapping[str, tuple[Row, Contestant]]:
        """Cells that see h or their own memory, and two that do not."""
        found: dict[str, tuple[Row, Contestant]] = {
            "rnn": (Row("rnn", "plain RNN, exact gradient"), exact(cells.RNN(), 4))
        }
        for name in ("lstm", "gru", "slstm", "elstm", "janet"):
            found[name] = Row(name, name, ""), truncated(cells.named(name, "parity"), 8)
        for name in ("min_gru", "min_lstm"):
            row = Row(name, f"{name}, one layer", BLIND, AtMost(0.0))
            found[name] = row, truncated(cells.named(name, "parity"), 8)
        return found
