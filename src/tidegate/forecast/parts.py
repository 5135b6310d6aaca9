"""What a forecaster is made of: parts whose whole memory is a few flat arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from tidegate._core.errors import UsageError

__all__ = ["Arrays", "Flat", "Floats", "Kept", "Part", "restore_all", "state_of", "states_of"]

Floats = NDArray[np.float64]
Arrays = dict[str, NDArray[np.generic]]


class Part:
    """Something that learns from a stream, and can be put down and taken up again to the bit.

    A subclass names in ``learned`` the attributes that change as it learns: numbers, arrays,
    other parts, or lists of parts. All else follows from how it was made.

    >>> class Count(Part):
    ...     learned = ("n",)
    ...     n = 0
    >>> first, second = Count(), Count()
    >>> first.n = 3
    >>> second.restore(first.state())
    >>> second.n
    3
    """

    learned: ClassVar[tuple[str, ...]] = ()

    def state(self) -> Arrays:
        """All that was learned, as copies; names of parts of parts have dots in them."""
        found: Arrays = {}
        for name in self.learned:
            found |= _taken(name, getattr(self, name))
        return found

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        """Go on from ``state``, exactly.

        Raises:
            UsageError: something is absent, or of another size.
        """
        for name in self.learned:
            setattr(self, name, _given(name, getattr(self, name), state))


def state_of(state: Mapping[str, NDArray[np.generic]], name: str) -> Arrays:
    """The arrays of the part ``name``, by its own names for them.

    >>> state_of({"clock.step": np.array(1.0), "steps": np.array(3)}, "clock")
    {'step': array(1.)}
    """
    start = f"{name}."
    return {key.removeprefix(start): state[key] for key in state if key.startswith(start)}


class Kept(Protocol):
    """What is put down as arrays, and taken up again.

    >>> part: Kept = Flat(1)
    >>> list(part.state())
    ['memory']
    """

    def state(self) -> Arrays: ...

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None: ...


def states_of(parts: Mapping[str, Kept]) -> Arrays:
    """The arrays of all parts, each with the part's name and a dot before its own.

    >>> list(states_of({"count": Flat(1)}))
    ['count.memory']
    """
    return {
        f"{name}.{key}": array
        for name, part in parts.items()
        for key, array in part.state().items()
    }


def restore_all(parts: Mapping[str, Kept], state: Mapping[str, NDArray[np.generic]]) -> None:
    """Each part goes on from its arrays in ``state``, as :func:`states_of` found them.

    >>> count = Flat(1)
    >>> restore_all({"count": count}, {"count.memory": np.array([3.0])})
    >>> count.memory
    array([3.])
    """
    for name, part in parts.items():
        part.restore(state_of(state, name))


class Flat(Part):
    """A part whose whole memory is one array of numbers, its own or a stretch of a larger one.

    Args:
        size: of the memory.
        memory: where it lies; by default in an array of its own.

    >>> count = Flat(1)
    >>> other = Flat(1, memory=np.array([3.0]))
    >>> count.restore(other.state())
    >>> count.memory
    array([3.])
    """

    def __init__(self, size: int, memory: Floats | None = None) -> None:
        self.memory: Floats = np.zeros(size) if memory is None else memory

    def state(self) -> Arrays:
        return {"memory": self.memory.copy()}

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        if "memory" not in state:
            raise _unfit("memory", "nothing")
        if state["memory"].shape != self.memory.shape:
            raise _unfit("memory", f"shape {state['memory'].shape}")
        self.memory[...] = state["memory"]


def _taken(name: str, value: object) -> Arrays:
    if isinstance(value, Part):
        return {f"{name}.{inner}": array for inner, array in value.state().items()}
    if isinstance(value, list):
        found: Arrays = {}
        for n, item in enumerate(value):
            found |= _taken(f"{name}.{n}", item)
        return found
    return {name: np.array(value)}


def _given(name: str, now: object, state: Mapping[str, NDArray[np.generic]]) -> object:
    if isinstance(now, Part):
        start = f"{name}."
        now.restore({k.removeprefix(start): v for k, v in state.items() if k.startswith(start)})
        return now
    if isinstance(now, list):
        return [_given(f"{name}.{n}", item, state) for n, item in enumerate(now)]
    if name not in state:
        raise _unfit(name, "nothing")
    array = np.asarray(state[name])
    if array.shape != np.asarray(now).shape:
        raise _unfit(name, f"shape {array.shape}")
    return array.copy() if isinstance(now, np.ndarray) else type(now)(array.item())  # type: ignore[call-arg]


def _unfit(name: str, got: str) -> UsageError:
    return UsageError(
        f"state {name!r}", "the state of a part made alike", got, "Restore it into what it is of."
    )
