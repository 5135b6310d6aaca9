"""Many independent learners of one shape, one per vector lane: for sweeps and many small streams.

A vector operation moves as many learners as a vector has lanes, and nothing is spent on adding up
lanes or on padding units; so small networks learn many times faster side by side than alone. A
learner's numbers are the same bits whatever its neighbours do, and those of a learner on its own up
to the order of sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np
from numpy.typing import NDArray

from tidegate._core.errors import UsageError
from tidegate.kernels.code.cpu import Target, host
from tidegate.kernels.code.vector import DOUBLE, SINGLE
from tidegate.kernels.engine import LanesEngine
from tidegate.kernels.online.hosting import Table, check_classes, code_functions, online_code
from tidegate.kernels.online.lanes_code import LANE_FUNCTIONS, lanes_text
from tidegate.kernels.online.layout import Layout, outputs_per_group
from tidegate.kernels.online.machine import Machine
from tidegate.kernels.plan import Array, State
from tidegate.kernels.reference import Online

__all__ = ["Lanes"]


class Lanes(LanesEngine):
    """Learners side by side, each with its own weights, memories, stream and number of updates.

    Args:
        online: what each of them is: network, loss, optimiser, averaging, clip.
        states: where each starts (copied); as many learners as states, all of one dtype.
        target: the processor at hand, or a lesser one it can stand in for.

    Raises:
        UsageError: no state, or states of different dtypes.

    >>> from tidegate.learn import SGD, Network, Squared
    >>> network = Network(inputs=1, outputs=1, units=4)
    >>> online = Online(network.plan, Squared(), SGD(0.1))
    >>> lanes = Lanes(online, [online.start(network.initial(seed)) for seed in range(3)])
    >>> predictions, flags = lanes.run(np.zeros((5, 1, 3)), np.ones((5, 1, 3)))
    >>> predictions.shape, flags.shape, lanes.state(2).updates
    ((5, 1, 3), (5, 3), 5)
    """

    def __init__(
        self, online: Online, states: Sequence[State], target: Target | None = None
    ) -> None:
        dtypes = {state.weights.dtype for state in states}
        if len(dtypes) != 1:
            raise UsageError(
                "Lanes", "states of one dtype", f"{len(dtypes)} dtypes", "Give at least one state."
            )
        chosen, (dtype,) = target or host(), dtypes
        self._online = online
        self._width = chosen.width(SINGLE if dtype == np.float32 else DOUBLE)
        groups = [states[k : k + self._width] for k in range(0, len(states), self._width)]
        self._groups = [_Group(online, group, self._width, dtype, chosen) for group in groups]
        self._count = len(states)

    def __len__(self) -> int:
        return self._count

    def run(self, xs: Array, targets: Array) -> tuple[Array, NDArray[np.uint8]]:
        check_classes(self._online, np.asarray(targets))
        parts = [
            group.run(
                xs[..., start : start + self._width], targets[..., start : start + self._width]
            )
            for start, group in zip(range(0, len(self), self._width), self._groups, strict=True)
        ]
        predictions, flags = zip(*parts, strict=True)
        return np.concatenate(predictions, axis=-1), np.concatenate(flags, axis=-1)

    def state(self, learner: int) -> State:
        return self._groups[learner // self._width].state(learner % self._width)

    def restore(self, learner: int, state: State) -> None:
        self._groups[learner // self._width].restore(learner % self._width, state)


class _Group:
    """As many learners as a vector has lanes; lanes without one see nothing and learn nothing."""

    def __init__(
        self,
        online: Online,
        states: Sequence[State],
        lanes: int,
        dtype: np.dtype[np.floating],
        target: Target,
    ) -> None:
        plan, precision = online.plan, SINGLE if dtype == np.float32 else DOUBLE
        kept = len(online.optimiser.moments) + (online.averaging is not None)
        layout = Layout(plan, 1, outputs_per_group(plan.outputs))
        code = online_code(online, precision, lanes, layout.group)
        self._learn, self._project = code_functions(
            "lanes", code, LANE_FUNCTIONS, lambda: lanes_text(code, target), target
        )
        self._machine = Machine(online, layout, lanes, dtype, kept)
        self._lanes, self._learners = lanes, len(states)
        self._updates, self._rows = np.zeros(lanes, np.int64), np.zeros(lanes, np.int64)
        self._steps = [0] * lanes
        self._tables = _Tables(online, dtype)
        frame = self._machine.frame
        frame.point("lane_updates", self._updates)
        frame.point("table_rows", self._rows)
        frame.point("coefficients", np.zeros((self._tables.width, lanes), dtype))
        for lane in range(lanes):
            self.restore(lane, states[min(lane, len(states) - 1)])

    def state(self, lane: int) -> State:
        return self._machine.state(self._steps[lane], int(self._updates[lane]), lane)

    def restore(self, lane: int, state: State) -> None:
        self._machine.restore(state, lane)
        self._steps[lane], self._updates[lane] = state.steps, state.updates
        self._project(self._machine.frame.address)

    def run(self, xs: Array, targets: Array) -> tuple[Array, NDArray[np.uint8]]:
        steps, outputs = len(xs), self._machine.plan.outputs
        predictions = np.empty((steps, outputs, self._lanes), self._machine.dtype)
        flags = np.empty((steps, self._lanes), np.uint8)
        arrays = {
            "x": self._filled(xs, 0.0),
            "target": self._filled(targets, np.nan),
            "prediction": predictions,
            "flag": flags,
        }
        frame, start = self._machine.frame, 0
        while start < steps:
            table, room = self._tables.fill(self._updates, self._rows)
            frame.point("table", table)
            for name, array in arrays.items():
                frame.point(name, array, start * (array.size // steps))
            frame["steps"] = count = min(steps - start, room)
            self._learn(frame.address)
            start += count
        self._steps = [number + steps for number in self._steps]
        return predictions[..., : self._learners], flags[:, : self._learners]

    def _filled(self, values: Array, nothing: float) -> Array:
        """float64 in all lanes, ``nothing`` where there is no learner."""
        filled = np.full((*values.shape[:-1], self._lanes), nothing)
        filled[..., : self._learners] = values
        return filled


class _Tables:
    """Coefficients for learners that are at different numbers of updates."""

    def __init__(self, online: Online, dtype: np.dtype[np.floating]) -> None:
        self._online, self._dtype = online, dtype
        self._tables: dict[int, Table] = {}
        self.width = Table(online, dtype).rows.shape[1]

    def fill(self, updates: NDArray[np.int64], rows: NDArray[np.int64]) -> tuple[Array, int]:
        """The tables that the learners are in, one after the other, and for how many steps.

        Args:
            updates: made by each learner.
            rows: gets what is added to a learner's updates to give its row.
        """
        needed: dict[int, tuple[int, Table]] = {}
        room = ceil(1e9)
        for lane, made in enumerate(map(int, updates)):
            length = Table.ROWS
            page = made // length
            if page not in needed:
                table = self._tables.get(page) or Table(self._online, self._dtype)
                table.fill(made)
                needed[page] = (len(needed) * length, table)
            rows[lane] = needed[page][0] - page * length
            room = min(room, (page + 1) * length - made)
        self._tables = {page: table for page, (_, table) in needed.items()}
        return np.concatenate([table.rows for table in self._tables.values()]), room
