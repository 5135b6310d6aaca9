"""What takes part in a comparison."""

from __future__ import annotations

from abc import ABC, abstractmethod

__all__ = ["Method"]


class Method(ABC):
    """Predicts a stream and learns from it; it is never shown the value it predicts."""

    @abstractmethod
    def predict(self, time: float) -> float:
        """The value of the row at ``time``; NaN where there is nothing to say.

        Args:
            time: in seconds; for a stream without times the number of the row.
        """

    @abstractmethod
    def learn(self, time: float, value: float) -> None:
        """The row that came; NaN where its value is missing."""

    def interval(self) -> tuple[float, float] | None:
        """The 90 % interval of the last prediction, or None where the method has none."""
        return None
