"""What a kernel must know of a network: its layers as equations, its sizes, its arrays.

All state of a learner lies in flat arrays; a :class:`Shapes` says where in them each part lies.
The reference kernels and the compiled ones speak of the same arrays by the same names.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tidegate._core.errors import UsageError
from tidegate.calculus import Equations
from tidegate.cells.functions import Value

__all__ = [
    "CAPPED",
    "CLIPPED",
    "INPUT_LIMIT",
    "MISSING",
    "ZONES",
    "Array",
    "Averaging",
    "LayerPlan",
    "Loss",
    "Optimiser",
    "Plan",
    "PointwiseLoss",
    "Rule",
    "Shapes",
    "SharedLoss",
    "State",
]

Array = NDArray[Any]

#: inputs are expected on the scale of 1; beyond this they are capped, and said so
INPUT_LIMIT = 100.0

#: what happened at a step, as bits of one byte
CLIPPED, MISSING, CAPPED = 1, 2, 4

#: the three zones of rows that feed a unit's slots, in the order in which they are summed
ZONES = ("hidden", "input", "bias")


class Shapes(dict[str, tuple[int, ...]]):
    """Names and shapes of parts that lie one after the other in a flat array.

    >>> shapes = Shapes(a=(2, 3), b=(4,))
    >>> shapes.size
    10
    >>> shapes.views(np.arange(10.0))["b"]
    array([6., 7., 8., 9.])
    """

    @property
    def size(self) -> int:
        return sum(map(prod, self.values()))

    def views(self, flat: Array) -> dict[str, Array]:
        """The parts by name, as views into ``flat`` (last axis)."""
        views, start = {}, 0
        for name, shape in self.items():
            stop = start + prod(shape)
            views[name] = flat[..., start:stop].reshape(*flat.shape[:-1], *shape)
            start = stop
        return views


@dataclass(frozen=True)
class LayerPlan:
    """One layer: its equations, its units, and how many values feed it from below."""

    equations: Equations
    units: int
    inputs: int

    @property
    def outputs(self) -> int:
        """Hidden values that the layer above and the readout see: hidden names x units."""
        return len(self.equations.hidden) * self.units

    def rows(self, zone: str) -> int:
        return {"hidden": self.outputs, "input": self.inputs, "bias": 1}[zone]

    def weights(self) -> dict[str, tuple[int, ...]]:
        """zone -> (rows, slots fed by that zone, units); ``unit`` -> (parameters, units)."""
        eq = self.equations
        shapes = {zone: (self.rows(zone), len(eq.fed_by(zone)), self.units) for zone in ZONES}
        return shapes | {"unit": (len(eq.parameters), self.units)}

    def traces(self) -> dict[str, tuple[int, ...]]:
        """zone -> (rows, traces, units); ``unit`` -> (traces of parameters, units)."""
        eq = self.equations
        count = {zone: len(eq.traces_of(eq.fed_by(zone))) for zone in ZONES}
        shapes = {zone: (self.rows(zone), count[zone], self.units) for zone in ZONES}
        return shapes | {"unit": (len(eq.traces_of(eq.parameters)), self.units)}


@dataclass(frozen=True)
class Plan:
    """A network as kernels see it.

    Attributes:
        layers: from the input to the readout.
        inputs: size of the input vector x.
        outputs: size of the readout (logits).
        direct: whether the readout sees x itself beside the top layer's hidden values.
    """

    layers: tuple[LayerPlan, ...]
    inputs: int
    outputs: int
    direct: bool

    @cached_property
    def weights(self) -> Shapes:
        """``layer0.hidden`` (rows, slots, units), ... ``readout.hidden`` (rows, outputs) ..."""
        shapes = Shapes()
        for n, layer in enumerate(self.layers):
            shapes |= {f"layer{n}.{part}": shape for part, shape in layer.weights().items()}
        shapes["readout.hidden"] = (self.layers[-1].outputs, self.outputs)
        shapes["readout.input"] = (self.inputs if self.direct else 0, self.outputs)
        shapes["readout.bias"] = (self.outputs,)
        return shapes

    @cached_property
    def traces(self) -> Shapes:
        shapes = Shapes()
        for n, layer in enumerate(self.layers):
            shapes |= {f"layer{n}.{part}": shape for part, shape in layer.traces().items()}
        return shapes

    @cached_property
    def memory(self) -> Shapes:
        """``layer0`` (memories, units), ..."""
        return Shapes(
            {f"layer{n}": (len(la.equations.memory), la.units) for n, la in enumerate(self.layers)}
        )

    @cached_property
    def hidden(self) -> Shapes:
        """``layer0`` (hidden names, units), ..."""
        return Shapes(
            {f"layer{n}": (len(la.equations.hidden), la.units) for n, la in enumerate(self.layers)}
        )

    def refuse_second_products(self) -> None:
        """Online learning has no rule for cells with a second product.

        Raises:
            UsageError: a layer's cell has one; its gate's traces would grow with the cube of the
                units.
        """
        for layer in self.layers:
            if layer.equations.second_product:
                raise UsageError(
                    type(layer.equations.cell).__name__,
                    "a cell whose slots need one product with h for online learning",
                    f"slots {', '.join(layer.equations.second_product)} that need a second one",
                    "Learn it in batches (tidegate.layers), or take a cell without times=.",
                )


class Loss(ABC):
    """How the readout's logits meet the target."""

    @abstractmethod
    def targets(self, outputs: int) -> int:
        """How many target values a step has for a readout of ``outputs`` logits."""

    @abstractmethod
    def prediction(self, logits: Array) -> Array:
        """What the logits (..., outputs) predict, in the units of the target."""

    @abstractmethod
    def error(self, logits: Array, target: Array) -> Array:
        """d loss / d logits (outputs,) for a target (targets,); 0 where the target is NaN."""

    @abstractmethod
    def value(self, logits: Array, target: Array) -> Array:
        """The loss summed over the targets of a step, shape (...,); NaN targets count 0."""


