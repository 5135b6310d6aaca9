"""Noisy temporal order, sequence by sequence: what the forget gate's bias costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from tidegate.cells import Cell
from tidegate.experiments.base import Experiment, Row, Trial
from tidegate.experiments.claims import AtLeast
from tidegate.experiments.cnto import within
from tidegate.experiments.paper_net import KeepingBlock, OpenBlock, paper_learner
from tidegate.experiments.sources import SymbolSource
from tidegate.tasks import TemporalOrder

__all__ = ["Nto"]

IN_A_ROW = 2_000
AT_ONCE = 4_096  # symbols; what is learned after the last sequence that counts is not asked for


CELLS: dict[str, Cell] = {
    "standard": KeepingBlock(),
    "bias-5": OpenBlock(forget_bias=5.0),
    "bias-1": OpenBlock(forget_bias=1.0),
}


class Nto(Experiment):
    """Each sequence with empty memories; the class at its end.

    >>> [row.name for row in Nto().rows()]
    ['standard', 'bias-5', 'bias-1']
    """

    name: ClassVar[str] = "nto"
    title: ClassVar[str] = "Noisy temporal order, single sequences"
    source: ClassVar[str] = (
        "Technical Report IDSIA-01-99 (1999), section 5 (in words); Hochreiter & Schmidhuber, "
        "Neural Computation 9 (1997), section 5.6.2"
    )
    protocol: ClassVar[str] = (
        "Sequences of 100 to 110 symbols, memories emptied before each; error at the trigger only. "
        "The learner of cerg with 8 inputs and outputs and shortcuts, rate 0.5."
    )
    criterion: ClassVar[str] = "2,000 sequences in a row with all outputs within 0.3"
    unit: ClassVar[str] = "sequences"
    budget: ClassVar[int] = 1_000_000
    trials: ClassVar[int] = 5
    quick: ClassVar[tuple[int, int]] = (1, 50_000)
    picture: ClassVar[str] = "  E adb X cab ... d Y bcd ... a X cc ... B"
    wanting: ClassVar[str] = (
        "The learning rate of the report is not given (0.1 in 1997, with three blocks)."
    )

    def rows(self) -> Sequence[Row]:
        """The standard LSTM, and forget gates that begin open or half-open."""
        stated = {
            "standard": ("standard LSTM", "solved, 571,100 sequences (1997)"),
            "bias-5": ("forget bias 5", "solved, as fast as standard"),
            "bias-1": ("forget bias 1", "solved, about 3 times slower"),
        }
        note = "The report gives no learning rate; ours is 0.5."
        return [
            Row(name, label, published, AtLeast(0.8), stands=False, note=note)
            for name, (label, published) in stated.items()
        ]

    def trial(self, row: str, seed: int, budget: int) -> Trial:
        """One net; sequences are given in the column of streams."""
        own, streams = (int(s) for s in np.random.SeedSequence(seed).generate_state(2))
        net = paper_learner(CELLS[row], own, symbols=TemporalOrder.inputs)
        source, in_a_row, symbols, sequences = SymbolSource(TemporalOrder(), streams), 0, 0, 0
        source.begin()
        while sequences < budget:
            piece = source.peek(AT_ONCE, questions=budget - sequences)
            outputs = net.run(source.inputs[piece], source.targets[piece], source.starts[piece])
            ends = np.flatnonzero(source.asked[piece])
            right = within(outputs[ends], source.wanted[piece][ends])
            for end, is_right in zip(ends.tolist(), right.tolist(), strict=True):
                sequences += 1
                in_a_row = in_a_row + 1 if is_right else 0
                if in_a_row == IN_A_ROW:
                    return Trial(True, symbols + end + 1, sequences)
            source.take(len(outputs))
            symbols += len(outputs)
        return Trial(False, symbols, budget)
