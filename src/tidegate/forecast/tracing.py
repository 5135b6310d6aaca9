"""What the gates of a model's networks did, step by step, into a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tidegate._core.trace import Meta
from tidegate._core.trace_files import TraceWriter, cut
from tidegate._core.trace_folders import folder_of
from tidegate._core.version import __version__
from tidegate.forecast.bare import BareNetwork
from tidegate.forecast.categories import CategoryForecaster
from tidegate.forecast.models import ForecasterModel
from tidegate.kernels.looking import Look, looking
from tidegate.kernels.plan import Array
from tidegate.kernels.recording import Passed, trace_of
from tidegate.learn import Learner

__all__ = ["CategoryTracer", "ExpertsTracer", "LearnerTracer", "NetworkTracer", "Tracer"]

BLOCK = 256  #: steps that are worked out together


class LearnerTracer:
    """Writes log-retention, memories, hidden values and gates of every step that is learned.

    Learning is not touched: what passes through the network is worked out beside it, from its
    state before the step.

    Args:
        learner: whose gates are recorded.
        folder: where; what it holds after ``step`` is deleted.
        step: the last step to keep.
        seed: of the run, for the record.

    >>> import tempfile
    >>> from tidegate._core.trace_files import read_trace
    >>> from tidegate.learn import Network
    >>> learner = Learner(Network(inputs=1, outputs=1, units=2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tracer = LearnerTracer(learner, Path(folder), step=0, seed=0)
    ...     for step in (1, 2, 3):
    ...         tracer.keep(tracer.look(np.array([1.0])), step)
    ...         outputs = learner.learn(np.array([1.0]), 0.5)
    ...     tracer.close()
    ...     read_trace(Path(folder)).log_retention["c"].shape
    (3, 1, 2)
    """

    def __init__(self, learner: Learner, folder: Path, step: int, seed: int) -> None:
        self._seed = seed
        self._writer = TraceWriter(folder)
        cut(folder, step + 1)
        self._first = 0
        self._kept: list[Look] = []
        self.follow(learner)

    def follow(self, learner: Learner) -> None:
        """Record this one from here on, in a piece of its own; it has as many units."""
        self.close()
        self.learner = learner
        self._look = looking(learner._online, learner._engine)

    def look(self, x: Array) -> Look:
        """What will pass through the network for x (inputs,)."""
        return self._look(x)[0]

    def keep(self, passing: Look, step: int) -> None:
        """What had been seen by :meth:`look` was learned, as the step of that number."""
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
        layer = self.learner.network.plan.layers[0]
        meta = Meta(
            cell=repr(layer.equations.cell),
            sizes={"layer": 0, "inputs": layer.inputs, "units": layer.units},
            seed=self._seed,
            versions={"tidegate": __version__, "numpy": np.__version__},
            start=self._first,
        )
        reset = np.zeros((len(kept), 1), bool)
        self._writer.write(trace_of(layer, Passed(slots, past, parameters), reset, meta))
        self._kept.clear()


class NetworkTracer:
    """Records a bare network; a step of the trace has the number of its record.

    Args:
        network: whose gates are recorded.
        folder, step, seed: as of :class:`LearnerTracer`.

    >>> import tempfile
    >>> from tidegate._core.trace_files import read_trace
    >>> network = BareNetwork(columns=1, cell="lstm", units=2, seed=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tracer = NetworkTracer(network, Path(folder), step=0, seed=0)
    ...     for step, value in enumerate((1.0, 3.0, 2.0), start=1):
    ...         tracer.look()
    ...         flags = network.observe(np.array([value]))
    ...         tracer.keep(step)
    ...     tracer.close()
    ...     read_trace(Path(folder)).log_retention["c"].shape
    (1, 1, 2)
    """

    def __init__(self, network: BareNetwork, folder: Path, step: int, seed: int) -> None:
        self._network = network
        self._tracer = LearnerTracer(network.learner, folder, step, seed)
        self._seen: Look | None = None

    def look(self) -> None:
        """See what will pass through the network at the coming row."""
        network = self._network
        self._seen = self._tracer.look(network.asked) if network.scale else None

    def keep(self, step: int) -> None:
        """What was seen was learned, as the step of that number."""
        if self._seen is not None:
            self._tracer.keep(self._seen, step)

    def close(self) -> None:
        """Closes the open piece; more may come."""
        self._tracer.close()


class ExpertsTracer:
    """Records every gated expert of a forecaster, each in a folder of its own.

    Args:
        model: whose experts are recorded.
        folder: of the folders, which are named as the experts are.
        step, seed: as of :class:`LearnerTracer`.

    >>> import tempfile
    >>> from tidegate._core.trace_folders import traced
    >>> from tidegate.forecast import Forecaster
    >>> model = ForecasterModel(Forecaster(units=2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tracer = ExpertsTracer(model, Path(folder), step=0, seed=0)
    ...     for step in range(1, 20):
    ...         tracer.look()
    ...         said, outcome = model.predict(None), model.learn(np.array([step % 3.0]), None)
    ...         tracer.keep(step)
    ...     tracer.close()
    ...     traced(Path(folder))[:2]
    ['changes', 'gated']
    """

    def __init__(self, model: ForecasterModel, folder: Path, step: int, seed: int) -> None:
        self._model, self._seen = model, dict[str, Look]()
        self._core = model.forecaster.core
        self._tracers = {
            name: LearnerTracer(learner, folder_of(folder, name), step, seed)
            for name, learner in model.forecaster.networks().items()
        }
        model.before_learning = self._see

    def look(self) -> None:
        """The coming row is seen when it has been predicted, before it is learned."""
        self._seen.clear()

    def keep(self, step: int) -> None:
        """What was seen was learned, as the step of that number."""
        for name, passing in self._seen.items():
            self._tracers[name].keep(passing, step)

    def close(self) -> None:
        """Closes the open pieces; more may come."""
        for tracer in self._tracers.values():
            tracer.close()

    def _see(self, inputs: Sequence[Array]) -> None:
        forecaster = self._model.forecaster
        networks = forecaster.networks()  # asked for at every step: only then they stand still
        if forecaster.core is not self._core:
            self._core = forecaster.core
            for name, learner in networks.items():
                self._tracers[name].follow(learner)
        for (name, tracer), x in zip(self._tracers.items(), inputs, strict=True):
            self._seen[name] = tracer.look(x)


class CategoryTracer:
    """Records both networks of a forecaster of categories, each in a folder of its own.

    Args:
        forecaster: whose networks are recorded.
        folder: of the folders, which are named as its experts are.
        step, seed: as of :class:`LearnerTracer`.

    >>> import tempfile
    >>> from tidegate._core.trace_folders import traced
    >>> forecaster = CategoryForecaster(limit=4, units=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tracer = CategoryTracer(forecaster, Path(folder), step=0, seed=0)
    ...     for step, day in enumerate(("sun", "rain", "sun"), start=1):
    ...         tracer.look()
    ...         bits = forecaster.learn(day)
    ...         tracer.keep(step)
    ...     tracer.close()
    ...     traced(Path(folder))
    ['gated quick', 'gated steady']
    """

    def __init__(self, forecaster: CategoryForecaster, folder: Path, step: int, seed: int) -> None:
        self._forecaster, self._seen = forecaster, list[Look]()
        self._tracers = [
            LearnerTracer(learner, folder_of(folder, name), step, seed)
            for name, learner in forecaster.networks().items()
        ]

    def look(self) -> None:
        """See what will pass through the networks at the coming row."""
        self._seen = [tracer.look(self._forecaster.input) for tracer in self._tracers]

    def keep(self, step: int) -> None:
        """What was seen was learned, as the step of that number."""
        for tracer, passing in zip(self._tracers, self._seen, strict=True):
            tracer.keep(passing, step)

    def close(self) -> None:
        """Closes the open pieces; more may come."""
        for tracer in self._tracers:
            tracer.close()


Tracer = NetworkTracer | ExpertsTracer | CategoryTracer


def _joined(steps: list[Array]) -> Array:
    """(steps, one row, kinds, units); a stack would look at every one of them anew."""
    return np.concatenate(steps).reshape(len(steps), 1, *steps[0].shape)
