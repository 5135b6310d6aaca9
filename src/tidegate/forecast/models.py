"""What predicts one stream of a run: a forecaster, or a bare network."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import nan
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tidegate.forecast.common import CommonWeights
from tidegate.forecast.forecaster import Forecaster
from tidegate.forecast.half_lives import EVERY, HalfLives
from tidegate.forecast.parts import Arrays, Floats, state_of
from tidegate.forecast.prediction import Outcome, Prediction

__all__ = ["ForecasterModel", "Model", "SharedModel"]


class Model(Protocol):
    """Predicts the coming row of one stream, and learns from every row that comes.

    Attributes:
        levels: coverages of its intervals, the first the one that is shown.
        experts: names of what it may mix.
        half_lives: of its networks by name, in rows, None where not known; None without networks.

    >>> model: Model = ForecasterModel(Forecaster(units=0, levels=(0.5, 0.9)))
    >>> model.levels, model.experts[-1]
    ((0.5, 0.9), 'persistence')
    """

    levels: tuple[float, ...]
    experts: tuple[str, ...]

    @property
    def half_lives(self) -> Mapping[str, float | None] | None: ...

    def know(self, periods: Mapping[str, int]) -> None:
        """Periods, in rows, that the clock makes known."""

    def predict(self, time: float | None) -> Prediction:
        """Of the row that comes, whose time is known and whose value is not."""

    def learn(self, values: Floats, time: float | None) -> Outcome:
        """The row that came, the target first; NaN where a value is missing."""

    def path(self) -> list[Prediction]:
        """Of the rows after it, the next one first."""

    def state(self) -> Arrays: ...

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None: ...


class ForecasterModel:
    """A :class:`Forecaster` as a run uses it.

    Args:
        forecaster: that predicts.
        horizon: rows ahead of every path.

    >>> model = ForecasterModel(Forecaster(units=0), horizon=2)
    >>> outcome = model.learn(np.array([5.0]), None)
    >>> [said.value for said in model.path()]
    [5.0, 5.0]
    """

    def __init__(self, forecaster: Forecaster, horizon: int = 1) -> None:
        self.forecaster, self._horizon = forecaster, horizon
        self.levels = tuple(forecaster.settings["levels"])
        self.experts = forecaster.core.possible_names
        networks = forecaster.networks()
        self._half_lives = HalfLives(networks) if networks else None
        self._looked_at = forecaster.core
        self._after_gap = False
        self._next: Prediction | None = None  # what was said of the coming row
        #: what looks at the inputs of the gated experts, of every row that is learned
        self.before_learning: Callable[[Sequence[Floats]], None] | None = None

    @property
    def half_lives(self) -> Mapping[str, float | None] | None:
        """Of the gated experts by name, in rows."""
        return None if self._half_lives is None else self._half_lives.words()

    def know(self, periods: Mapping[str, int]) -> None:
        """The forecaster finds them itself."""

    def predict(self, time: float | None) -> Prediction:
        """Of the row that comes; steps that are missing before it are gone through."""
        self._after_gap = self.forecaster.reach(time)
        said, self._next = self._next, None
        if said is not None and said.seconds == time and not self._after_gap:
            return said
        return self.forecaster.predict(time)

    def learn(self, values: Floats, time: float | None) -> Outcome:
        """The row that came, after :meth:`predict`; its score is NaN while nothing is known."""
        if self.before_learning is not None:
            seen = self.forecaster.seen(time)
            if seen:
                self.before_learning(seen)
        self._look(time)
        value, *inputs = values.tolist()
        outcome = self.forecaster.learn(value, inputs, time)
        gap = ("gap",) * (self._after_gap and "gap" not in outcome.flags)
        score = nan if outcome.score is None else outcome.score
        return outcome._replace(flags=outcome.flags + gap, score=score)

    def path(self) -> list[Prediction]:
        """As far as the horizon."""
        if self._horizon > 1:
            path = self.forecaster.forecast(self._horizon)
        else:
            path = [self.forecaster.predict()]
        self._next = path[0]
        return path

    def forget_said(self) -> None:
        """Predict the coming row anew: the forecaster was changed."""
        self._next = None
        self.forecaster.forget_said()

    def state(self) -> Arrays:
        found = self.forecaster.state()
        if self._half_lives is not None:
            lives = self._half_lives.state()
            found |= {f"half_lives.{name}": array for name, array in lives.items()}
        return found

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        self.forecaster.restore(state)
        if self._half_lives is not None:
            self._half_lives.follow(self.forecaster.networks())
            self._half_lives.restore(state_of(state, "half_lives"))
            self._looked_at = self.forecaster.core
        self.forget_said()

    def _look(self, time: float | None) -> None:
        """Every now and then, how long the networks remember at the row that came."""
        forecaster, lives = self.forecaster, self._half_lives
        if lives is None or forecaster.rows % EVERY:
            return
        seen = forecaster.seen(time)
        if seen:
            networks = forecaster.networks()  # asked for anew, as only then they stand still
            if forecaster.core is not self._looked_at:
                lives.follow(networks)
                self._looked_at = forecaster.core
            lives.look(seen)


class SharedModel:
    """A :class:`Forecaster` without networks that learns its weights together with others.

    What it said of its coming row is said anew when that row comes: others may have learned since.

    Args:
        forecaster: that predicts.
        common: the weights of all.
        horizon: rows ahead of every path.

    >>> common = CommonWeights()
    >>> models = [SharedModel(Forecaster(units=0), common) for _ in "ab"]
    >>> for step in range(200):
    ...     for model, scale in zip(models, (1.0, 1e3)):
    ...         said = model.predict(None)
    ...         outcome = model.learn(np.array([scale * (step % 2)]), None)
    >>> abs(models[1].predict(None).value) < 1
    True
    """

    def __init__(self, forecaster: Forecaster, common: CommonWeights, horizon: int = 1) -> None:
        self._model, self._common = ForecasterModel(forecaster, horizon), common
        self.levels, self.experts = self._model.levels, self._model.experts
        self.half_lives = self._model.half_lives

    def know(self, periods: Mapping[str, int]) -> None:
        """The forecaster finds them itself."""

    def predict(self, time: float | None) -> Prediction:
        """Of the row that comes, by what all have learned."""
        self._common.lend(self._model.forecaster)
        self._model.forget_said()
        return self._model.predict(time)

    def learn(self, values: Floats, time: float | None) -> Outcome:
        """The row that came, after :meth:`predict`; all learn from it."""
        before = self._model.forecaster.periods
        outcome = self._model.learn(values, time)
        self._common.take_back(self._model.forecaster, before)
        return outcome

    def path(self) -> list[Prediction]:
        """As far as the horizon."""
        return self._model.path()

    def state(self) -> Arrays:
        return self._model.state()

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        self._model.restore(state)
