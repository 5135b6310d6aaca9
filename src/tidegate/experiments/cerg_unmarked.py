"""The continual embedded Reber grammar without the B and the E of the outer string."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from tidegate.experiments.base import Experiment, Figure, Row, Trial
from tidegate.experiments.cerg import ALPHA, CELLS, SEQUENTIAL
from tidegate.experiments.claims import AtMost, Possible
from tidegate.experiments.criteria import near
from tidegate.experiments.gate_figure import gate_figure, solving_net
from tidegate.experiments.paper_net import paper_learner
from tidegate.experiments.sources import symbols
from tidegate.experiments.training_streams import Protocol, run_protocol
from tidegate.learn import Schedule
from tidegate.tasks import UnmarkedReber

__all__ = ["CergUnmarked"]


class CergUnmarked(Experiment):
    """Forget gates find where strings end although nothing marks it.

    >>> [row.name for row in CergUnmarked().rows()]
    ['standard', 'forget', 'forget-decay']
    """

    name: ClassVar[str] = "cerg-unmarked"
    title: ClassVar[str] = "Continual embedded Reber grammar without end marks"
    source: ClassVar[str] = "Gers, Schmidhuber & Cummins, Neural Computation 12 (2000), section 4"
    protocol: ClassVar[str] = (
        "As cerg with 424 weights, on strings without their outer B and E (those of the inner "
        "Reber string stay): 10 symbols in the mean."
    )
    criterion: ClassVar[str] = "A: every output within 0.49 of its target"
    unit: ClassVar[str] = "training streams"
    budget: ClassVar[int] = 30_000
    trials: ClassVar[int] = 20
    quick: ClassVar[tuple[int, int]] = (2, 3_000)
    measure: ClassVar[str] = "mean test stream, symbols"
    picture: ClassVar[str] = (
        "  ... P BTXSE P T BPVVE T ...   (marked: B P BTXSE P E  B T BPVVE T E)"
    )
    wanting: ClassVar[str] = (
        "The journal states that forget gates still reach perfect solutions, at a lower rate; the "
        "number was not to be found, so the rows are held to what is stated only."
    )

    def rows(self) -> Sequence[Row]:
        """The standard LSTM, and forget gates with both rates."""
        solved = "solved, less often than with marks; number not found"
        return [
            Row("standard", "standard LSTM (360 weights)", "0 %", AtMost(0.0)),
            Row("forget", "LSTM with forget gates (424 weights)", solved, Possible()),
            Row(
                SEQUENTIAL,
                "forget gates, alpha decay",
                solved,
                Possible(),
                stands=False,
                note="Alpha decay: the journal gives no number for this row.",
            ),
        ]

    def trial(self, row: str, seed: int, budget: int) -> Trial:
        """One net, trained until a test is perfect or ``budget`` streams are used up."""
        rate: float | Schedule = ALPHA if row == SEQUENTIAL else 0.5
        own, streams = np.random.SeedSequence(seed).spawn(2)
        net = paper_learner(CELLS[row], int(own.generate_state(1)[0]), rate)
        fresh = row == SEQUENTIAL
        protocol = Protocol(symbols(UnmarkedReber()), near, streams=budget, fresh_rate=fresh)
        found = run_protocol(net, protocol, streams)
        return Trial(
            found.solved, found.symbols, found.streams, found.retest, measure=found.test_length
        )

    def figures(self, seed: int) -> Sequence[Figure]:
        """The forget gates of one net over a test stream."""
        protocol = Protocol(symbols(UnmarkedReber()), near, streams=self.budget)
        return [gate_figure(solving_net(protocol, seed), UnmarkedReber(), seed, steps=70)]
