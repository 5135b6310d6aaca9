"""What the value of an option may be, read from text or taken as a value of TOML or Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any


class Kind(ABC):
    """The values an option may have.

    Attributes:
        expected: what they are, as a noun phrase.
    """

    @property
    @abstractmethod
    def expected(self) -> str:
        """What the values are, as a noun phrase."""

    @abstractmethod
    def read(self, given: Any) -> Any:
        """The value of a text, or the value itself.

        Raises:
            ValueError: it is none of this kind.
        """


@dataclass(frozen=True)
class Whole(Kind):
    """Whole numbers.

    >>> Whole(least=1).read("1_000"), Whole(least=1).expected
    (1000, 'a whole number of at least 1')
    """

    least: int | None = None

    @property
    def expected(self) -> str:
        return "a whole number" + ("" if self.least is None else f" of at least {self.least}")

    def read(self, given: Any) -> int:
        value = int(given) if isinstance(given, str) else given
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError(given)
        if self.least is not None and value < self.least:
            raise ValueError(given)
        return value


@dataclass(frozen=True)
class Number(Kind):
    """Finite numbers between two bounds, which belong to them.

    >>> Number(0, 1).read("0.5"), Number(0, 1).expected, Number(least=0).expected
    (0.5, 'a number from 0 to 1', 'a number of at least 0')
    """

    least: float = -inf
    most: float = inf

    @property
    def expected(self) -> str:
        if isfinite(self.least) and isfinite(self.most):
            return f"a number from {self.least:g} to {self.most:g}"
        if isfinite(self.least):
            return f"a number of at least {self.least:g}"
        return "a number" + (f" of at most {self.most:g}" if isfinite(self.most) else "")

    def read(self, given: Any) -> float:
        if isinstance(given, bool) or not isinstance(given, str | int | float):
            raise ValueError(given)
        try:
            value = float(given)
        except OverflowError:
            raise ValueError(given) from None
        if not isfinite(value) or not self.least <= value <= self.most:
            raise ValueError(given)
        return value


@dataclass(frozen=True)
class Text(Kind):
    """Any text that is not empty.

    >>> Text().read("load")
    'load'
    """

    expected = "a text"

    def read(self, given: Any) -> str:
        if not isinstance(given, str) or not given:
            raise ValueError(given)
        return given


@dataclass(frozen=True)
class Switch(Kind):
    """On or off.

    >>> Switch().read("yes"), Switch().read(False)
    (True, False)
    """

    expected = "true or false"

    def read(self, given: Any) -> bool:
        if isinstance(given, bool):
            return given
        text = given.strip().lower() if isinstance(given, str) else None
        if text in ("1", "true", "yes", "on"):
            return True
        if text in ("0", "false", "no", "off"):
            return False
        raise ValueError(given)


@dataclass(frozen=True)
class Choice(Kind):
    """One of several names.

    >>> Choice(("stop", "skip")).expected
    'stop or skip'
    """

    names: tuple[str, ...]

    @property
    def expected(self) -> str:
        *others, last = self.names
        return f"{', '.join(others)} or {last}" if others else last

    def read(self, given: Any) -> str:
        if not isinstance(given, str) or given not in self.names:
            raise ValueError(given)
        return given


@dataclass(frozen=True)
class Several(Kind):
    """Values of one kind: a list, or a text with commas between them.

    >>> Several(Whole(least=1)).read("16, 8"), Several(Text()).read(["load"])
    ((16, 8), ('load',))
    """

    kind: Kind

    @property
    def expected(self) -> str:
        return f"a list, each {self.kind.expected}"

    def read(self, given: Any) -> tuple[Any, ...]:
        if isinstance(given, str):
            given = [part.strip() for part in given.split(",")]
        if not isinstance(given, list | tuple):
            raise ValueError(given)
        return tuple([self.kind.read(item) for item in given])
