"""The engines learners run on, each behind one interface; the reference can always replace.

``TIDEGATE_REFERENCE=1`` in the environment makes plain NumPy carry out everything.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidegate.kernels.plan import Array, State
from tidegate.kernels.reference import Online, start_memory

__all__ = [
    "Engine",
    "FrozenEngine",
    "LanesEngine",
    "Mark",
    "ReferenceEngine",
    "ReferenceFrozen",
    "ReferenceLanes",
    "frozen",
    "learning",
    "pieces",
    "reference",
    "side_by_side",
]


def reference() -> bool:
    """Whether the environment asks for the NumPy reference."""
    return os.environ.get("TIDEGATE_REFERENCE", "0") not in ("", "0")


def learning(online: Online, state: State) -> Engine:
    """The engine of a learner that goes on from ``state`` (copied)."""
    if reference():
        return ReferenceEngine(online, state)
    # Imported here so that the reference needs no compiler.
    from tidegate.kernels.online.compiled import CompiledEngine

    return CompiledEngine(online, state)


def frozen(online: Online, state: State) -> FrozenEngine:
    """The engine of a network that goes on from ``state`` (copied) with the weights of now."""
    if reference():
        return ReferenceFrozen(online, state)
    from tidegate.kernels.online.compiled import CompiledFrozen

    return CompiledFrozen(online, state)


def side_by_side(online: Online, states: Sequence[State]) -> LanesEngine:
    """The engine of as many learners as ``states`` (copied), each going on from its own."""
    if reference():
        return ReferenceLanes(online, states)
    from tidegate.kernels.online.lanes import Lanes

    return Lanes(online, states)


@dataclass(frozen=True)
class Mark:
    """All that a learner knew at one moment, in arrays as its engine has them.

    Cheaper than a :class:`~tidegate.kernels.plan.State`, and good for that engine only.

    Attributes:
        weights: with all that is kept beside them.
        traces, memory, hidden: of all layers.
        steps: learned until then.
        updates: made until then; schedules of learning rates go by them.
    """

    weights: Array
    traces: Array
    memory: Array
    hidden: Array
    steps: int
    updates: int


def pieces(steps: int, starts: NDArray[np.bool_] | None) -> Iterator[tuple[int, int, bool]]:
    """A run cut where strings start: begin, end, and whether memories are emptied before it.

    >>> list(pieces(5, np.array([False, False, True, False, False])))
    [(0, 2, False), (2, 5, True)]
    """
    if starts is None:
        yield 0, steps, False
        return
    begin, fresh = 0, False
    for start in np.flatnonzero(starts).tolist():
        if start > begin:
            yield begin, start, fresh
        begin, fresh = start, True
    yield begin, steps, fresh


class Engine(ABC):
    """An online learner at work: it owns the state it changes."""

    @property
    @abstractmethod
    def state(self) -> State:
        """A copy of all that the learner knows, in flat arrays."""

    @property
    @abstractmethod
    def steps(self) -> int:
        """Steps learned so far."""

    @abstractmethod
    def restore(self, state: State) -> None:
        """Go on from ``state`` (copied), exact to the bit."""

    @abstractmethod
    def mark(self) -> Mark:
        """A copy of all that the learner knows, to come back to."""

    @abstractmethod
    def rewind(self, mark: Mark) -> None:
        """Go on from a ``mark`` of this engine, exact to the bit."""

    @abstractmethod
    def predict(self, x: Array) -> Array:
        """The prediction (outputs,) for x (inputs,); changes nothing that can be seen."""

    @abstractmethod
    def learn(self, x: Array, target: Array) -> tuple[Array, int]:
        """One step; the prediction made before ``target`` (targets,) was seen, and flags."""

    @abstractmethod
    def run(
        self, xs: Array, targets: Array, starts: NDArray[np.bool_] | None = None
    ) -> tuple[Array, NDArray[np.uint8]]:
        """Many steps; predictions (steps, outputs) and flags (steps,).

        Memories are emptied before the steps where ``starts`` (steps,) says so.
        """

    @abstractmethod
    def forget(self) -> None:
        """Memories to their start values, hidden values and traces to 0."""


class FrozenEngine(ABC):
    """A network whose weights no longer change; its memories are its own."""

    @abstractmethod
    def run(self, xs: Array, starts: NDArray[np.bool_] | None = None) -> Array:
        """Predictions (steps, outputs) for xs (steps, inputs); memories go on.

        They are emptied before the steps where ``starts`` (steps,) says so.
        """

    @abstractmethod
    def follow(self, mark: Mark) -> None:
        """Go on with weights, memories and hidden values of a learner's ``mark``."""

    @abstractmethod
    def adopt_average(self, mark: Mark) -> None:
        """Go on with the averaged weights of a learner's ``mark``; memories stay as they are."""

    @abstractmethod
    def forget(self) -> None:
        """Memories to their start values, hidden values to 0."""


