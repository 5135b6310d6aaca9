"""Spikes and rhythms: the streams of the three timing tasks of 2002."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tidegate.experiments.signals import SignalSource
from tidegate.kernels.plan import Array

__all__ = ["DelaySource", "RhythmSource", "SpikeSource"]


class DelaySource(SignalSource):
    """Measure spike delays: a spike comes F or F + 1 steps after the last; at it, say which.

    >>> source = DelaySource(3, frequency=4)
    >>> source.begin(); source.read()
    >>> source.inputs[:12, 0].astype(int).tolist(), source.targets[source.asked][:2, 0].tolist()
    ([1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0], [1.0, 0.0])
    """

    def __init__(self, seed: int, frequency: int) -> None:
        super().__init__(seed)
        self._frequency = frequency

    def restart(self) -> None:
        self._begun = False

    def draw(self, steps: int) -> tuple[Array, Array]:
        late = self.rng.integers(0, 2, steps // self._frequency + 1)
        at = np.cumsum(self._frequency + late) - self._begun
        inputs = np.zeros((int(at[-1]) + 1, 1))
        targets = np.full(inputs.shape, np.nan)
        inputs[at, 0], targets[at, 0] = 1.0, late
        if not self._begun:
            inputs[0] = 1.0
        self._begun = True
        return inputs, targets


class SpikeSource(SignalSource):
    """Generate timed spikes: one every F + I steps, I held as input until the next.

    >>> source = SpikeSource(3, frequency=4)
    >>> source.begin(); source.read()
    >>> np.flatnonzero(source.targets[:14, 0]).tolist()
    [4, 8, 12]
    """

    def __init__(self, seed: int, frequency: int) -> None:
        super().__init__(seed)
        self._frequency = frequency

    def restart(self) -> None:
        """Nothing is kept between intervals."""

    def draw(self, steps: int) -> tuple[Array, Array]:
        late = self.rng.integers(0, 2, steps // self._frequency + 1)
        lengths = self._frequency + late
        inputs = np.repeat(late, lengths)[:, None].astype(np.float64)
        targets = np.zeros(inputs.shape)
        targets[np.cumsum(lengths) - 1] = 1.0
        return inputs, targets


class RhythmSource(SignalSource):
    """Generate a periodic function of period F, with nothing to go by.

    >>> source = RhythmSource(3, frequency=4, wave=np.cos)
    >>> source.begin(); source.read()
    >>> source.targets[:4, 0].round(6).tolist()
    [1.0, 0.0, -1.0, 0.0]
    """

    def __init__(self, seed: int, frequency: int, wave: Callable[[Array], Array]) -> None:
        super().__init__(seed)
        self._frequency, self._wave = frequency, wave

    def restart(self) -> None:
        self._done = 0

    def draw(self, steps: int) -> tuple[Array, Array]:
        at = self._done + np.arange(steps)
        self._done += steps
        phase = 2 * np.pi * (at % self._frequency) / self._frequency
        return np.zeros((steps, 1)), np.asarray(self._wave(phase))[:, None]
