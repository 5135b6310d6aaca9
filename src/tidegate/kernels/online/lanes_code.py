"""Many online learners of one shape side by side: one module of code whose lanes are learners.

The layers, the readout and the rules are those of a single learner; what differs is written here:
every lane has an input, a target, an error and a number of updates of its own. Nothing is summed
over lanes, so a learner's bits do not depend on its neighbours.
"""

from __future__ import annotations

import llvmlite.ir as ir  # type: ignore[import-untyped]

from tidegate.kernels.code import functions
from tidegate.kernels.code.cpu import Target, flushing
from tidegate.kernels.code.emit import Emitter, Index, Reals, Variable, Words
from tidegate.kernels.code.vector import DOUBLE, LLVM, Bits, Mask, Vector
from tidegate.kernels.online import pass_code
from tidegate.kernels.online.arrangement import LearnerLanes
from tidegate.kernels.online.frame import FrameCode
from tidegate.kernels.online.layer_code import layer_codes
from tidegate.kernels.online.loss_code import FAR, LossCode, PointwiseCode
from tidegate.kernels.online.online_code import OnlineCode
from tidegate.kernels.online.readout_code import ReadoutCode
from tidegate.kernels.online.update_code import UpdateCode, coefficient_names
from tidegate.kernels.plan import CAPPED, CLIPPED, INPUT_LIMIT, MISSING, PointwiseLoss

__all__ = ["LANE_FUNCTIONS", "lanes_text"]

LANE_FUNCTIONS = ("learn", "project")


def lanes_text(spec: OnlineCode, target: Target) -> str:
    """The LLVM text for learners in ``spec.lanes`` lanes."""
    module = ir.Module("lanes")
    for name, write in (("learn", _learn), ("project", _project)):
        function = _Function(spec, module, f"{name}.body")
        write(function)
        function.code.finish()
        flushing(function.code.function, name, target)
    return str(module)


class _Function:
    """A function of the module while it is being written."""

    def __init__(self, spec: OnlineCode, module: LLVM, name: str) -> None:
        self.spec, self.lanes = spec, spec.lanes
        self.code = Emitter(module, name, {"frame": Words}, spec.precision)
        self.frame = FrameCode(self.code.arguments[0], len(spec.cells), spec.precision)
        arrangement = LearnerLanes(spec.lanes)
        self.layers = layer_codes(self.code, self.frame, spec.cells, arrangement)
        self.readout = ReadoutCode(self.code, self.frame, arrangement, spec.group)
        self.loss = _loss_code(self.code, self.frame, spec)

    def see(self, step: Index) -> Variable[Bits]:
        """Clean the inputs of a step, as the reference does; the flags so far."""
        code, lanes, inputs = self.code, self.lanes, self.frame.size("inputs")
        x, seen = self.frame.doubles("x"), self.frame.reals("seen")
        flags = code.variable(code.bits(0, width=lanes))
        with code.loop(inputs) as k:
            given = x.load((step * inputs + k) * lanes, width=lanes)
            finite = functions.absolute(given) < float("inf")
            value = finite.select(given, 0.0)
            far = functions.absolute(value) > INPUT_LIMIT
            value = functions.maximum(functions.minimum(value, INPUT_LIMIT), -INPUT_LIMIT)
            seen.store(value.to(self.spec.precision), k * lanes)
            flags.value = flags.value | (~finite).flag(MISSING) | far.flag(CAPPED)
        return flags

    def update(self, learning: Mask) -> UpdateCode:
        """The update by every lane's own coefficients, where it learns."""
        names, lanes = coefficient_names(self.spec.optimiser), self.lanes
        count = len(names) + self.spec.averaging
        gathered = self._gathered(count)
        values = [gathered.load(k * lanes, width=lanes) for k in range(count)]
        coefficients = dict(zip(names, values, strict=False))
        share = values[-1] if self.spec.averaging else None
        stride = self.frame.size("stride")
        return UpdateCode(self.spec.optimiser, stride, coefficients, share, learning)

    def _gathered(self, count: int) -> Reals:
        """The rows of the table that the lanes are at, coefficient by coefficient."""
        table, gathered = self.frame.reals("table"), self.frame.reals("coefficients")
        updates, rows = self.frame.words("lane_updates"), self.frame.words("table_rows")
        with self.code.loop(self.lanes) as lane:
            row = table.at((updates.count(lane) + rows.count(lane)) * count)
            for k in range(count):
                gathered.store(row.load(k), lane + k * self.lanes)
        return gathered


