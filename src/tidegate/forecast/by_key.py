"""Parts by key: one for every stream, and of too many the one that was silent longest goes."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from tidegate._core.errors import UsageError
from tidegate.forecast.parts import Arrays, Kept

__all__ = ["ByKey"]


T = TypeVar("T", bound=Kept)


class ByKey(Generic[T]):
    """Makes a part for every key that comes, and keeps ``most`` of them.

    Args:
        make: what makes a part.
        most: parts that are kept; beyond, the one that was asked for longest ago is let go.

    Attributes:
        gone: how many were let go.

    Raises:
        UsageError: none may be kept.

    >>> from tidegate.forecast.simple import Persistence
    >>> last = ByKey(Persistence, most=2)
    >>> for key, value in (("a", 1.0), ("b", 2.0), ("a", 3.0), ("c", 4.0)):
    ...     last.of(key).observe(value)
    >>> list(last), last.gone, last.of("a").forecast()
    (['a', 'c'], 1, 3.0)
    """

    def __init__(self, make: Callable[[], T], most: int) -> None:
        if most < 1:
            raise UsageError("most", "at least one key", repr(most), "Try 1000.")
        self._make, self._most = make, most
        self._held: OrderedDict[str | None, T] = OrderedDict()
        self.gone = 0

    def of(self, key: str | None) -> T:
        """The part of ``key``, made where it is new."""
        if key not in self._held:
            self._held[key] = self._make()
        self._held.move_to_end(key)
        while len(self._held) > self._most:
            self._held.popitem(last=False)
            self.gone += 1
        return self._held[key]

    def get(self, key: str | None) -> T | None:
        """The part of ``key`` where there is one; asking for it changes nothing."""
        return self._held.get(key)

    def parts(self) -> Iterator[T]:
        """All that are kept."""
        return iter(self._held.values())

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[str | None]:
        """The keys, the one that was silent longest first."""
        return iter(self._held)

    def state(self) -> Arrays:
        keys = json.dumps(list(self._held)).encode()
        found: Arrays = {"keys": np.frombuffer(keys, np.uint8), "gone": np.array(self.gone)}
        for n, part in enumerate(self._held.values()):
            found |= {f"{n}.{name}": array for name, array in part.state().items()}
        return found

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        keys = json.loads(state["keys"].tobytes())
        parts: list[dict[str, NDArray[np.generic]]] = [{} for _ in keys]
        for name, array in state.items():
            number, _, rest = name.partition(".")
            if rest:
                parts[int(number)][rest] = array
        held: OrderedDict[str | None, T] = OrderedDict()
        for key, part in zip(keys, parts, strict=True):
            held[key] = self._make()
            held[key].restore(part)
        self._held = held
        self.gone = int(state["gone"])
