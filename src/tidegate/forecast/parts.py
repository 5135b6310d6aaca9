"""What a forecaster is made of: parts whose whole memory is a few flat arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tidegate._core.errors import UsageError

__all__ = ["Arrays", "Floats", "Part"]

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
