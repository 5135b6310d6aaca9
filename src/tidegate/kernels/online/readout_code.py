"""The linear readout as code.

Features are the top layer's hidden values, the input where the readout sees it, and the constant
1, padded to whole vectors. Outputs come in groups: one pass over the features makes the sums of a
group. Where lanes are units they are features here, and a shuffle network adds up the lanes of a
group's sums together.
"""

from __future__ import annotations

from tidegate.kernels.code.emit import Emitter, Index, Reals
from tidegate.kernels.online.arrangement import Arrangement
from tidegate.kernels.online.frame import FrameCode
from tidegate.kernels.online.update_code import UpdateCode

__all__ = ["ReadoutCode"]


class ReadoutCode:
    """Writes the readout into a function.

    Args:
        code: the function.
        frame: its words.
        arrangement: what lanes are.
        group: outputs per group.
    """

    def __init__(
        self, code: Emitter, frame: FrameCode, arrangement: Arrangement, group: int
    ) -> None:
        self.code, self.frame, self.group = code, frame, group
        self.arrangement, self.lanes = arrangement, arrangement.lanes
        self.blocks = frame.size("feature_blocks")

    def logits(self) -> None:
        """The logits of all outputs, from the features."""
        features, logits = self.frame.reals("features"), self.frame.reals("logits")
        with self.code.loop(self.frame.size("groups")) as group:
            zero = self.code.number(0.0, width=self.lanes)
            sums = [self.code.variable(zero) for _ in range(self.group)]
            with self.code.loop(self.blocks) as block:
                feature = features.load(block * self.lanes, width=self.lanes)
                weights = self._weights(group, block)
                for n, total in enumerate(sums):
                    weight = weights.load(n * self.lanes, width=self.lanes)
                    total.value = weight.fma(feature, total.value)
            values = [total.value for total in sums]
            self.arrangement.store_totals(values, logits, group * self.group)

    def learn(self, update: UpdateCode) -> None:
        """d loss / d features, with the weights before their update; then the update."""
        features, errors = self.frame.reals("features"), self.frame.reals("readout_error")
        delta, lanes = self.frame.reals("delta"), self.lanes
        with self.code.loop(self.frame.size("groups")) as group:
            slopes = [
                self.arrangement.value(delta, group * self.group + n) for n in range(self.group)
            ]
            with self.code.loop(self.blocks) as block:
                feature = features.load(block * lanes, width=lanes)
                weights = self._weights(group, block)
                before = errors.load(block * lanes, width=lanes)
                error = group.equals(0).select(before.like(0.0), before)
                for n, slope in enumerate(slopes):
                    weight = weights.load(n * lanes, width=lanes)
                    error = weight.fma(slope, error)
                    update(weights, n * lanes, weight, (slope, feature))
                errors.store(error, block * lanes)

    def _weights(self, group: Index, block: Index) -> Reals:
        vector = (group * self.blocks + block) * self.group
        return self.frame.reals("readout").at(vector * self.lanes)
