"""What the gates of a bare network did, step by step, into a folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tidegate._core.trace import Meta
from tidegate._core.trace_files import TraceWriter, cut
from tidegate._core.version import __version__
from tidegate.forecast.bare import BareNetwork
from tidegate.kernels.looking import Look, looking
from tidegate.kernels.plan import Array
from tidegate.kernels.recording import Passed, trace_of

__all__ = ["NetworkTracer"]

BLOCK = 256  #: steps that are worked out together


class NetworkTracer:
    """Writes log-retention, memories, hidden values and gates of every step that is learned.

    A step of the trace has the number of its record. Learning is not touched: what passes through
    the network is worked out beside it, from its state before the step.

    Args:
        network: whose gates are recorded.
        folder: where; what it holds after ``step`` is deleted.
        step: the last step to keep.
        seed: of the run, for the record.

    >>> import tempfile
    >>> from tidegate._core.trace_files import read_trace
    >>> network = BareNetwork(columns=1, cell="lstm", units=2, seed=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tracer = NetworkTracer(network, Path(folder), step=0, seed=0)
    ...     for step, value in enumerate((1.0, 3.0, 2.0), start=1):
    ...         passing = tracer.look()
    ...         flags = network.observe(np.array([value]))
    ...         tracer.keep(passing, step)
    ...     tracer.close()
    ...     read_trace(Path(folder)).log_retention["c"].shape
    (1, 1, 2)
    """

    def __init__(self, network: BareNetwork, folder: Path, step: int, seed: int) -> None:
        self._network, self._seed = network, seed
        learner = network.learner
        self._look = looking(learner._online, learner._engine)
        self._writer = TraceWriter(folder)
        cut(folder, step + 1)
        self._first = 0
        self._kept: list[Look] = []

    def look(self) -> Look | None:
        """What will pass through the network at the coming row; None where nothing will."""
        network = self._network
        if not network.scale:
            return None
        return self._look(network.asked)[0]

    def keep(self, passing: Look | None, step: int) -> None:
        """What had been seen by :meth:`look` was learned, as the step of that number."""
        if passing is None:
            return
        if self._kept and step != self._first + len(self._kept):
            self.close()  # a piece has no gaps
        if not self._kept:
            self._first = step
        self._kept.append(passing)
        if len(self._kept) == BLOCK:
            self._write()

    def close(self) -> None:
        """Closes the open piece, whole and on the disk's way; more may come."""
        if self._kept:
            self._write()
        self._writer.close()

    def _write(self) -> None:
        kept = self._kept
        slots, past, parameters = (
            _joined([look.slots for look in kept]),
            _joined([look.past for look in kept]),
            _joined([look.parameters for look in kept]),
        )
        layer = self._network.learner.network.plan.layers[0]
        meta = Meta(
            cell=repr(layer.equations.cell),
            sizes={"layer": 0, "inputs": layer.inputs, "units": layer.units},
            seed=self._seed,
            versions={"tidegate": __version__, "numpy": np.__version__},
            start=self._first,
        )
        reset = np.zeros((len(self._kept), 1), bool)
        self._writer.write(trace_of(layer, Passed(slots, past, parameters), reset, meta))
        self._kept.clear()


def _joined(steps: list[Array]) -> Array:
    """(steps, one row, kinds, units); a stack would look at every one of them anew."""
    return np.concatenate(steps).reshape(len(steps), 1, *steps[0].shape)