def _learn(f: _Function) -> None:
    with f.code.loop(f.frame.size("steps")) as step:
        flags = f.see(step)
        for layer in f.layers:
            layer.step()
        f.readout.logits()
        known, missing = f.loss.meet(step)
        flags.value = flags.value | missing.flag(MISSING)
        _clip(f.loss, flags)
        update = f.update(known)
        f.readout.learn(update)
        pass_code.learn_down(f.layers, update)
        f.frame.words("lane_updates").count_up(known)
        for layer in f.layers:
            layer.adopt()
        f.frame.flags("flag").store(flags.value, step * f.lanes)


def _project(f: _Function) -> None:
    for layer in f.layers:
        layer.project()


def _clip(loss: LossCode, flags: Variable[Bits]) -> None:
    """Shorten the errors that are too long, lane by lane, and say so."""
    code, frame, lanes = loss.code, loss.frame, loss.width
    delta, limit = frame.reals("delta"), frame.double("clip")
    norm = functions.sqrt(loss.square.value)
    long = norm > limit
    with code.when(long.any()):
        factor = long.select(limit.spread(lanes) / norm, 1.0).to(code.precision)
        with code.loop(loss.outputs) as k:
            delta.store(delta.load(k * lanes, width=lanes) * factor, k * lanes)
        flags.value = flags.value | long.flag(CLIPPED)


class _SoftmaxCode(LossCode):
    """Softmax with cross-entropy, output after output."""

    def predict(self, step: Index) -> None:
        total = self._powers()
        with self.code.loop(self.outputs) as k:
            self._predict_one(step, k, total)

    def meet(self, step: Index) -> tuple[Mask, Mask]:
        place, delta = step * self.width, self.frame.reals("delta")
        given = self.frame.doubles("target").load(place, width=self.width)
        known = functions.absolute(given) < float("inf")
        self.square.value = self._no_square()
        total = self._powers()
        with self.code.loop(self.outputs) as k:
            share = self._predict_one(step, k, total)
            number = k.real(DOUBLE)
            chosen = (given >= number) & (given <= number)
            error = known.select(chosen.select(share - 1.0, share), 0.0)
            delta.store(error, k * self.width)
            self._add_square(error)
        return known, ~known

    def _predict_one(self, step: Index, k: Index, total: Vector) -> Vector:
        share = self.frame.reals("powers").load(k * self.width, width=self.width) / total
        prediction = self.frame.reals("prediction")
        prediction.store(share, (step * self.outputs + k) * self.width)
        return share

    def _powers(self) -> Vector:
        """exp(logit - shift) to ``powers``; their sum."""
        logits, powers = self.frame.reals("logits"), self.frame.reals("powers")
        shift, total = self._shift(), self.code.variable(self.code.number(0.0, width=self.width))
        with self.code.loop(self.outputs) as k:
            power = functions.exp(logits.load(k * self.width, width=self.width) - shift)
            powers.store(power, k * self.width)
            total.value = total.value + power
        return total.value

    def _shift(self) -> Vector:
        """The largest logit in the lanes where one is far from 0, else 0, as a single learner."""
        logits, code = self.frame.reals("logits"), self.code
        largest = code.variable(code.number(float("-inf"), width=self.width))
        farthest = code.variable(code.number(0.0, width=self.width))
        with code.loop(self.outputs) as k:
            logit = logits.load(k * self.width, width=self.width)
            largest.value = logit.larger(largest.value)
            farthest.value = functions.absolute(logit).larger(farthest.value)
        return (farthest.value > FAR).select(largest.value, 0.0)


def _loss_code(code: Emitter, frame: FrameCode, spec: OnlineCode) -> LossCode:
    if isinstance(spec.loss, PointwiseLoss):
        return PointwiseCode(code, frame, spec.lanes, spec.loss)
    return _SoftmaxCode(code, frame, spec.lanes)