class PointwiseLoss(Loss):
    """A loss that is a sum over targets, each with logits of its own, one for every part.

    Attributes:
        parts: names of the logits that one target has; the readout holds the first part of every
            target, then the second part of every target, and so on.
    """

    parts: ClassVar[tuple[str, ...]] = ("value",)

    @abstractmethod
    def means(self, logit: Any) -> Mapping[str, Value]:
        """What is predicted, by part, from the logits by part as attributes."""

    @abstractmethod
    def slopes(self, logit: Any, target: Value) -> Mapping[str, Value]:
        """d loss / d logit by part, written with the functions of ``cells.functions``."""

    def targets(self, outputs: int) -> int:
        return outputs // len(self.parts)

    def prediction(self, logits: Array) -> Array:
        means = self.means(self._split(logits))
        return np.concatenate([means[part] for part in self.parts], axis=-1, dtype=logits.dtype)

    def error(self, logits: Array, target: Array) -> Array:
        slopes = self.slopes(self._split(logits), target)
        by_part = [np.where(np.isnan(target), 0, slopes[part]) for part in self.parts]
        return np.concatenate(by_part, axis=-1, dtype=logits.dtype)

    def _split(self, logits: Array) -> SimpleNamespace:
        """The logits by part, as attributes, each (..., targets)."""
        pieces = np.split(logits, len(self.parts), axis=-1)
        return SimpleNamespace(**dict(zip(self.parts, pieces, strict=True)))


class SharedLoss(Loss):
    """A loss whose outputs share one total: softmax with cross-entropy against one class."""

    def targets(self, outputs: int) -> int:
        return 1


@dataclass(frozen=True)
class Rule:
    """What an optimiser makes of one weight: its new value and its new moments by name."""

    weight: Value
    moments: Mapping[str, Value]


class Optimiser(ABC):
    """An update rule as equations: the same text is the NumPy reference and the machine code.

    Attributes:
        moments: names of what it keeps beside every weight, all starting at 0.
    """

    moments: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def coefficients(self, updates: Array) -> Mapping[str, Array]:
        """What changes with the number of updates made before (steps,), each (steps,) float64."""

    @abstractmethod
    def update(self, weight: Value, gradient: Value, moment: Any, c: Any) -> Rule:
        """One update; ``moment`` and ``c`` hold moments and coefficients as attributes."""


class Averaging(ABC):
    """A running average of the weights: average += (weight - average) * share."""

    @abstractmethod
    def shares(self, updates: Array) -> Array:
        """The share of the newest weight by the number of updates made before, in [0, 1]."""


@dataclass
class State:
    """All a learner knows, in flat arrays; a checkpoint is these arrays.

    Attributes:
        weights: (weights,).
        moments: (moments, weights).
        average: (weights,), or (0,) without averaging.
        traces: eligibility traces (traces,).
        memory: (memories,).
        hidden: hidden values of the step before (hidden,).
        counts: steps and updates made, int64 (2,).
    """

    weights: Array
    moments: Array
    average: Array
    traces: Array
    memory: Array
    hidden: Array
    counts: NDArray[np.int64]

    def copy(self) -> State:
        return State(**{name: array.copy() for name, array in vars(self).items()})

    @property
    def steps(self) -> int:
        return int(self.counts[0])

    @property
    def updates(self) -> int:
        return int(self.counts[1])
