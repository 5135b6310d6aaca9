"""Losses as code: the prediction from the logits, the error from the target, its clipping."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import SimpleNamespace

from tidegate._core.errors import UsageError
from tidegate.kernels import functions
from tidegate.kernels.emit import Emitter, Index, Variable
from tidegate.kernels.frame import FrameCode
from tidegate.kernels.plan import CLIPPED, MISSING, Loss, PointwiseLoss, SharedLoss
from tidegate.kernels.vector import DOUBLE, Mask, Vector

__all__ = ["LossCode", "loss_code"]


class LossCode(ABC):
    """Writes a loss into a function.

    Args:
        code: the function.
        frame: its words.
        lanes: outputs per vector.
    """

    def __init__(self, code: Emitter, frame: FrameCode, lanes: int) -> None:
        self.code, self.frame, self.lanes = code, frame, lanes
        self.outputs, self.targets = frame.size("outputs"), frame.size("targets")

    @abstractmethod
    def predict(self, step: Index) -> None:
        """Write the prediction of a step."""

    @abstractmethod
    def error(self, step: Index) -> Index:
        """Write d loss / d logits to ``delta``; how many targets are known."""

    def clip(self, flags: Variable[Index]) -> None:
        """Shorten an error that is too long, and say so."""
        delta, length = self.frame.reals("delta"), self.code.variable(self._zero_doubles())
        with self.code.loop(self._blocks()) as k:
            mask = self._outputs_from(k)
            part = mask.select(delta.load(k * self.lanes, width=self.lanes), 0.0).to(DOUBLE)
            length.value = part.fma(part, length.value)
        norm, limit = functions.sqrt(length.value.total()), self.frame.double("clip")
        with self.code.when(norm > limit):
            factor = (limit / norm).to(self.code.precision).spread(self.lanes)
            with self.code.loop(self._blocks()) as k:
                shortened = delta.load(k * self.lanes, width=self.lanes) * factor
                delta.store(shortened, k * self.lanes)
            flags.value = flags.value | self.code.index(CLIPPED)

    def _blocks(self) -> Index:
        return (self.outputs + (self.lanes - 1)) // self.lanes

    def _outputs_from(self, block: Index) -> Mask:
        """The lanes of a vector of outputs that are outputs, not padding."""
        return self.code.lane_numbers(self.lanes, block * self.lanes) < self.outputs

    def _zero_doubles(self) -> Vector:
        return self.code.number(0.0, width=self.lanes).to(DOUBLE)


class PointwiseCode(LossCode):
    """A sum over targets: each has its own logits, one for every part, met one by one."""

    def __init__(self, code: Emitter, frame: FrameCode, lanes: int, loss: PointwiseLoss) -> None:
        super().__init__(code, frame, lanes)
        self.loss = loss

    def predict(self, step: Index) -> None:
        place = self.frame.reals("prediction").at(step * self.outputs)
        with self.code.loop(self.targets) as k:
            means = self.loss.means(self._logit(k))
            for n, part in enumerate(self.loss.parts):
                place.store(self._vector(means[part]), self.targets * n + k)

    def error(self, step: Index) -> Index:
        targets, delta = self.frame.doubles("target"), self.frame.reals("delta")
        known = self.code.variable(self.code.index(0))
        with self.code.loop(self.targets) as k:
            given = targets.load(step * self.targets + k)
            finite = functions.absolute(given) < float("inf")
            target = finite.select(given, 0.0).to(self.code.precision)
            slopes = self.loss.slopes(self._logit(k), target)
            for n, part in enumerate(self.loss.parts):
                slope = finite.select(self._vector(slopes[part]), 0.0)
                delta.store(slope, self.targets * n + k)
            known.value = known.value + self.code.flag(finite, 1)
        return known.value

    def _logit(self, k: Index) -> SimpleNamespace:
        logits = self.frame.reals("logits")
        return SimpleNamespace(
            **{part: logits.load(self.targets * n + k) for n, part in enumerate(self.loss.parts)}
        )

    def _vector(self, value: Vector | float) -> Vector:
        return value if isinstance(value, Vector) else self.code.number(value)


class SoftmaxCode(LossCode):
    """Softmax with cross-entropy: all outputs share one total."""

    def predict(self, step: Index) -> None:
        prediction = self.frame.reals("prediction").at(step * self.outputs)
        shares = self.frame.reals("shares")
        total = self._powers()
        with self.code.loop(self._blocks()) as k:
            share = shares.load(k * self.lanes, width=self.lanes) / total
            shares.store(share, k * self.lanes)
            prediction.store_where(self._outputs_from(k), share, k * self.lanes)

    def error(self, step: Index) -> Index:
        """A target that names no class counts as missing."""
        shares, delta = self.frame.reals("shares"), self.frame.reals("delta")
        given = self.frame.doubles("target").load(step)
        known = (given > -1.0) & (given < self.outputs.real(DOUBLE))
        target = Index.of(known.select(given, -1.0))
        with self.code.loop(self._blocks()) as k:
            chosen = self.code.lane_numbers(self.lanes, k * self.lanes).equals(target)
            share = shares.load(k * self.lanes, width=self.lanes)
            error = chosen.select(share - 1.0, share)
            delta.store(known.select(error, error.like(0.0)), k * self.lanes)
        return self.code.flag(known, 1)

    def _powers(self) -> Vector:
        """exp(logit - largest logit) to ``shares``; their sum, in every lane."""
        logits, shares = self.frame.reals("logits"), self.frame.reals("shares")
        lowest = self.code.number(float("-inf"), width=self.lanes)
        largest, total = self.code.variable(lowest), self.code.variable(lowest.like(0.0))
        with self.code.loop(self._blocks()) as k:
            logit = logits.load(k * self.lanes, width=self.lanes)
            largest.value = self._outputs_from(k).select(logit, lowest).larger(largest.value)
        highest = largest.value.highest()
        with self.code.loop(self._blocks()) as k:
            power = functions.exp(logits.load(k * self.lanes, width=self.lanes) - highest)
            power = self._outputs_from(k).select(power, 0.0)
            shares.store(power, k * self.lanes)
            total.value = total.value + power
        return total.value.total().spread(self.lanes)


def loss_code(code: Emitter, frame: FrameCode, lanes: int, loss: Loss) -> LossCode:
    """The code of a loss, by its family.

    Raises:
        UsageError: a loss of neither family.
    """
    if isinstance(loss, PointwiseLoss):
        return PointwiseCode(code, frame, lanes, loss)
    if isinstance(loss, SharedLoss):
        return SoftmaxCode(code, frame, lanes)
    raise UsageError(
        type(loss).__name__,
        "a PointwiseLoss or a SharedLoss",
        "another kind of loss",
        "Derive it from one of them, or set TIDEGATE_REFERENCE=1.",
    )


def missing_flag(code: Emitter, known: Index, targets: Index) -> Index:
    """MISSING where not all targets are known."""
    return code.flag(known < targets, MISSING)
