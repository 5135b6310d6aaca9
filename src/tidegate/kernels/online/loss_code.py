"""Losses as code: the prediction from the logits, the error from the target, its clipping."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import SimpleNamespace

from tidegate._core.errors import UsageError
from tidegate.kernels.code import functions
from tidegate.kernels.code.emit import Emitter, Index, Variable
from tidegate.kernels.code.vector import DOUBLE, Bits, Mask, Vector
from tidegate.kernels.online.frame import FrameCode
from tidegate.kernels.plan import CLIPPED, Loss, PointwiseLoss, SharedLoss

__all__ = ["LossCode", "PointwiseCode", "clip", "loss_code"]


FAR = 40.0
"""Logits within this of 0 have powers, and a sum of powers, that single precision holds."""


class LossCode(ABC):
    """Writes a loss into a function.

    Args:
        code: the function.
        frame: its words.
        width: numbers met at once: of outputs, or of learners.

    Attributes:
        square: of the error's length, number by number, after :meth:`meet`.
    """

    def __init__(self, code: Emitter, frame: FrameCode, width: int) -> None:
        self.code, self.frame, self.width = code, frame, width
        self.outputs, self.targets = frame.size("outputs"), frame.size("targets")
        self.square = code.variable(self._no_square())

    @abstractmethod
    def predict(self, step: Index) -> None:
        """Write the prediction of a step."""

    @abstractmethod
    def meet(self, step: Index) -> tuple[Mask, Mask]:
        """Write the prediction and d loss / d logits (``delta``).

        Returns:
            whether a target is known, and whether one is missing.
        """

    def _add_square(self, error: Vector) -> None:
        part = error.to(DOUBLE)
        self.square.value = part.fma(part, self.square.value)

    def _no_square(self) -> Vector:
        return self.code.number(0.0, width=self.width).to(DOUBLE)


class PointwiseCode(LossCode):
    """A sum over targets: each has its own logits, one for every part, met one by one."""

    def __init__(self, code: Emitter, frame: FrameCode, width: int, loss: PointwiseLoss) -> None:
        super().__init__(code, frame, width)
        self.loss = loss

    def predict(self, step: Index) -> None:
        with self.code.loop(self.targets) as k:
            self._predict_one(step, k)

    def meet(self, step: Index) -> tuple[Mask, Mask]:
        nothing = self.code.bits(0, width=self.width)
        known, missing = self.code.variable(nothing), self.code.variable(nothing)
        self.square.value = self._no_square()
        with self.code.loop(self.targets) as k:
            self._predict_one(step, k)
            finite = self._meet_one(step, k)
            known.value = known.value | finite.flag(1)
            missing.value = missing.value | (~finite).flag(1)
        return known.value >= 1, missing.value >= 1

    def _predict_one(self, step: Index, k: Index) -> None:
        place = self.frame.reals("prediction").at(step * self.outputs * self.width)
        means = self.loss.means(self._logit(k))
        for n, part in enumerate(self.loss.parts):
            place.store(self._vector(means[part]), (self.targets * n + k) * self.width)

    def _meet_one(self, step: Index, k: Index) -> Mask:
        place = (step * self.targets + k) * self.width
        given = self.frame.doubles("target").load(place, width=self.width)
        finite = functions.absolute(given) < float("inf")
        target = finite.select(given, 0.0).to(self.code.precision)
        slopes = self.loss.slopes(self._logit(k), target)
        for n, part in enumerate(self.loss.parts):
            slope = finite.select(self._vector(slopes[part]), 0.0)
            self.frame.reals("delta").store(slope, (self.targets * n + k) * self.width)
            self._add_square(slope)
        return finite

    def _logit(self, k: Index) -> SimpleNamespace:
        logits = self.frame.reals("logits")
        places = {p: (self.targets * n + k) * self.width for n, p in enumerate(self.loss.parts)}
        loaded = {part: logits.load(at, width=self.width) for part, at in places.items()}
        return SimpleNamespace(**loaded)

    def _vector(self, value: Vector | float) -> Vector:
        if isinstance(value, Vector):
            return value
        return self.code.number(value, width=self.width)


class SoftmaxCode(LossCode):
    """Softmax with cross-entropy: all outputs share one total, a vector of outputs at a time."""

    def predict(self, step: Index) -> None:
        total = self._powers()
        with self.code.loop(self._blocks()) as k:
            self._predict_block(step, k, total)

    def meet(self, step: Index) -> tuple[Mask, Mask]:
        """A target that names no class counts as missing."""
        delta, given = self.frame.reals("delta"), self.frame.doubles("target").load(step)
        known = (given > -1.0) & (given < self.outputs.real(DOUBLE))
        target = Index.of(known.select(given, -1.0))
        total = self._powers()
        self.square.value = self._no_square()
        with self.code.loop(self._blocks()) as k:
            share = self._predict_block(step, k, total)
            chosen = self.code.lane_numbers(self.width, k * self.width).equals(target)
            error = chosen.select(share - 1.0, share)
            error = known.select(error, error.like(0.0))
            delta.store(error, k * self.width)
            self._add_square(error)
        return known, ~known

    def _blocks(self) -> Index:
        return (self.outputs + (self.width - 1)) // self.width

    def _predict_block(self, step: Index, k: Index, total: Vector) -> Vector:
        prediction = self.frame.reals("prediction").at(step * self.outputs)
        power = self.frame.reals("powers").load(k * self.width, width=self.width)
        share = power / total
        prediction.store_where(self._real(k), share, k * self.width)
        return share

    def _powers(self) -> Vector:
        """exp(logit - shift) to ``powers``; their sum, in every lane."""
        logits, powers = self.frame.reals("logits"), self.frame.reals("powers")
        shift = self._shift()
        total = self.code.variable(self.code.number(0.0, width=self.width))
        with self.code.loop(self._blocks()) as k:
            power = functions.exp(logits.load(k * self.width, width=self.width) - shift)
            power = self._real(k).select(power, 0.0)
            powers.store(power, k * self.width)
            total.value = total.value + power
        return total.value.total().spread(self.width)

    def _shift(self) -> Vector:
        """The largest logit where one is far from 0, else 0.

        Only far logits need it, and the processor guesses that there are none: so what comes after
        does not wait for the largest to be found.
        """
        logits, code = self.frame.reals("logits"), self.code
        lowest = code.number(float("-inf"), width=self.width)
        shift, far = code.variable(code.number(0.0)), code.variable(code.index(0))
        with code.loop(self._blocks()) as k:
            logit = self._real(k).select(logits.load(k * self.width, width=self.width), 0.0)
            far.value = far.value + code.flag((functions.absolute(logit) > FAR).any(), 1)
        with code.when(far.value >= 1):
            largest = code.variable(lowest)
            with code.loop(self._blocks()) as k:
                logit = logits.load(k * self.width, width=self.width)
                largest.value = self._real(k).select(logit, lowest).larger(largest.value)
            shift.value = largest.value.highest()
        return shift.value

    def _real(self, block: Index) -> Mask:
        """The lanes of a vector of outputs that are outputs, not padding."""
        return self.code.lane_numbers(self.width, block * self.width) < self.outputs


def clip(loss: LossCode, flags: Variable[Bits]) -> None:
    """Shorten an error that is too long, and say so; after ``loss.meet``."""
    code, frame, width = loss.code, loss.frame, loss.width
    delta = frame.reals("delta")
    norm, limit = functions.sqrt(loss.square.value.total()), frame.double("clip")
    with code.when(norm > limit):
        factor = (limit / norm).to(code.precision).spread(width)
        with code.loop((loss.outputs + (width - 1)) // width) as k:
            delta.store(delta.load(k * width, width=width) * factor, k * width)
        flags.value = flags.value | (norm > limit).flag(CLIPPED)


def loss_code(code: Emitter, frame: FrameCode, group: int, loss: Loss) -> LossCode:
    """The code of a loss, by its family, for one learner.

    Args:
        group: outputs per group of the readout; softmax meets as many at once.

    Raises:
        UsageError: a loss of neither family.
    """
    if isinstance(loss, PointwiseLoss):
        return PointwiseCode(code, frame, 1, loss)
    if isinstance(loss, SharedLoss):
        return SoftmaxCode(code, frame, max(2, 1 << (group - 1).bit_length()))
    raise UsageError(
        type(loss).__name__,
        "a PointwiseLoss or a SharedLoss",
        "another kind of loss",
        "Derive it from one of them, or set TIDEGATE_REFERENCE=1.",
    )
