"""Traces: what the gates and memories of one layer did, step by step.

A layer, a learner or a file gives a Trace; whatever reads a memory reads Traces and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate._core.errors import UsageError

__all__ = ["Array", "Meta", "Trace", "joined"]

Array = NDArray[Any]

#: the parts of a Trace that hold arrays (steps, rows, units) by name
PARTS = ("log_retention", "retention_sign", "memory", "hidden", "gates", "slots")


@dataclass(frozen=True)
class Meta:
    """Where a Trace comes from.

    Attributes:
        cell: the cell as its options write it: ``LSTM(forget_bias=0.0)``.
        sizes: such as ``inputs``, ``units``, ``layer``.
        seed: of the run, where it had one.
        versions: of packages, by name.
        start: number of the first step; 0 is where the stream began, with memories at their start.
    """

    cell: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict)
    seed: int | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    start: int = 0


@dataclass(frozen=True, eq=False)
class Trace:
    """Arrays (steps, rows, units) by name; a row is one of several streams side by side.

    Attributes:
        log_retention: log |d memory / d same memory one step before| with all slots held, in nats
            per step; float64, taken from the slot in float64. A memory without a direct path has
            none. At a reset it is still the gate's own.
        memory: after the step, in the units the cell means (``Cell.read``).
        hidden: what other units and the readout see.
        gates: named gates.
        slots: pre-activations, where they were asked for.
        retention_sign: +1 or -1, only where it can change.
        reset: (steps, rows) bool; a reset acts before its step. None of them by default.
        meta: where it comes from.

    All but ``log_retention`` is float32, or float64 where the run itself was; files hold float32.

    Raises:
        UsageError: shapes differ, log-retention is not float64, or a name has no memory.

    >>> f = np.full((100, 1, 2), 0.9)
    >>> trace = Trace(log_retention={"c": np.log(f)}, memory={"c": np.zeros((100, 1, 2))})
    >>> trace.steps, trace.rows, trace.units, bool(trace.reset.any())
    (100, 1, 2, False)
    >>> trace.part(10, 30).meta.start
    10
    """

    log_retention: Mapping[str, Array] = field(default_factory=dict)
    memory: Mapping[str, Array] = field(default_factory=dict)
    hidden: Mapping[str, Array] = field(default_factory=dict)
    gates: Mapping[str, Array] = field(default_factory=dict)
    slots: Mapping[str, Array] = field(default_factory=dict)
    retention_sign: Mapping[str, Array] = field(default_factory=dict)
    reset: Array = field(default_factory=lambda: np.zeros((0, 0), bool))
    meta: Meta = field(default_factory=Meta)

    def __post_init__(self) -> None:
        for part in PARTS:
            given = {name: np.asarray(array) for name, array in getattr(self, part).items()}
            for name, array in given.items():
                _check_type(part, name, array)
            object.__setattr__(self, part, given)
        self._check_shapes()
        self._check_names()
        given_reset = np.asarray(self.reset)
        reset = given_reset if given_reset.size else np.zeros(self._shape[:2], bool)
        _check_reset(reset, self._shape)
        object.__setattr__(self, "reset", reset.astype(bool))

    @property
    def _shape(self) -> tuple[int, ...]:
        return next(iter(self._arrays().values())).shape

    @property
    def steps(self) -> int:
        return self._shape[0]

    @property
    def rows(self) -> int:
        return self._shape[1]

    @property
    def units(self) -> int:
        return self._shape[2]

    def part(self, first: int, stop: int) -> Trace:
        """The steps ``first`` to ``stop`` of this Trace (not counting ``meta.start``)."""
        cut = {p: {n: a[first:stop] for n, a in getattr(self, p).items()} for p in PARTS}
        meta = replace(self.meta, start=self.meta.start + first)
        return Trace(**cut, reset=self.reset[first:stop], meta=meta)

    def _arrays(self) -> dict[str, Array]:
        return {f"{p}.{name}": array for p in PARTS for name, array in getattr(self, p).items()}

    def _check_shapes(self) -> None:
        arrays = self._arrays()
        if not arrays:
            raise UsageError("Trace", "at least one array", "none", "Record a memory or a gate.")
        for name, array in arrays.items():
            if array.ndim != 3 or array.shape != self._shape:
                raise UsageError(
                    f"Trace {name}",
                    "shape (steps, rows, units), the same for all",
                    f"{array.shape} beside {self._shape}",
                    "A Trace holds one layer; a single stream has rows = 1.",
                )

    def _check_names(self) -> None:
        for part, owner in (("log_retention", "memory"), ("retention_sign", "log_retention")):
            known = getattr(self, owner)
            strange = [name for name in getattr(self, part) if name not in known]
            if strange and known:
                raise UsageError(
                    f"Trace {part}",
                    f"names of {owner}: {', '.join(known)}",
                    ", ".join(strange),
                    f"Every {part} belongs to a {owner} of the same name.",
                )


def joined(traces: Sequence[Trace]) -> Trace:
    """One Trace of several that follow one another without a gap.

    Raises:
        UsageError: there are none, their parts differ, or there is a gap.

    >>> whole = Trace(memory={"c": np.arange(6.0).reshape(6, 1, 1)})
    >>> joined([whole.part(0, 2), whole.part(2, 6)]).memory["c"].ravel()
    array([0., 1., 2., 3., 4., 5.])
    """
    if not traces:
        raise UsageError("joined", "at least one Trace", "none", "Give the pieces in order.")
    for before, after in zip(traces, traces[1:], strict=False):
        _check_follows(before, after)
    parts = {
        p: {n: np.concatenate([getattr(t, p)[n] for t in traces]) for n in getattr(traces[0], p)}
        for p in PARTS
    }
    return Trace(**parts, reset=np.concatenate([t.reset for t in traces]), meta=traces[0].meta)


def _check_follows(before: Trace, after: Trace) -> None:
    expected = before.meta.start + before.steps
    if after.meta.start != expected:
        raise UsageError(
            "joined", f"a piece from step {expected}", f"one from step {after.meta.start}",
            "Give the pieces in order and without a gap.",
        )  # fmt: skip
    if before._arrays().keys() != after._arrays().keys():
        raise UsageError(
            "joined", f"pieces with {', '.join(before._arrays())}",
            f"one with {', '.join(after._arrays())}", "Join pieces of one recording.",
        )  # fmt: skip


def _check_type(part: str, name: str, array: Array) -> None:
    allowed = (np.float64,) if part == "log_retention" else (np.float32, np.float64)
    if array.dtype not in allowed:
        raise UsageError(
            f"Trace {part}.{name}",
            " or ".join(np.dtype(t).name for t in allowed),
            str(array.dtype),
            "Take log-retention from the pre-activation in float64: a rounded gate has lost it."
            if part == "log_retention"
            else "Convert it to float32.",
        )


def _check_reset(reset: Array, shape: tuple[int, ...]) -> None:
    if reset.shape != shape[:2]:
        raise UsageError(
            "Trace reset", f"shape (steps, rows) = {shape[:2]}", str(reset.shape),
            "Give one flag for every step of every row.",
        )  # fmt: skip
