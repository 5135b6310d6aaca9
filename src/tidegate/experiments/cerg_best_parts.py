"""What each part of the recipe for the continual embedded Reber grammar gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from tidegate.cells import LSTM, LSTM1997, Cell
from tidegate.experiments.base import Experiment, Row, Trial
from tidegate.experiments.cerg_best import JITTER, MEMBERS, PUBLISHED, SETTLING, softmax_member
from tidegate.experiments.claims import AtMost
from tidegate.experiments.mixture import Mixture
from tidegate.experiments.never_ending import Endless, run_endless
from tidegate.tasks import Reber, correct

__all__ = ["CergBestParts"]

#: row -> cell, members, jitter
PARTS: dict[str, tuple[Cell, int, float]] = {
    "no-jitter": (SETTLING, MEMBERS, 0.0),
    "one-net": (SETTLING, 1, JITTER),
    "lstm": (LSTM(forget_bias=2.0), MEMBERS, JITTER),
    "control": (LSTM1997(), MEMBERS, JITTER),
}


class CergBestParts(Experiment):
    """The recipe of cerg-best with one part taken away at a time.

    >>> [row.name for row in CergBestParts().rows()]
    ['no-jitter', 'one-net', 'lstm', 'control']
    """

    name: ClassVar[str] = "cerg-best-parts"
    title: ClassVar[str] = "Continual embedded Reber grammar, our recipe in parts"
    source: ClassVar[str] = "ours; compared with Table 2 of Gers, Schmidhuber & Cummins (2000)"
    protocol: ClassVar[str] = (
        "As in cerg-best, with one part changed: inputs without noise; one net in place of "
        f"{MEMBERS}; LSTMs (forget bias 2) in place of coupled gates; LSTMs of 1997, which cannot "
        "forget."
    )
    criterion: ClassVar[str] = "C: 10 x 100,000 symbols without an error"
    budget: ClassVar[int] = 100_000
    trials: ClassVar[int] = 20
    quick: ClassVar[tuple[int, int]] = (2, 10_000)
    measure: ClassVar[str] = "errors in 10^6"
    picture: ClassVar[str] = "  ... BPBTXSEPEBTBPVVETE ...   (see cerg)"
    wanting: ClassVar[str] = (
        "The published figures are of another protocol and shown beside ours; only the control, "
        "which must fail, has a verdict."
    )

    def rows(self) -> Sequence[Row]:
        """One part changed in each."""
        return [
            Row("no-jitter", "inputs without noise", PUBLISHED),
            Row("one-net", "one net alone", PUBLISHED),
            Row("lstm", "LSTMs, forget bias 2", PUBLISHED),
            Row("control", "LSTMs of 1997, no forget gate", "0 %", AtMost(0.0)),
        ]

    def trial(self, row: str, seed: int, budget: int) -> Trial:
        """One stream, learned until a test is passed, and on."""
        cell, count, jitter = PARTS[row]
        own, streams = np.random.SeedSequence(seed).spawn(2)
        members = [softmax_member(cell, int(s)) for s in own.generate_state(count)]
        mixture = Mixture(members, jitter=jitter, seed=seed)
        return run_endless(mixture, Endless(Reber(), correct), streams, budget)
