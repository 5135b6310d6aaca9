"""Several small nets on one stream, predicting together with averaged weights.

Every member learns alone. What it says is said by its running average of weights, which reads the
stream with memories of its own. Members are mixed by Bayes' rule with a memory: the weight of one
is exp(-eta * its discounted surprise), so those that have not understood yet hardly count, and
those that have are averaged.

Members may learn from inputs that are jittered, each by noise of its own, while the averages read
the stream as it is. Then a state that drifts under an input that repeats costs something at once,
not first when the input has been repeated more often than ever before, and what is learned settles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tidegate.kernels.plan import Array
from tidegate.learn import Learner, Predictor

__all__ = ["FrozenMixture", "Mixture", "class_surprise", "pieces", "yes_no_surprise"]

#: (predictions (steps, outputs), targets (steps, targets)) -> nats (steps,)
Surprise: TypeAlias = Callable[[Array, Array], Array]

_LEAST = 1e-12


def class_surprise(predictions: Array, targets: Array) -> Array:
    """-log of the share that the class which came had; 0 where nothing was asked.

    >>> class_surprise(np.array([[0.5, 0.5]]), np.array([[1.0]])).round(3)
    array([0.693])
    """
    known = np.isfinite(targets[:, 0])
    index = np.where(known, targets[:, 0], 0).astype(np.int64)
    shares = predictions[np.arange(len(index)), index]
    return np.where(known, -np.log(np.maximum(shares, _LEAST)), 0.0)


def yes_no_surprise(predictions: Array, targets: Array) -> Array:
    """-log of the probability of all answers yes or no that came, one for each output.

    >>> yes_no_surprise(np.array([[0.5, 0.75]]), np.array([[1.0, 0.0]])).round(3)
    array([2.079])
    """
    known = np.isfinite(targets)
    came = np.where(targets == 1, predictions, 1 - predictions)
    nats = -np.log(np.where(known, np.maximum(came, _LEAST), 1))
    return np.asarray(nats.sum(axis=1))


class Mixture:
    """Learners side by side, and the averages that speak for them.

    Args:
        members: made with ``averaging``, all of one shape.
        eta: how sharply surprise tells in the mixture; 1 is Bayes' rule.
        window: steps over which surprise is remembered.
        surprise: of predictions when they met their targets.
        jitter: uniform noise of up to this much, either way, on what the members learn from.
        seed: of the noise.

    >>> from tidegate.learn import Network, RunningAverage, Softmax
    >>> network = Network(inputs=2, outputs=2, units=2)
    >>> def member(seed):
    ...     return Learner(network, Softmax(), averaging=RunningAverage(), seed=seed)
    >>> mixture = Mixture([member(1), member(2)])
    >>> mixture.learn(np.eye(2)[[0, 1, 0]], np.array([[1.0], [0.0], [1.0]])).shape
    (3, 2)
    >>> float(mixture.shares.sum())
    1.0
    """

    def __init__(
        self,
        members: Sequence[Learner],
        eta: float = 0.2,
        window: float = 500.0,
        surprise: Surprise = class_surprise,
        jitter: float = 0.0,
        seed: int = 0,
    ) -> None:
        self._voices = [_Voice(member) for member in members]
        self._eta, self._window, self._surprise = eta, window, surprise
        self._jitter, self._rng = jitter, np.random.default_rng(seed)
        self._losses = np.zeros(len(members))

    @property
    def shares(self) -> Array:
        """(members,) what each has to say in the mixture."""
        powers = np.exp(-self._eta * (self._losses - self._losses.min()))
        return np.asarray(powers / powers.sum())

    def learn(self, xs: Array, targets: Array) -> Array:
        """Predict the steps with the weights of now, then learn them.

        Args:
            xs: (steps, inputs), a short piece: averages and shares stand still within it.
            targets: (steps, targets).

        Returns:
            predictions (steps, outputs), made before the targets were seen.
        """
        said = [voice.say(xs) for voice in self._voices]
        mixed = _mixed(self.shares, said)
        for voice in self._voices:
            voice.member.run(self._jittered(xs), targets)
        ages = np.arange(len(xs))[::-1]
        fading = (1 - 1 / self._window) ** ages
        news = np.array([fading @ self._surprise(one, targets) for one in said])
        self._losses = (1 - 1 / self._window) ** len(xs) * self._losses + news
        return mixed

    def _jittered(self, xs: Array) -> Array:
        if not self._jitter:
            return xs
        noise = self._rng.random(xs.shape, np.float32)
        noise *= 2
        noise -= 1
        noise *= self._jitter
        return np.asarray(xs + noise)

    def frozen(self) -> FrozenMixture:
        """A copy that no longer learns."""
        return FrozenMixture(
            [voice.member.averaged() for voice in self._voices], self.shares.copy()
        )


@dataclass(frozen=True)
class FrozenMixture:
    """The averages of a moment, mixed by the shares of that moment."""

    predictors: Sequence[Predictor]
    shares: Array

    def run(self, xs: Array) -> Array:
        """Predictions (steps, outputs); memories go on."""
        seen = np.asarray(xs, np.float64)
        return _mixed(self.shares, [predictor.run(seen) for predictor in self.predictors])

    def forget(self) -> None:
        """Memories to their start."""
        for predictor in self.predictors:
            predictor.forget()


class _Voice:
    """A learner's averaged weights at work on the stream, with memories of their own."""

    def __init__(self, member: Learner) -> None:
        self.member = member
        self._average = member.averaged()

    def say(self, xs: Array) -> Array:
        self._average.adopt_average(self.member)
        return self._average.run(xs)


def _mixed(shares: Array, said: Sequence[Array]) -> Array:
    return np.asarray(np.einsum("k,kso->so", shares, np.asarray(said, np.float64)))


def pieces(steps: int, done: int, shortest: int = 25) -> Iterator[int]:
    """Lengths that add up to ``steps``: short ones while the weights still move fast.

    Args:
        steps: to be learned now.
        done: steps learned before.
        shortest: of the first lengths; later ones are a two-hundredth of what was
            learned, up to 80 times the first.

    >>> list(pieces(100, done=0)), len(list(pieces(10**6, done=0)))
    ([25, 25, 25, 25], 1383)
    """
    while steps > 0:
        length = min(max(shortest, done // 200), 80 * shortest, steps)
        yield length
        steps, done = steps - length, done + length
