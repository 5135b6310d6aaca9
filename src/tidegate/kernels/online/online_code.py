"""The online learner of a network as one module of code.

``learn`` takes many steps, ``predict`` one that leaves no mark, ``frozen`` many with weights that
stay, ``project`` prepares the first step after a state was restored. All are told sizes and
addresses by a :class:`~tidegate.kernels.online.frame.Frame`, so the code knows the cells, the
loss and the optimiser, and no size.

A step of ``learn`` has the forward part of a prediction in it. Where ``predict`` has just made it
for the same input and nothing has changed since, its scratch is taken as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import llvmlite.ir as ir  # type: ignore[import-untyped]

from tidegate.calculus import Equations
from tidegate.kernels.code import functions
from tidegate.kernels.code.cpu import Target, flushing
from tidegate.kernels.code.emit import Emitter, Index, Variable, Words
from tidegate.kernels.code.vector import LLVM, Bits, Precision, Vector
from tidegate.kernels.online import pass_code
from tidegate.kernels.online.arrangement import UnitLanes
from tidegate.kernels.online.frame import FrameCode
from tidegate.kernels.online.layer_code import layer_codes
from tidegate.kernels.online.loss_code import clip, loss_code
from tidegate.kernels.online.readout_code import ReadoutCode
from tidegate.kernels.online.update_code import UpdateCode, coefficient_names
from tidegate.kernels.plan import CAPPED, INPUT_LIMIT, MISSING, Loss, Optimiser

__all__ = ["FUNCTIONS", "OnlineCode"]

FUNCTIONS = ("learn", "predict", "frozen", "project")


@dataclass(frozen=True)
class OnlineCode:
    """What the code of a learner depends on.

    Attributes:
        cells: the equations of every layer, from the input to the readout.
        loss: of the readout.
        optimiser: the update rule; None for a network that only predicts.
        averaging: whether an average of the weights is kept.
        precision: of all state.
        lanes: units per block.
        group: outputs per group of the readout.
    """

    cells: tuple[Equations, ...]
    loss: Loss
    optimiser: Optimiser
    averaging: bool
    precision: Precision
    lanes: int
    group: int

    def text(self, target: Target) -> str:
        """The LLVM text for a processor."""
        module = ir.Module("online")
        writers: dict[str, Callable[[_Function], None]] = {
            "learn": _learn,
            "predict": _predict,
            "frozen": _frozen,
            "project": _project,
        }
        forward = self._function(module, "forward.body")
        _forward(forward)
        forward.finish()
        for name, write in writers.items():
            function = self._function(module, f"{name}.body")
            function.forward = forward.code.function
            write(function)
            function.finish()
            flushing(function.code.function, name, target)
        return str(module)

    def _function(self, module: LLVM, name: str) -> _Function:
        return _Function(self, module, name)


class _Function:
    """A function of the module while it is being written, with all that it may call for."""

    def __init__(self, spec: OnlineCode, module: LLVM, name: str) -> None:
        self.spec = spec
        self.code = Emitter(module, name, {"frame": Words}, spec.precision)
        self.words: Words = self.code.arguments[0]
        self.frame = FrameCode(self.words, len(spec.cells), spec.precision)
        arrangement = UnitLanes(spec.lanes)
        self.layers = layer_codes(self.code, self.frame, spec.cells, arrangement)
        self.readout = ReadoutCode(self.code, self.frame, arrangement, spec.group)
        self.loss = loss_code(self.code, self.frame, spec.group, spec.loss)
        self.forward: LLVM = None

    def call_forward(self) -> None:
        """The forward part of a step, from the input seen to the logits."""
        self.code.builder.call(self.forward, [self.words.pointer])

    def see(self, step: Index) -> Variable[Bits]:
        """Clean the input of a step, as the reference does; the flags so far."""
        seen, flags = self.frame.reals("seen"), self.code.variable(self.code.bits(0))
        with self.code.loop(self.frame.size("input_blocks")) as k:
            x, found = self._cleaned(step, k)
            seen.store(x, k * self.spec.lanes)
            flags.value = flags.value | found
        return flags

    def stale(self) -> Index:
        """0 where the forward part of the first input is what :meth:`predict` left, else 1.

        Compared bit by bit, so that even the sign of a 0 is that of a forward part of its own.
        """
        first, fresh = self.code.index(0), self.frame.count("fresh")
        changed = self.code.variable(self.code.index(1) - fresh)
        with self.code.when(fresh >= 1), self.code.loop(self.frame.size("input_blocks")) as k:
            kept = self.frame.reals("seen").load(k * self.spec.lanes, width=self.spec.lanes)
            old, new = kept.bits(), self._cleaned(first, k)[0].bits()
            same = (old >= new) & (new >= old)
            changed.value = changed.value | self.code.flag((~same).any(), 1)
        return changed.value

    def set_fresh(self, number: int) -> None:
        """1: scratch holds the forward part of the input seen; 0: of no step to come."""
        self.frame.set_count("fresh", self.code.index(number))

    def _cleaned(self, step: Index, k: Index) -> tuple[Vector, Bits]:
        """Vector ``k`` of the input and the constant 1 that follows it; what was found in it."""
        code, lanes, inputs = self.code, self.spec.lanes, self.frame.size("inputs")
        numbers = code.lane_numbers(lanes, k * lanes)
        x = self.frame.doubles("x").at(step * inputs).load_where(numbers < inputs, k * lanes)
        finite = functions.absolute(x) < float("inf")
        x = finite.select(x, 0.0)
        far = functions.absolute(x) > INPUT_LIMIT
        x = functions.maximum(functions.minimum(x, INPUT_LIMIT), -INPUT_LIMIT)
        one = numbers.equals(inputs).select(x.like(1.0), 0.0)
        cleaned = (numbers < inputs).select(x, one).to(self.spec.precision)
        return cleaned, (~finite).any().flag(MISSING) | far.any().flag(CAPPED)

    def update(self) -> UpdateCode:
        """The update by the coefficients of this step."""
        spec, names = self.spec, coefficient_names(self.spec.optimiser)
        row = self.frame.count("updates") - self.frame.size("first_update")
        table = self.frame.reals("table").at(row * (len(names) + spec.averaging))
        values = [table.load(k).spread(spec.lanes) for k in range(len(names) + spec.averaging)]
        coefficients = dict(zip(names, values, strict=False))
        share = values[-1] if spec.averaging else None
        return UpdateCode(spec.optimiser, self.frame.size("stride"), coefficients, share)

    def finish(self) -> None:
        """End the function."""
        self.code.finish()


def _forward(f: _Function) -> None:
    for layer in f.layers:
        layer.step()
    f.readout.logits()


def _predict(f: _Function) -> None:
    first = f.code.index(0)
    f.see(first)
    f.call_forward()
    f.loss.predict(first)
    f.set_fresh(1)


def _learn(f: _Function) -> None:
    stale = f.code.variable(f.stale())
    with f.code.loop(f.frame.size("steps")) as step:
        flags = f.see(step)
        with f.code.when(stale.value >= 1):
            # Written out here: called, it would cost a few nanoseconds more.
            _forward(f)
        stale.value = f.code.index(1)
        known, missing = f.loss.meet(step)
        flags.value = flags.value | missing.flag(MISSING)
        clip(f.loss, flags)
        with f.code.either(known) as (some, none):
            with some:
                _update(f)
            with none:
                for layer in f.layers:
                    pass_code.carry_on(layer)
        for layer in f.layers:
            layer.adopt()
        f.frame.flags("flag").store(flags.value, step)
    f.set_fresh(0)


def _update(f: _Function) -> None:
    """The pass over the readout, then over the layers downwards."""
    update = f.update()
    f.readout.learn(update)
    pass_code.learn_down(f.layers, update)
    f.frame.set_count("updates", f.frame.count("updates") + 1)


def _frozen(f: _Function) -> None:
    with f.code.loop(f.frame.size("steps")) as step:
        f.see(step)
        f.call_forward()
        f.loss.predict(step)
        for layer in f.layers:
            layer.adopt()
            layer.project()
    f.set_fresh(0)


def _project(f: _Function) -> None:
    for layer in f.layers:
        layer.project()
    f.set_fresh(0)
