"""The forecaster of categories: what comes next, with a probability for everything that may."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log2, nan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidegate._core.errors import UsageError
from tidegate.cells import LSTM
from tidegate.forecast.counting import ORDERS, Counts
from tidegate.forecast.parts import Arrays, Floats, Part
from tidegate.forecast.sharing import BayesMixture
from tidegate.learn import Adam, Harmonic, Learner, Network, Softmax
from tidegate.learn.checkpoint import Checkpoint, load, save, settings_in

__all__ = ["EXPERTS", "CategoryForecaster", "CategoryPrediction"]

#: what is mixed: three orders of counts, and the networks of GATED
EXPERTS = ("frequencies", "after last", "after last two", "gated quick", "gated steady")

#: rate, its time and forget bias of every gated expert: one that comes to rest, one that follows
GATED = ((0.02, 5e3, 2.0), (0.01, 3e4, 0.0))
EPS = 3e-3
EVEN = 1e-3  #: of a network's forecast that goes to all classes alike: no loss is without bound
UNSEEN, NEW = -10.0, -3.0  #: readout biases of classes that have not come yet, and have just come


@dataclass(frozen=True)
class CategoryPrediction:
    """Of what comes next.

    Attributes:
        probabilities: of every category that was seen; with ``other`` their sum is 1.
        other: of one that was not, or came after the limit was reached.

    >>> CategoryPrediction({"rain": 0.25, "sun": 0.625}, other=0.125).likely
    'sun'
    """

    probabilities: Mapping[str, float]
    other: float

    @property
    def likely(self) -> str | None:
        """The most probable category; None before any was seen."""
        return max(self.probabilities, key=self.probabilities.__getitem__, default=None)

    def bits(self, category: str) -> float:
        """The log loss, -log2 p, were ``category`` to come."""
        return 0.0 - log2(self.probabilities.get(category, self.other))


class CategoryForecaster(Part):
    """Predicts a stream of categories, and learns from every one that comes.

    Nobody names the categories: each has a place from when it first comes, until there are
    ``limit`` - 1; what comes new after that is one more, "other". A missing one is None: it is
    predicted through, and the forecast stands in for it. Three forecasts from counts (after
    nothing, after the last category, after the last two) and two gated networks are mixed by
    Bayes' rule, which has no rate to choose.

    Args:
        limit: categories, "other" among them; memory grows as its square.
        units: of every network.
        seed: of their start weights.

    Attributes:
        categories: that have a place of their own, in the order in which they first came.
        input: (class,) what the networks see of the coming step.

    Raises:
        UsageError: a size cannot be.

    >>> forecaster = CategoryForecaster(limit=8, units=8)
    >>> for day in ("sun", "sun", "rain") * 60:
    ...     bits = forecaster.learn(day)
    >>> forecaster.predict().likely, bits < 0.2
    ('sun', True)
    """

    learned = ("counts", "mixture", "steps", "input", "came")

    def __init__(self, *, limit: int = 64, units: int = 32, seed: int = 0) -> None:
        _require("limit", limit, 2)
        _require("units", units, 1)
        _require("seed", seed, 0)
        self.settings: dict[str, Any] = {"limit": limit, "units": units, "seed": seed}
        self.categories: list[str] = []
        self.counts = Counts(limit)
        self.mixture = BayesMixture(ORDERS + len(GATED))
        self.learners = [
            Learner(
                Network(limit, limit, cell=LSTM(bias), units=units),
                loss=Softmax(),
                optimiser=Adam(Harmonic(rate, tau), EPS),
                seed=len(GATED) * seed + k,
            )
            for k, (rate, tau, bias) in enumerate(GATED)
        ]
        self._set_bias(slice(None), UNSEEN)
        self.steps = 0
        self.came = np.zeros(limit, np.bool_)  # which classes have come
        self.input: Floats = np.zeros(limit)  # the last class, or the forecast that stands in
        self._said: Floats | None = None

    def predict(self) -> CategoryPrediction:
        """What comes next; changes nothing."""
        return self._named(self.mixture.predict(self._shares()))

    def predict_by(self, expert: str) -> CategoryPrediction:
        """What one of the experts says comes next; changes nothing."""
        return self._named(self._shares()[EXPERTS.index(expert)])

    @property
    def weights(self) -> dict[str, float]:
        """What each expert weighs in the coming prediction."""
        return dict(zip(EXPERTS, self.mixture.weights.tolist(), strict=True))

    def networks(self) -> dict[str, Learner]:
        """Those of the gated experts, by the experts' names; all see :attr:`input`."""
        return dict(zip(EXPERTS[ORDERS:], self.learners, strict=True))

    def learn(self, category: str | None) -> float | None:
        """The category that has come; None where it is missing.

        Returns:
            its log loss in bits, by what :meth:`predict` said of it; None where it is missing.
        """
        shares = self._shares()
        bits = None if category is None else self.predict().bits(category)
        place = None if category is None else self._place(category)
        if place is not None and not self.came[place]:
            self.came[place] = True
            self._set_bias(place, NEW)
        for learner in self.learners:
            learner.learn(self.input, np.array([nan if place is None else float(place)]))
        if place is not None:
            self.mixture.learn(shares[:, place])
        self.counts.learn(place)
        # A missing category goes in as the forecast of it.
        self.input = self.mixture.predict(shares) if place is None else np.zeros(len(self.input))
        if place is not None:
            self.input[place] = 1.0
        self.steps += 1
        self._said = None
        return bits

    def forget_said(self) -> None:
        """Predict the coming row anew: its networks were changed from outside."""
        self._said = None

    def save(self, path: str | Path) -> None:
        """All it knows, in one file.

        Raises:
            CheckpointError: the file cannot be written.
        """
        save(Path(path), Checkpoint(self.state(), {"categories": self.settings}))

    @classmethod
    def load(cls, path: str | Path) -> CategoryForecaster:
        """The forecaster of a file, as it was saved, to the bit.

        Raises:
            CheckpointError: there is no such file, it is damaged, or of something else.
        """
        found = load(Path(path))
        forecaster = cls(**settings_in(found, Path(path), "categories"))
        forecaster.restore(found.arrays)
        return forecaster

    def state(self) -> Arrays:
        names = [name.encode() for name in self.categories]
        found = super().state() | {
            "names": np.frombuffer(b"".join(names), np.uint8).copy(),
            "lengths": np.array([len(name) for name in names], np.int64),
        }
        for k, learner in enumerate(self.learners):
            found |= {f"learner.{k}.{name}": a for name, a in vars(learner.state).items()}
        return found

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        super().restore(state)
        text, ends = state["names"].tobytes(), np.cumsum(state["lengths"]).tolist()
        begins = [0, *ends[:-1]] if ends else []
        self.categories = [text[a:b].decode() for a, b in zip(begins, ends, strict=True)]
        for k, learner in enumerate(self.learners):
            mine = learner.state
            for name, array in vars(mine).items():
                array[...] = state[f"learner.{k}.{name}"]
            learner.state = mine
        self._said = None

    def _named(self, shares: Floats) -> CategoryPrediction:
        known = len(self.categories)
        named = dict(zip(self.categories, shares[:known].tolist(), strict=True))
        return CategoryPrediction(named, float(shares[known:].sum()))

    def _place(self, category: str) -> int:
        """The class of a category, which gets one where it is new and there is room."""
        if category in self.categories:
            return self.categories.index(category)
        if len(self.categories) < len(self.input) - 1:
            self.categories.append(category)
            return len(self.categories) - 1
        return len(self.input) - 1

    def _shares(self) -> Floats:
        """(expert, class) what each expert says; kept until the next row."""
        if self._said is None:
            counted, came = self.counts.predict(), self.came
            # What is new comes as often for the networks as it does for the counts of all.
            new = np.where(came, 0.0, counted[0])
            said = np.array([learner.predict(self.input) for learner in self.learners], np.float64)
            said = np.where(came, (1 - EVEN) * said + EVEN / len(came), 0.0)
            said *= (1 - new.sum()) / np.maximum(said.sum(axis=1, keepdims=True), 1e-300)
            self._said = np.vstack((counted, said + new))
        return self._said

    def _set_bias(self, classes: int | slice, bias: float) -> None:
        """Of the readouts, so that classes nobody has seen take no part."""
        for learner in self.learners:
            state = learner.state
            views = learner.network.plan.weights.views(state.weights)
            views["readout.bias"][classes] = bias
            learner.state = state


def _require(name: str, size: int, least: int) -> None:
    if isinstance(size, bool) or not isinstance(size, int) or size < least:
        expected = f"a whole number of at least {least}"
        raise UsageError(f"CategoryForecaster {name}", expected, repr(size), f"Try {least}.")
