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


FAR = 40.0
"""Logits within this of 0 have powers, and a sum of powers, that single precision holds."""


class LossCode(ABC):
    """Writes a loss into a function.

    Args:
        code: the function.
        frame: its words.
        lanes: outputs per vector.

    Attributes:
        square: of the error's length, lane by lane, after :meth:`meet`.
    """

    def __init__(self, code: Emitter, frame: FrameCode, lanes: int) -> None:
        self.code, self.frame, self.lanes = code, frame, lanes
        self.outputs, self.targets = frame.size("outputs"), frame.size("targets")
        self.square = code.variable(self._no_square())

    @abstractmethod
    def predict(self, step: Index) -> None:
        """Write the prediction of a step."""

    @abstractmethod
    def meet(self, step: Index) -> Index:
        """Write the prediction and d loss / d logits (``delta``); how many targets are known."""

    def clip(self, flags: Variable[Index]) -> None:
        """Shorten an error that is too long, and say so."""
        delta = self.frame.reals("delta")
        norm, limit = functions.sqrt(self.square.value.total()), self.frame.double("clip")
        with self.code.when(norm > limit):
            factor = (limit / norm).to(self.code.precision).spread(self.lanes)
            with self.code.loop(self._blocks()) as k:
                shortened = delta.load(k * self.lanes, width=self.lanes) * factor
                delta.store(shortened, k * self.lanes)
            flags.value = flags.value | self.code.index(CLIPPED)

    def _add_square(self, error: Vector) -> None:
        part = error.to(DOUBLE)
        self.square.value = part.fma(part, self.square.value)

    def _no_square(self) -> Vector:
        return self.code.number(0.0, width=self.lanes).to(DOUBLE)

    def _blocks(self) -> Index:
        return (self.outputs + (self.lanes - 1)) // self.lanes


class PointwiseCode(LossCode):
    """A sum over targets: each has its own logits, one for every part, met one by one."""

    def __init__(self, code: Emitter, frame: FrameCode, loss: PointwiseLoss) -> None:
        super().__init__(code, frame, lanes=1)
        self.loss = loss

    def predict(self, step: Index) -> None:
        with self.code.loop(self.targets) as k:
            self._predict_one(step, k)

    def meet(self, step: Index) -> Index:
        known = self.code.variable(self.code.index(0))
        self.square.value = self._no_square()
        with self.code.loop(self.targets) as k:
            self._predict_one(step, k)
            known.value = known.value + self.code.flag(self._meet_one(step, k), 1)
        return known.value

    def _predict_one(self, step: Index, k: Index) -> None:
        place = self.frame.reals("prediction").at(step * self.outputs)
        means = self.loss.means(self._logit(k))
        for n, part in enumerate(self.loss.parts):
            place.store(self._vector(means[part]), self.targets * n + k)

    def _meet_one(self, step: Index, k: Index) -> Mask:
        given = self.frame.doubles("target").load(step * self.targets + k)
        finite = functions.absolute(given) < float("inf")
        target = finite.select(given, 0.0).to(self.code.precision)
        slopes = self.loss.slopes(self._logit(k), target)
        for n, part in enumerate(self.loss.parts):
            slope = finite.select(self._vector(slopes[part]), 0.0)
            self.frame.reals("delta").store(slope, self.targets * n + k)
            self._add_square(slope)
        return finite

    def _logit(self, k: Index) -> SimpleNamespace:
        logits = self.frame.reals("logits")
        places = {part: self.targets * n + k for n, part in enumerate(self.loss.parts)}
        return SimpleNamespace(**{part: logits.load(place) for part, place in places.items()})

    def _vector(self, value: Vector | float) -> Vector:
        return value if isinstance(value, Vector) else self.code.number(value)


class SoftmaxCode(LossCode):
    """Softmax with cross-entropy: all outputs share one total."""

    def predict(self, step: Index) -> None:
        total = self._powers()
        with self.code.loop(self._blocks()) as k:
            self._predict_block(step, k, total)

    def meet(self, step: Index) -> Index:
        """A target that names no class counts as missing."""
        delta, given = self.frame.reals("delta"), self.frame.doubles("target").load(step)
        known = (given > -1.0) & (given < self.outputs.real(DOUBLE))
        target = Index.of(known.select(given, -1.0))
        total = self._powers()
        self.square.value = self._no_square()
        with self.code.loop(self._blocks()) as k:
            share = self._predict_block(step, k, total)
            chosen = self.code.lane_numbers(self.lanes, k * self.lanes).equals(target)
            error = chosen.select(share - 1.0, share)
            error = known.select(error, error.like(0.0))
            delta.store(error, k * self.lanes)
            self._add_square(error)
        return self.code.flag(known, 1)

    def _predict_block(self, step: Index, k: Index, total: Vector) -> Vector:
        prediction = self.frame.reals("prediction").at(step * self.outputs)
        power = self.frame.reals("powers").load(k * self.lanes, width=self.lanes)
        share = power / total
        prediction.store_where(self._real(k), share, k * self.lanes)
        return share

    def _powers(self) -> Vector:
        """exp(logit - shift) to ``powers``; their sum, in every lane."""
        logits, powers = self.frame.reals("logits"), self.frame.reals("powers")
        shift = self._shift()
        total = self.code.variable(self.code.number(0.0, width=self.lanes))
        with self.code.loop(self._blocks()) as k:
            power = functions.exp(logits.load(k * self.lanes, width=self.lanes) - shift)
            power = self._real(k).select(power, 0.0)
            powers.store(power, k * self.lanes)
            total.value = total.value + power
        return total.value.total().spread(self.lanes)

    def _shift(self) -> Vector:
        """The largest logit where one is far from 0, else 0.

        Only far logits need it, and the processor guesses that there are none: so what comes after
        does not wait for the largest to be found.
        """
        logits, code = self.frame.reals("logits"), self.code
        lowest = code.number(float("-inf"), width=self.lanes)
        shift, far = code.variable(code.number(0.0)), code.variable(code.index(0))
        with code.loop(self._blocks()) as k:
            logit = self._real(k).select(logits.load(k * self.lanes, width=self.lanes), 0.0)
            far.value = far.value + code.flag((functions.absolute(logit) > FAR).any(), 1)
        with code.when(far.value >= 1):
            largest = code.variable(lowest)
            with code.loop(self._blocks()) as k:
                logit = logits.load(k * self.lanes, width=self.lanes)
                largest.value = self._real(k).select(logit, lowest).larger(largest.value)
            shift.value = largest.value.highest()
        return shift.value

    def _real(self, block: Index) -> Mask:
        """The lanes of a vector of outputs that are outputs, not padding."""
        return self.code.lane_numbers(self.lanes, block * self.lanes) < self.outputs


def loss_code(code: Emitter, frame: FrameCode, lanes: int, loss: Loss) -> LossCode:
    """The code of a loss, by its family.

    Raises:
        UsageError: a loss of neither family.
    """
    if isinstance(loss, PointwiseLoss):
        return PointwiseCode(code, frame, loss)
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
