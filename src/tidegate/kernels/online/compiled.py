"""The engines on machine code: calls, buffers and tables round the packed state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tidegate.kernels.code.cpu import Target, host
from tidegate.kernels.code.vector import DOUBLE, SINGLE
from tidegate.kernels.engine import Engine, FrozenEngine, Mark, pieces
from tidegate.kernels.online.frame import Rows
from tidegate.kernels.online.hosting import (
    Function,
    Table,
    check_classes,
    code_functions,
    online_code,
)
from tidegate.kernels.online.layout import Layout, outputs_per_group
from tidegate.kernels.online.machine import Machine
from tidegate.kernels.online.online_code import FUNCTIONS
from tidegate.kernels.plan import Array, SharedLoss, State
from tidegate.kernels.reference import Online

__all__ = ["CompiledEngine", "CompiledFrozen"]


class CompiledEngine(Engine):
    """An online learner on machine code.

    Args:
        online: what learns, and by which rules.
        state: where it starts (copied).
        target: the processor at hand, or a lesser one it can stand in for.
    """

    def __init__(self, online: Online, state: State, target: Target | None = None) -> None:
        kept = len(online.optimiser.moments) + (online.averaging is not None)
        self._machine, functions = _made(online, state.weights.dtype, target or host(), kept)
        self._learn, self._predict, _, self._project = functions
        self._online, self._frame = online, self._machine.frame
        self._table = Table(online, state.weights.dtype)
        self._frame.point("table", self._table.rows)
        self._one = _OneStep(self._machine)
        self._classes = classes_of(online)
        self.restore(state)

    @property
    def state(self) -> State:
        return self._machine.state(self._steps, self._frame["updates"])

    @property
    def steps(self) -> int:
        return self._steps

    def restore(self, state: State) -> None:
        self._machine.restore(state)
        self._steps, self._frame["updates"] = state.steps, state.updates
        self._room = 0
        self._project(self._frame.address)

    def mark(self) -> Mark:
        return self._machine.mark(self._steps, self._frame["updates"])

    def rewind(self, mark: Mark) -> None:
        self._machine.rewind(mark)
        self._steps, self._frame["updates"] = mark.steps, mark.updates
        self._room = 0
        self._project(self._frame.address)

    def forget(self) -> None:
        self._machine.forget()
        self._project(self._frame.address)

    def predict(self, x: Array) -> Array:
        one = self._one
        one.x[...] = x
        if not one.pointed:
            one.point()
        self._predict(one.address)
        return one.answer()

    def learn(self, x: Array, target: Array) -> tuple[Array, int]:
        one = self._one
        one.x[...] = x
        one.target[...] = target
        if self._classes is not None and one.target[0] not in self._classes:
            check_classes(self._online, one.target)
        if not one.pointed:
            one.point()
        if not self._room:
            self._fill_table()
        self._learn(one.address)
        self._steps += 1
        self._room -= 1
        return one.answer(), one.flag[0]

    def run(
        self, xs: Array, targets: Array, starts: NDArray[np.bool_] | None = None
    ) -> tuple[Array, NDArray[np.uint8]]:
        xs, targets = (np.ascontiguousarray(a, np.float64) for a in (xs, targets))
        check_classes(self._online, targets)
        predictions = np.empty((len(xs), self._online.plan.outputs), self._machine.dtype)
        flags = np.empty(len(xs), np.uint8)
        columns = {"x": xs, "target": targets, "prediction": predictions, "flag": flags}
        rows, self._one.pointed = Rows(self._frame, columns), False
        for begin, end, fresh in pieces(len(xs), starts):
            if fresh:
                self.forget()
            self._run(rows, begin, end)
        return predictions, flags

    def _run(self, rows: Rows, begin: int, end: int) -> None:
        while begin < end:
            if not self._room:
                self._fill_table()
            steps = min(end - begin, self._room)
            rows.point(begin, steps)
            self._learn(self._frame.address)
            begin += steps
            self._steps += steps
            self._room -= steps

    def _fill_table(self) -> None:
        """Coefficients of the updates to come.

        A step makes at most one update, so the room left in the table says how many steps may go
        without another look.
        """
        updates = self._frame["updates"]
        self._frame["first_update"] = first = self._table.fill(updates)
        self._room = first + len(self._table.rows) - updates


class _OneStep:
    """Buffers of calls that are one step long, so that a call allocates and points at nothing."""

    def __init__(self, machine: Machine) -> None:
        self._frame, self.address = machine.frame, machine.frame.address
        self.x = np.zeros(machine.plan.inputs)
        self.target = np.zeros(machine.targets)
        self.prediction = np.zeros(machine.plan.outputs, machine.dtype)
        self.answer = self.prediction.copy
        self.flag = bytearray(1)
        self.pointed = False

    def point(self) -> None:
        """Make the frame point here."""
        self._frame.point("x", self.x)
        self._frame.point("target", self.target)
        self._frame.point("prediction", self.prediction)
        self._frame.point("flag", np.frombuffer(self.flag, np.uint8))
        self._frame["steps"] = 1
        self.pointed = True


def classes_of(online: Online) -> frozenset[int] | None:
    """The targets that a loss over classes takes; None for other losses."""
    if isinstance(online.loss, SharedLoss):
        return frozenset(range(online.plan.outputs))
    return None


class CompiledFrozen(FrozenEngine):
    """A frozen network on machine code: its memories and hidden values are its own."""

    def __init__(self, online: Online, state: State, target: Target | None = None) -> None:
        self._machine, functions = _made(online, state.weights.dtype, target or host(), kept=0)
        _, _, self._frozen, self._project = functions
        self._machine.restore(state)
        self._project(self._machine.frame.address)

    def run(self, xs: Array, starts: NDArray[np.bool_] | None = None) -> Array:
        machine, frame = self._machine, self._machine.frame
        xs = np.ascontiguousarray(xs, np.float64)
        predictions = np.empty((len(xs), machine.plan.outputs), machine.dtype)
        rows = Rows(frame, {"x": xs, "prediction": predictions})
        for begin, end, fresh in pieces(len(xs), starts):
            if fresh:
                self.forget()
            rows.point(begin, end - begin)
            self._frozen(frame.address)
        return predictions

    def follow(self, mark: Mark) -> None:
        self._machine.rewind(mark)
        self._project(self._machine.frame.address)

    def adopt_average(self, mark: Mark) -> None:
        self._machine.weights[...] = mark.weights[-1:]
        self._project(self._machine.frame.address)

    def forget(self) -> None:
        self._machine.forget()
        self._project(self._machine.frame.address)


def _made(
    online: Online, dtype: np.dtype[np.floating], target: Target, kept: int
) -> tuple[Machine, list[Function]]:
    """The packed arrays and the code of a learner of its own."""
    plan = online.plan
    precision = SINGLE if dtype == np.float32 else DOUBLE
    lanes = target.width(precision, max(layer.units for layer in plan.layers))
    layout = Layout(plan, lanes, outputs_per_group(plan.outputs))
    code = online_code(online, precision, lanes, layout.group)
    functions = code_functions("one", code, FUNCTIONS, lambda: code.text(target), target)
    return Machine(online, layout, 1, dtype, kept), functions
