"""The learner: predicts a never-ending stream while it learns, one step at a time."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidegate._core.errors import UsageError
from tidegate.kernels import engine
from tidegate.kernels.engine import Mark
from tidegate.kernels.plan import (
    CAPPED,
    CLIPPED,
    MISSING,
    Array,
    Averaging,
    Loss,
    Optimiser,
    State,
)
from tidegate.kernels.reference import Online
from tidegate.learn.arguments import check_clip, float_type, number_of_targets, numbers
from tidegate.learn.losses import Squared
from tidegate.learn.network import Network
from tidegate.learn.optimisers import Adam

__all__ = ["Learner", "Predictor"]

_DOUBLE = np.dtype(np.float64)


class Learner:
    """A network that learns online, at the same cost and memory at step 10^9 as at step 10.

    ``predict`` changes nothing that can be seen; ``learn`` is one step of the stream: it sees the
    input, meets the target, and updates traces, weights and memories. Feeding a stream whole
    (``run``), step by step or in pieces gives the same numbers.

    Args:
        network: what learns.
        loss: how predictions meet targets; half the squared error by default.
        optimiser: the update rule; :class:`~tidegate.learn.Adam` by default.
        averaging: keeps a running average of the weights beside the raw ones, for
            :meth:`averaged`.
        clip: largest Euclidean norm of d loss / d logits; longer ones are shortened and counted
            in ``clipped``.
        seed: of the start weights.
        dtype: ``float32`` or ``float64``.

    Attributes:
        flags: what happened at the last step of :meth:`learn`, as bits: 1 clipped, 2 missing,
            4 capped.
        clipped: steps whose error was clipped.
        missing: steps with an input or target that was not finite: such an input counts as 0,
            such a target teaches nothing.
        capped: steps with an input beyond +-100, capped there: inputs are expected on the scale
            of 1.

    Raises:
        UsageError: the cell cannot be learned online, the loss does not fit the network's
            outputs, or an option is impossible.

    Source: the truncated online gradient of Gers, Schmidhuber & Cummins (2000), section 3.2.

    >>> learner = Learner(Network(inputs=1, outputs=1, cell="lstm", units=4), seed=1)
    >>> wave = np.sin(np.arange(3001) * 0.3)
    >>> predictions = learner.run(wave[:-1, None], wave[1:, None])
    >>> errors = abs(predictions[:, 0] - wave[1:])
    >>> bool(errors[-300:].mean() < 0.5 * errors[:300].mean()), learner.steps
    (True, 3000)
    """

    def __init__(
        self,
        network: Network,
        loss: Loss | None = None,
        optimiser: Optimiser | None = None,
        averaging: Averaging | None = None,
        clip: float = 10.0,
        seed: int = 0,
        dtype: Any = np.float32,
    ) -> None:
        self.network = network
        self.loss = loss or Squared()
        self.dtype = float_type("Learner", dtype)
        check_clip("Learner", clip)
        self._targets = number_of_targets(self.loss, network.outputs)
        self._input_shape, self._target_shape = (network.inputs,), (self._targets,)
        self._online = Online(network.plan, self.loss, optimiser or Adam(), averaging, clip)
        start = self._online.start(network.initial(seed).astype(self.dtype))
        self._engine = engine.learning(self._online, start)
        self.flags = self.clipped = self.missing = self.capped = 0

    @property
    def state(self) -> State:
        """A copy of all the learner knows, in flat arrays; assign one to go on from there."""
        return self._engine.state

    @state.setter
    def state(self, state: State) -> None:
        self._engine.restore(state)

    def mark(self) -> Mark:
        """All the learner knows, to :meth:`rewind` to: cheaper than :attr:`state`, good here only.

        >>> learner = Learner(Network(inputs=1, outputs=1, units=4))
        >>> mark = learner.mark()
        >>> tried = learner.run(np.ones((9, 1)), np.ones(9))
        >>> learner.rewind(mark)
        >>> learner.steps, np.array_equal(learner.run(np.ones((9, 1)), np.ones(9)), tried)
        (0, True)
        """
        return self._engine.mark()

    def rewind(self, mark: Mark) -> None:
        """Go on from a :meth:`mark` of this learner, exact to the bit."""
        self._engine.rewind(mark)

    @property
    def steps(self) -> int:
        """Steps of the stream learned so far."""
        return self._engine.steps

    def predict(self, x: ArrayLike) -> Array:
        """The prediction for input x (inputs,); asking twice, or not at all, changes nothing."""
        seen = x if _is_row(x, self._input_shape) else _shaped("x", x, 1, self.network.inputs)
        return self._engine.predict(seen)

    def learn(self, x: ArrayLike, target: ArrayLike) -> Array:
        """One step of the stream.

        Args:
            x: (inputs,).
            target: (targets,) or a number; NaN where it is not known.

        Returns:
            the prediction made before the target was seen.
        """
        seen = x if _is_row(x, self._input_shape) else _shaped("x", x, 1, self.network.inputs)
        wanted = target if _is_row(target, self._target_shape) else self._wanted(target, 1)
        prediction, self.flags = self._engine.learn(seen, wanted)
        if self.flags:
            self._count(np.array([self.flags], np.uint8))
        return prediction

    def run(
        self, xs: ArrayLike, targets: ArrayLike, starts: NDArray[np.bool_] | None = None
    ) -> Array:
        """Many steps: xs (steps, inputs), targets (steps, targets) or (steps,).

        Args:
            xs: what is seen.
            targets: what it should have predicted; NaN where it is not known.
            starts: (steps,) before which steps to :meth:`forget`, as where episodes begin.

        Returns:
            predictions (steps, ...), each made before its target was seen.

        Raises:
            UsageError: the arrays are not of as many steps, or not of the network's shape.
        """
        seen = _shaped("xs", xs, 2, self.network.inputs)
        wanted = self._wanted(targets, 2)
        if len(seen) != len(wanted):
            raise UsageError(
                "Learner.run",
                "as many targets as inputs",
                f"{len(wanted)} for {len(seen)} steps",
                "Give targets of shape (steps, targets), NaN where one is not known.",
            )
        predictions, flags = self._engine.run(seen, wanted, _one_each(starts, len(seen)))
        self._count(flags)
        return predictions

    def predictor(self) -> Predictor:
        """A frozen copy: predicts with the weights of now, from the memories of now."""
        return Predictor(self, self.state)

    def averaged(self) -> Predictor:
        """A frozen copy with the averaged weights.

        Raises:
            UsageError: the learner was made without ``averaging``.
        """
        _require_average("Learner.averaged", self)
        state = self.state
        state.weights[...] = state.average
        return Predictor(self, state)

    def forget(self) -> None:
        """Memories to their start, eligibility traces to 0, as for a stream that begins anew."""
        self._engine.forget()

    def _count(self, flags: NDArray[np.uint8]) -> None:
        if not np.count_nonzero(flags):
            return
        self.clipped += int(np.count_nonzero(flags & CLIPPED))
        self.missing += int(np.count_nonzero(flags & MISSING))
        self.capped += int(np.count_nonzero(flags & CAPPED))

    def _wanted(self, target: ArrayLike, axes: int) -> Array:
        wanted = numbers("Learner target", target)
        if wanted.ndim == axes - 1 and self._targets == 1:
            wanted = wanted[..., None]
        return _fitting("target", wanted, axes, self._targets)


class Predictor:
    """A network that predicts a stream with weights that no longer change.

    Made by :meth:`Learner.predictor` or :meth:`Learner.averaged`; its memories are its own.

    >>> learner = Learner(Network(inputs=1, outputs=1, units=4))
    >>> predictor = learner.predictor()
    >>> predictor.forget()
    >>> predictor.run(np.zeros((5, 1))).shape
    (5, 1)
    """

    def __init__(self, learner: Learner, state: State) -> None:
        self._inputs = learner.network.inputs
        self._engine = engine.frozen(learner._online, state)

    def run(self, xs: ArrayLike, starts: NDArray[np.bool_] | None = None) -> Array:
        """Predictions (steps, ...) for xs (steps, inputs); memories go on.

        Args:
            xs: what is seen.
            starts: (steps,) before which steps to :meth:`forget`.

        Raises:
            UsageError: the arrays are not of as many steps, or not of the network's shape.
        """
        seen = _shaped("xs", xs, 2, self._inputs)
        return self._engine.run(seen, _one_each(starts, len(seen)))

    def follow(self, learner: Learner) -> None:
        """Be a copy of ``learner`` as it is now; it must be the one this was made from."""
        self._engine.follow(learner.mark())

    def adopt_average(self, learner: Learner) -> None:
        """Speak by the averaged weights of ``learner`` as they are now; memories stay one's own.

        Args:
            learner: the one this was made from; it keeps an average.

        Raises:
            UsageError: it keeps none.

        >>> from tidegate.learn import RunningAverage
        >>> learner = Learner(Network(inputs=1, outputs=1), averaging=RunningAverage())
        >>> voice = learner.averaged()
        >>> _ = learner.run(np.ones((9, 1)), np.ones(9))
        >>> voice.adopt_average(learner)
        >>> voice.run(np.zeros((5, 1))).shape
        (5, 1)
        """
        _require_average("Predictor.adopt_average", learner)
        self._engine.adopt_average(learner.mark())

    def forget(self) -> None:
        """Memories to their start."""
        self._engine.forget()


def _is_row(values: ArrayLike, shape: tuple[int, ...]) -> TypeGuard[Array]:
    """Whether nothing is left to do: calls step by step spend most of their time on such."""
    return type(values) is np.ndarray and values.dtype is _DOUBLE and values.shape == shape


def _require_average(owner: str, learner: Learner) -> None:
    if learner._online.averaging is None:
        raise UsageError(
            owner,
            "a learner that averages",
            "averaging=None",
            "Make it with averaging=RunningAverage().",
        )


def _one_each(starts: NDArray[np.bool_] | None, steps: int) -> NDArray[np.bool_] | None:
    if starts is None or (starts.dtype == np.bool_ and starts.shape == (steps,)):
        return starts
    raise UsageError(
        "Learner.run starts",
        f"booleans of shape ({steps},)",
        f"{starts.dtype} {starts.shape}",
        "Say of each step whether memories are emptied before it.",
    )


def _shaped(name: str, values: ArrayLike, axes: int, size: int) -> Array:
    return _fitting(name, numbers(f"Learner {name}", values), axes, size)


def _fitting(name: str, array: Array, axes: int, size: int) -> Array:
    if array.ndim != axes or array.shape[-1] != size:
        expected = f"({size},)" if axes == 1 else f"(steps, {size})"
        raise UsageError(
            f"Learner {name}", f"shape {expected}", str(array.shape), "Reshape it to match."
        )
    return array
