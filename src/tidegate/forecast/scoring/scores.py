"""Scores of forecasts side by side: the same steps for all, in constant memory."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from tidegate.forecast.parts import Arrays, Part

__all__ = ["Scores"]

ROLLING = 500  #: steps of the window of the rolling error


class Scores(Part):
    """Mean absolute errors, in units of the target, over the steps where every forecast stands.

    Args:
        warmup: steps from the beginning that are not scored.

    Attributes:
        steps: steps scored.

    >>> scores = Scores(warmup=1)
    >>> for value, guess in ((1.0, 9.0), (2.0, 1.0), (3.0, 2.5)):
    ...     scores.add(value, {"tidegate": guess, "persistence": value - 1})
    >>> scores.steps, scores.mean("tidegate"), scores.skill("tidegate", over="persistence")
    (2, 0.75, 0.25)
    """

    def __init__(self, warmup: int) -> None:
        self.warmup = warmup
        self.steps = 0
        self._seen = 0
        self._sums: dict[str, float] = {}
        self._rolling: dict[str, float] = {}

    def add(self, actual: float, forecasts: Mapping[str, float], warming: bool = False) -> None:
        """One step: the value that came, and what each method had said; missing values pass.

        Args:
            actual: the value.
            forecasts: by the names of the methods.
            warming: whether the step counts for the rolling errors alone, as of a stream that
                has only begun.
        """
        self.add_errors({name: abs(actual - guess) for name, guess in forecasts.items()}, warming)

    def add_errors(self, errors: Mapping[str, float], warming: bool = False) -> None:
        """One step of which the error of every method is known, of whatever kind.

        >>> bits = Scores(warmup=0)
        >>> bits.add_errors({"tidegate": 0.5, "uniform": 2.0})
        >>> bits.skill("tidegate", over="uniform")
        0.75
        """
        self._seen += 1
        if not all(map(isfinite, errors.values())):
            return
        rolling, sums = self._rolling, self._sums
        for name, error in errors.items():
            before = rolling.get(name, error)
            rolling[name] = before + (error - before) / ROLLING
        if self._seen > self.warmup and not warming:
            self.steps += 1
            for name, error in errors.items():
                sums[name] = sums.get(name, 0.0) + error

    def mean(self, name: str) -> float | None:
        """Mean absolute error of a method over the steps scored; None before there is one."""
        return self._sums[name] / self.steps if name in self._sums else None

    def rolling(self, name: str) -> float | None:
        """Its exponentially weighted absolute error, over about the last 500 steps."""
        return self._rolling.get(name)

    def skill(self, name: str, over: str) -> float | None:
        """1 - error / error of ``over``: 0 is no better, below 0 worse; None where undefined."""
        mine, other = self.mean(name), self.mean(over)
        return None if mine is None or not other else 1 - mine / other

    def state(self) -> Arrays:
        found: Arrays = {"counts": np.array([self.steps, self._seen])}
        for kind, table in (("sum", self._sums), ("rolling", self._rolling)):
            found |= {f"{kind}.{name}": np.array(value) for name, value in table.items()}
        return found

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        self.steps, self._seen = state["counts"].tolist()
        self._sums, self._rolling = _by_name(state, "sum."), _by_name(state, "rolling.")


def _by_name(state: Mapping[str, NDArray[np.generic]], start: str) -> dict[str, float]:
    return {key.removeprefix(start): float(state[key]) for key in state if key.startswith(start)}
