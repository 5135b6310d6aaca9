"""Many independent learners of one shape side by side: for sweeps and for many small streams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidegate._core.errors import UsageError
from tidegate.kernels import engine
from tidegate.kernels.plan import CAPPED, CLIPPED, MISSING, Array, Averaging, Loss, Optimiser, State
from tidegate.kernels.reference import Online
from tidegate.learn.arguments import check_clip, float_type, number_of_targets, numbers
from tidegate.learn.learner import Learner
from tidegate.learn.losses import Squared
from tidegate.learn.network import Network
from tidegate.learn.optimisers import Adam

__all__ = ["Lanes"]


class Lanes:
    """Learners side by side, each with its own seed, stream, weights and memories.

    A vector of the processor moves as many learners as it has lanes, so small networks learn many
    times faster side by side than one after the other. A learner's numbers are the same bits
    whatever its neighbours do, and those of a :class:`~tidegate.learn.Learner` on its own up to
    rounding (float32: about 1e-5).

    Args:
        network: what each of them is.
        seeds: of their start weights; as many learners as seeds.
        loss: how predictions meet targets; half the squared error by default.
        optimiser: the update rule; :class:`~tidegate.learn.Adam` by default.
        averaging: keeps a running average of the weights of each.
        clip: largest Euclidean norm of d loss / d logits; longer ones are shortened and counted.
        dtype: ``float32`` or ``float64``.

    Attributes:
        clipped: (learners,) steps whose error was clipped.
        missing: (learners,) steps with an input or target that was not finite.
        capped: (learners,) steps with an input beyond +-100.

    Raises:
        UsageError: no seeds, or what :class:`~tidegate.learn.Learner` refuses.

    >>> lanes = Lanes(Network(inputs=1, outputs=1, units=4), seeds=range(100))
    >>> waves = np.sin(np.arange(3001)[:, None, None] * np.linspace(0.2, 0.4, 100))
    >>> predictions = lanes.run(waves[:-1], waves[1:])
    >>> errors = abs(predictions - waves[1:])
    >>> bool(np.median(errors[-300:]) < 0.5 * np.median(errors[:300])), predictions.shape
    (True, (3000, 1, 100))
    """

    def __init__(
        self,
        network: Network,
        seeds: Sequence[int],
        loss: Loss | None = None,
        optimiser: Optimiser | None = None,
        averaging: Averaging | None = None,
        clip: float = 10.0,
        dtype: Any = np.float32,
    ) -> None:
        self.network, self.loss = network, loss or Squared()
        self.dtype = float_type("Lanes", dtype)
        check_clip("Lanes", clip)
        if not len(seeds):
            raise UsageError("Lanes seeds", "at least one", "none", "Try seeds=range(16).")
        self._targets = number_of_targets(self.loss, network.outputs)
        self._online = Online(network.plan, self.loss, optimiser or Adam(), averaging, clip)
        starts = [network.initial(seed).astype(self.dtype) for seed in seeds]
        self._engine = engine.side_by_side(self._online, list(map(self._online.start, starts)))
        self.clipped, self.missing, self.capped = np.zeros((3, len(seeds)), np.int64)

    def __len__(self) -> int:
        return len(self.clipped)

    def run(self, xs: ArrayLike, targets: ArrayLike) -> Array:
        """Many steps of every learner.

        Args:
            xs: (steps, inputs, learners); (steps, inputs, 1) where all see the same.
            targets: (steps, targets, learners) or, for single targets, (steps, learners); again
                with 1 for the learners where all meet the same. NaN where one is not known.

        Returns:
            predictions (steps, outputs, learners), each made before its target was seen.

        Raises:
            UsageError: another shape, no numbers, or a target that is no class.
        """
        seen = self._fitting("xs", numbers("Lanes xs", xs), self.network.inputs)
        wanted = numbers("Lanes targets", targets)
        if wanted.ndim == 2 and self._targets == 1:
            wanted = wanted[:, None]
        wanted = self._fitting("targets", wanted, self._targets)
        if len(seen) != len(wanted):
            raise UsageError(
                "Lanes.run",
                "as many targets as inputs",
                f"{len(wanted)} for {len(seen)} steps",
                "Give targets for every step, NaN where one is not known.",
            )
        predictions, flags = self._engine.run(seen, wanted)
        self._count(flags)
        return predictions

    def state(self, lane: int) -> State:
        """A copy of all that one learner knows: that of a learner on its own."""
        return self._engine.state(self._checked(lane))

    def restore(self, lane: int, state: State) -> None:
        """Let one learner go on from ``state`` (copied): its own, or one of a ``Learner``.

        Raises:
            UsageError: the state is of another network, rule or dtype.
        """
        place = self._checked(lane)
        expected, found = _shapes(self._engine.state(place)), _shapes(state)
        if found != expected:
            raise UsageError("Lanes state", expected, found, "Take it from a learner of this kind.")
        self._engine.restore(place, state)

    def learner(self, lane: int) -> Learner:
        """A :class:`~tidegate.learn.Learner` of its own, from where one of these is now.

        It can predict step by step, be averaged, and be written to a file.

        >>> lanes = Lanes(Network(inputs=1, outputs=1, units=4), seeds=[5, 6])
        >>> _ = lanes.run(np.ones((10, 1, 1)), np.ones((10, 1)))
        >>> one = lanes.learner(1)
        >>> one.steps, one.predict([1.0]).shape
        (10, (1,))
        """
        online, place = self._online, self._checked(lane)
        rules = (online.optimiser, online.averaging, online.clip)
        one = Learner(self.network, self.loss, *rules, dtype=self.dtype)
        one.state = self._engine.state(place)
        for name in ("clipped", "missing", "capped"):
            setattr(one, name, int(getattr(self, name)[place]))
        return one

    def _count(self, flags: NDArray[np.uint8]) -> None:
        self.clipped += np.count_nonzero(flags & CLIPPED, axis=0)
        self.missing += np.count_nonzero(flags & MISSING, axis=0)
        self.capped += np.count_nonzero(flags & CAPPED, axis=0)

    def _fitting(self, name: str, array: Array, size: int) -> Array:
        if array.ndim != 3 or array.shape[1] != size or array.shape[2] not in (1, len(self)):
            raise UsageError(
                f"Lanes {name}",
                f"shape (steps, {size}, {len(self)}) or (steps, {size}, 1)",
                str(array.shape),
                "The last axis is the learner; a stack of streams is np.stack(streams, axis=-1).",
            )
        return np.broadcast_to(array, (*array.shape[:2], len(self)))

    def _checked(self, lane: int) -> int:
        if not 0 <= lane < len(self):
            raise UsageError(
                "Lanes", f"a lane from 0 to {len(self) - 1}", str(lane), "Count from 0."
            )
        return lane


def _shapes(state: State) -> str:
    """What a state is made of, in words."""
    return ", ".join(f"{k} {array.dtype} {array.shape}" for k, array in vars(state).items())