class LanesEngine(ABC):
    """Learners of one shape side by side; the last axis of every array is the learner."""

    @abstractmethod
    def run(self, xs: Array, targets: Array) -> tuple[Array, NDArray[np.uint8]]:
        """Learn step after step, every learner its own stream.

        Args:
            xs: (steps, inputs, learners).
            targets: (steps, targets, learners).

        Returns:
            predictions (steps, outputs, learners), each made before its target was seen; flags
            (steps, learners).
        """

    @abstractmethod
    def state(self, learner: int) -> State:
        """A copy of all that one learner knows."""

    @abstractmethod
    def restore(self, learner: int, state: State) -> None:
        """Let one learner go on from ``state`` (copied)."""


class ReferenceEngine(Engine):
    """The NumPy loops of :mod:`tidegate.kernels.reference` as an engine."""

    def __init__(self, online: Online, state: State) -> None:
        self._online = online
        self._state = state.copy()

    @property
    def state(self) -> State:
        return self._state.copy()

    @property
    def steps(self) -> int:
        return self._state.steps

    def restore(self, state: State) -> None:
        self._state = state.copy()

    def mark(self) -> Mark:
        s = self._state.copy()
        weights = np.stack([s.weights, *s.moments, *([s.average] if s.average.size else [])])
        return Mark(weights, s.traces, s.memory, s.hidden, s.steps, s.updates)

    def rewind(self, mark: Mark) -> None:
        own, kept = self._state, len(self._state.moments)
        own.weights[...], own.moments[...] = mark.weights[0], mark.weights[1 : 1 + kept]
        own.average[...] = mark.weights[1 + kept :].reshape(-1)
        own.traces[...], own.memory[...] = mark.traces, mark.memory
        own.hidden[...], own.counts[...] = mark.hidden, (mark.steps, mark.updates)

    def predict(self, x: Array) -> Array:
        return self._online.predict(self._state, x)

    def learn(self, x: Array, target: Array) -> tuple[Array, int]:
        return self._online.learn(self._state, x, target)

    def run(
        self, xs: Array, targets: Array, starts: NDArray[np.bool_] | None = None
    ) -> tuple[Array, NDArray[np.uint8]]:
        parts = []
        for begin, end, fresh in pieces(len(xs), starts):
            if fresh:
                self.forget()
            parts.append(self._online.run(self._state, xs[begin:end], targets[begin:end]))
        predictions, flags = zip(*parts, strict=True)
        return np.concatenate(predictions), np.concatenate(flags)

    def forget(self) -> None:
        self._online.forget(self._state)


class ReferenceFrozen(FrozenEngine):
    """A frozen network in NumPy."""

    def __init__(self, online: Online, state: State) -> None:
        self._online = online
        self._state = state.copy()

    def run(self, xs: Array, starts: NDArray[np.bool_] | None = None) -> Array:
        parts = []
        for begin, end, fresh in pieces(len(xs), starts):
            if fresh:
                self.forget()
            parts.append(self._online.frozen(self._state, xs[begin:end]))
        return np.concatenate(parts)

    def follow(self, mark: Mark) -> None:
        own = self._state
        own.weights[...], own.memory[...] = mark.weights[0], mark.memory
        own.hidden[...] = mark.hidden

    def adopt_average(self, mark: Mark) -> None:
        self._state.weights[...] = mark.weights[-1]

    def forget(self) -> None:
        self._state.hidden[...] = 0
        start_memory(self._online.plan, self._state.memory)


class ReferenceLanes(LanesEngine):
    """Learners in NumPy, one after the other."""

    def __init__(self, online: Online, states: Sequence[State]) -> None:
        self._engines = [ReferenceEngine(online, state) for state in states]

    def run(self, xs: Array, targets: Array) -> tuple[Array, NDArray[np.uint8]]:
        ran = [one.run(xs[..., k], targets[..., k]) for k, one in enumerate(self._engines)]
        predictions, flags = zip(*ran, strict=True)
        return np.stack(predictions, axis=-1), np.stack(flags, axis=-1)

    def state(self, learner: int) -> State:
        return self._engines[learner].state

    def restore(self, learner: int, state: State) -> None:
        self._engines[learner].restore(state)
