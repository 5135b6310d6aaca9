"""What every run over rows counts, and how it is put down and taken up again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tidegate.forecast.parts import Arrays, Kept, restore_all, state_of, states_of

__all__ = ["Tallied"]


class Tallied(ABC):
    """A run that counts its rows and their flags.

    Attributes:
        steps: rows so far.
        flagged: how many rows had each flag.
    """

    steps = 0
    flagged: dict[str, int]

    @abstractmethod
    def _parts(self) -> dict[str, Kept]:
        """What it has learned and counted beside, by name."""

    def state(self) -> Arrays:
        """All that was learned and counted, as flat arrays; the rows that are bad are not ours."""
        found: Arrays = {"steps": np.array(self.steps)}
        found |= {f"flagged.{flag}": np.array(count) for flag, count in self.flagged.items()}
        return found | states_of(self._parts())

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        """Go on from ``state``, exactly.

        Raises:
            UsageError: it is that of another run.
        """
        self.steps = int(state["steps"])
        self.flagged = {flag: int(count) for flag, count in state_of(state, "flagged").items()}
        restore_all(self._parts(), state)

    def _count(self, flags: tuple[str, ...]) -> tuple[str, ...]:
        """The flags of one more row."""
        for flag in flags:
            self.flagged[flag] = self.flagged.get(flag, 0) + 1
        return flags
