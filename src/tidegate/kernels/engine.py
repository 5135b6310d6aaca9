"""The engines learners run on, each behind one interface; the reference can always replace.

``TIDEGATE_REFERENCE=1`` in the environment makes plain NumPy carry out everything.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tidegate.kernels.plan import Array, State
from tidegate.kernels.reference import Online, start_memory

__all__ = [
    "Engine",
    "FrozenEngine",
    "LanesEngine",
    "ReferenceEngine",
    "ReferenceFrozen",
    "ReferenceLanes",
    "frozen",
    "learning",
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
    def predict(self, x: Array) -> Array:
        """The prediction (outputs,) for x (inputs,); changes nothing that can be seen."""

    @abstractmethod
    def learn(self, x: Array, target: Array) -> tuple[Array, int]:
        """One step; the prediction made before ``target`` (targets,) was seen, and flags."""

    @abstractmethod
    def run(self, xs: Array, targets: Array) -> tuple[Array, NDArray[np.uint8]]:
        """Many steps; predictions (steps, outputs) and flags (steps,)."""

    @abstractmethod
    def forget(self) -> None:
        """Memories to their start values, hidden values and traces to 0."""


class FrozenEngine(ABC):
    """A network whose weights no longer change; its memories are its own."""

    @abstractmethod
    def run(self, xs: Array) -> Array:
        """Predictions (steps, outputs) for xs (steps, inputs); memories go on."""

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

    def predict(self, x: Array) -> Array:
        return self._online.predict(self._state, x)

    def learn(self, x: Array, target: Array) -> tuple[Array, int]:
        return self._online.learn(self._state, x, target)

    def run(self, xs: Array, targets: Array) -> tuple[Array, NDArray[np.uint8]]:
        return self._online.run(self._state, xs, targets)

    def forget(self) -> None:
        self._online.forget(self._state)


class ReferenceFrozen(FrozenEngine):
    """A frozen network in NumPy."""

    def __init__(self, online: Online, state: State) -> None:
        self._online = online
        self._state = state.copy()

    def run(self, xs: Array) -> Array:
        return self._online.frozen(self._state, xs)

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
