"""Saturation: gates at their ends, memories that can no longer change, and what to do.

Two alarms. *No slope*: tanh of the memory is so flat that neither what others see nor the error
signal depends on it. *Stuck*: the largest write seen so far is less than half the distance to the
next number, so writes are rounded away. Both are read step by step, and end where they heal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidegate._core.trace import Array, Trace
from tidegate.memory.direct_path import DirectPath, Floats, direct_path

__all__ = ["Alarm", "GateUse", "alarms", "gate_use", "no_slope", "stuck", "tanh_slope"]

Flags = NDArray[np.bool_]

LEAST_SLOPE = 1e-9

ADVICE = {
    "no slope": "Let the unit forget: give it a forget gate or a smaller forget bias, reset its "
    "memory, or make writes smaller. It heals after a forget event.",
    "stuck": "Reset the memory or let it forget; in 16-bit formats keep memories in float32.",
}


@dataclass(frozen=True, eq=False)
class GateUse:
    """Shares of steps in which a gate of a unit is at an end, by gate, (units,).

    Attributes:
        closed: |gate| below 0.1.
        open: |gate| above 0.9.

    >>> GateUse(closed={"f": np.array([0.2])}, open={"f": np.array([0.7])}).open["f"]
    array([0.7])
    """

    closed: Mapping[str, Floats]
    open: Mapping[str, Floats]


@dataclass(frozen=True)
class Alarm:
    """A memory that cannot be used, from step ``first`` to ``last`` (indices in the Trace).

    Attributes:
        kind: ``no slope`` or ``stuck``.
        healed: whether it ended before the Trace did.

    >>> Alarm("stuck", row=0, unit=3, first=10, last=20, healed=True).advice.split(";")[0]
    'Reset the memory or let it forget'
    """

    kind: str
    row: int
    unit: int
    first: int
    last: int
    healed: bool

    @property
    def advice(self) -> str:
        """What to do about it."""
        return ADVICE[self.kind]


def gate_use(trace: Trace) -> GateUse:
    """The saturation map of all recorded gates, over steps and rows.

    >>> trace = Trace(gates={"f": np.array([0.99, 0.95, 0.5, 0.01]).reshape(4, 1, 1)})
    >>> gate_use(trace).open["f"], gate_use(trace).closed["f"]
    (array([0.5]), array([0.25]))
    """
    sizes = {name: np.abs(gate) for name, gate in trace.gates.items()}
    return GateUse(
        {name: np.mean(size < 0.1, axis=(0, 1)) for name, size in sizes.items()},
        {name: np.mean(size > 0.9, axis=(0, 1)) for name, size in sizes.items()},
    )


def tanh_slope(memory: Array) -> Floats:
    """1 - tanh(m)^2 without cancellation: 8.2e-9 at 10, exactly 0 from about 373 on.

    >>> tanh_slope(np.array([0.0, 10.0, 10_000.0]))
    array([1.00000000e+00, 8.24461446e-09, 0.00000000e+00])
    """
    with np.errstate(under="ignore"):
        small = np.exp(-2.0 * np.abs(np.asarray(memory, np.float64)))
        return np.asarray(4.0 * small / (1.0 + small) ** 2)


def no_slope(trace: Trace, memory: str | None = None, least: float = LEAST_SLOPE) -> Flags:
    """Where tanh of the memory has a slope below ``least`` (steps, rows, units).

    Raises:
        UsageError: no such memory.

    >>> c = np.array([1.0, 400.0, 1.0]).reshape(3, 1, 1)
    >>> no_slope(Trace({"c": np.zeros((3, 1, 1))}, {"c": c})).ravel()
    array([False,  True, False])
    """
    return np.asarray(tanh_slope(direct_path(trace, memory).memory) < least)


def stuck(trace: Trace, memory: str | None = None) -> Flags:
    """Where no write as large as any seen so far would change the memory (steps, rows, units).

    In the number format of the recorded memory.

    Raises:
        UsageError: no such memory.

    >>> c = np.array([1, 2, 2**24, 5], np.float32).reshape(4, 1, 1)
    >>> trace = Trace({"c": np.zeros((4, 1, 1))}, {"c": c})
    >>> bool(stuck(trace).any())
    False
    """
    path = direct_path(trace, memory)
    largest = np.maximum.accumulate(_writes(path))
    distance = np.spacing(np.abs(trace.memory[path.name]))
    return np.asarray((distance / 2 >= largest) & (largest > 0))


def alarms(trace: Trace, memory: str | None = None, least: float = LEAST_SLOPE) -> list[Alarm]:
    """All spans of steps with a useless memory, in order of their first step.

    Raises:
        UsageError: no such memory.

    >>> c = np.array([1.0, 400.0, 410.0, 1.0]).reshape(4, 1, 1)
    >>> found = alarms(Trace({"c": np.zeros((4, 1, 1))}, {"c": c}))
    >>> [(alarm.kind, alarm.first, alarm.last, alarm.healed) for alarm in found]
    [('no slope', 1, 2, True)]
    """
    found = _spans("no slope", no_slope(trace, memory, least)) + _spans(
        "stuck", stuck(trace, memory)
    )
    return sorted(found, key=lambda alarm: (alarm.first, alarm.row, alarm.unit, alarm.kind))


def _writes(path: DirectPath) -> Floats:
    writes = np.abs(path.write)
    if path.trace.meta.start > 0 and len(writes):
        writes[0] = 0.0  # what there was before the Trace is no write
    return writes


def _spans(kind: str, flags: Flags) -> list[Alarm]:
    nothing = np.zeros_like(flags[:1])
    edges = np.diff(np.concatenate([nothing, flags, nothing]).astype(np.int8), axis=0)
    found: list[Alarm] = []
    for row, unit in np.argwhere(flags.any(axis=0)):
        starts = np.flatnonzero(edges[:, row, unit] > 0)
        stops = np.flatnonzero(edges[:, row, unit] < 0)
        for first, stop in zip(starts.tolist(), stops.tolist(), strict=True):
            found.append(Alarm(kind, int(row), int(unit), first, stop - 1, stop < len(flags)))
    return found
