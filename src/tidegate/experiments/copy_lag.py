"""Copying: two letters, a long silence, and the same letters again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tidegate.cells import LSTM1997, RNN
from tidegate.experiments.base import Row
from tidegate.experiments.claims import AtLeast
from tidegate.experiments.cnto_best import SpreadCoupled, SpreadLSTM
from tidegate.experiments.yardstick import Contestant, Yardstick, exact, truncated
from tidegate.tasks import Copying

__all__ = ["Copy"]

SIZE = 2
LAGS = (5, 20, 50)


class Copy(Yardstick):
    """Two letters of four, kept over a lag.

    >>> Copy().task("coupled lag=50").lag
    50
    """

    name: ClassVar[str] = "copy"
    title: ClassVar[str] = "Copying two letters over a silence"
    protocol: ClassVar[str] = (
        "One endless stream of rounds, no resets: two letters of four, silence for the lag, two "
        "marks that ask for them. 32 units; half-lives begin spread from 2 steps to eight times "
        "the lag; coupled gates with Adam 0.01 / (1 + t/30,000), eps 1e-4, t counting answers. The "
        "LSTM, the LSTM of 1997 (0.003, eps 1e-6) and the plain RNN (8 units, exact gradient) as "
        "opponents. Every 10,000 symbols: a fresh "
        "stream of 10,000 symbols."
    )
    budget: ClassVar[int] = 600_000
    trials: ClassVar[int] = 5
    quick: ClassVar[tuple[int, int]] = (1, 20_000)
    every: ClassVar[int] = 10_000
    picture: ClassVar[str] = (
        "  b a . . . . . ? ?  c c . . . . . ? ?\n                b a                c c"
    )

    def task(self, row: str) -> Copying:
        return Copying(SIZE, int(row.partition(" lag=")[2]))

    def contestants(self) -> Mapping[str, tuple[Row, Contestant]]:
        """The LSTM at each lag, its opponents where they have a chance."""
        found: dict[str, tuple[Row, Contestant]] = {}
        for lag in LAGS:
            name = f"coupled lag={lag}"
            cell = SpreadCoupled(shortest=2.0, longest=8.0 * lag)
            note = (
                ""
                if lag < LAGS[-1]
                else "At lag 50 some nets are still learning when the budget ends."
            )
            row = Row(name, f"coupled gates, lag {lag}", "", AtLeast(0.8), not note, note)
            found[name] = row, truncated(cell, 32, 0.01, 1e-4)
        for lag in LAGS[:2]:
            name = f"lstm lag={lag}"
            long = truncated(SpreadLSTM(shortest=2.0, longest=8.0 * lag), 32, 0.003, 1e-6)
            found[name] = Row(name, f"LSTM, lag {lag}"), long
        for lag in LAGS[:2]:
            name = f"lstm1997 lag={lag}"
            old = truncated(LSTM1997(), 32, 0.003, 1e-6)
            found[name] = Row(name, f"LSTM of 1997, lag {lag}"), old
        name = f"rnn lag={LAGS[0]}"
        found[name] = Row(name, f"plain RNN, exact, lag {LAGS[0]}"), exact(RNN(), 8, 0.003, 1e-6)
        return found
