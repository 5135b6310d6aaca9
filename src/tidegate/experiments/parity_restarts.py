"""Parity once more: streams that end at the first error are a curriculum of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from tidegate import cells
from tidegate.experiments.base import Experiment, Row, Trial
from tidegate.experiments.claims import AtLeast, AtMost
from tidegate.experiments.sources import restarted
from tidegate.experiments.training_streams import Protocol, run_protocol
from tidegate.learn import Adam, Harmonic, Learner, Network, Softmax
from tidegate.tasks import Parity, correct

__all__ = ["ParityRestarts"]

FOLLOWING = ("lstm", "peephole", "gru", "slstm", "elstm", "janet")
BLIND = ("min_gru", "min_lstm")
NOT_SEEN = "gates that do not see h cannot follow a state"


class ParityRestarts(Experiment):
    """As parity, but a stream ends at the first error, and the next begins with empty memory.

    >>> [row.name for row in ParityRestarts().rows()][-2:]
    ['min_gru', 'min_lstm']
    """

    name: ClassVar[str] = "parity-restarts"
    title: ClassVar[str] = "Parity, begun anew after each error"
    source: ClassVar[str] = "a common yardstick, under the protocol of Gers and others (2000)"
    protocol: ClassVar[str] = (
        "Streams of fair bits, the parity so far asked after each. A stream ends with the first "
        "wrong answer (learned from too) or after 1,000 bits; the next begins with empty memory. "
        "8 units, Adam 0.01 / (1 + t/30,000), eps 1e-3: all as in parity, but for the restarts. "
        "After each stream ten test streams of 10,000 bits with frozen weights."
    )
    criterion: ClassVar[str] = "ten fresh streams of 10,000 bits without an error"
    unit: ClassVar[str] = "training streams"
    budget: ClassVar[int] = 20_000
    trials: ClassVar[int] = 20
    quick: ClassVar[tuple[int, int]] = (2, 500)
    measure: ClassVar[str] = "mean test stream, bits"
    picture: ClassVar[str] = (
        "  bit     1 1 0 1     0 1 1 ...     (wrong at the fourth bit: another stream)\n"
        "  answer  1 0 0 1     0 1 0 ..."
    )
    wanting: ClassVar[str] = (
        "What an endless stream does not teach (see parity), streams that end at the first error "
        "teach within some thousand bits: they are short while the net knows little, so its memory "
        "is never wrong for long, and they grow as it learns. Cells whose gates see only the "
        "input cannot do it in one layer, whatever the protocol."
    )

    def rows(self) -> Sequence[Row]:
        """Cells whose gates see h or their own memory, and two whose gates do not."""
        able = [Row(name, name, "", AtLeast(0.8)) for name in FOLLOWING]
        return able + [Row(name, f"{name}, one layer", NOT_SEEN, AtMost(0.0)) for name in BLIND]

    def trial(self, row: str, seed: int, budget: int) -> Trial:
        """One net, trained until a test is perfect or ``budget`` streams are used up."""
        own, streams = np.random.SeedSequence(seed).spawn(2)
        net = Learner(
            Network(Parity.inputs, Parity.outputs, cell=cells.named(row, "parity"), units=8),
            Softmax(),
            Adam(Harmonic(0.01, tau=3e4), eps=1e-3),
            seed=int(own.generate_state(1)[0]),
        )
        protocol = Protocol(
            restarted(Parity()), correct, limit=1_000, streams=budget, tests_longer=10
        )
        found = run_protocol(net, protocol, streams)
        return Trial(
            found.solved, found.symbols, found.streams, found.retest, measure=found.test_length
        )
