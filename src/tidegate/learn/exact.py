"""Exact real-time recurrent learning: the dense influence of every weight on every value."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tidegate._core.errors import UsageError
from tidegate.cells.functions import Value
from tidegate.kernels.plan import ZONES, Array, Loss, Optimiser
from tidegate.kernels.reference import Moment, Online, forward
from tidegate.learn.learner import Learner, Predictor
from tidegate.learn.losses import Squared
from tidegate.learn.network import Network
from tidegate.learn.optimisers import Adam

__all__ = ["ExactLearner"]


class ExactLearner:
    """Learns online without truncation: error also flows through the hidden values of steps before.

    For small networks: a step costs units^2 * weights multiplications, where the truncated
    learner's cost grows with the weights alone. Float64, one layer, plain NumPy.

    Args:
        network: of one layer, of any cell without a second product.
        loss: how predictions meet targets; half the squared error by default.
        optimiser: the update rule; :class:`~tidegate.learn.Adam` by default.
        seed: of the start weights, the same as those of a :class:`~tidegate.learn.Learner`.

    Raises:
        UsageError: more than one layer, or a cell that cannot be learned online.

    Source: Robinson & Fallside (1987); Williams & Zipser, "A Learning Algorithm for Continually
    Running Fully Recurrent Neural Networks", Neural Computation 1 (1989), equations 8 to 12.

    >>> learner = ExactLearner(Network(inputs=1, outputs=1, cell="rnn", units=2), seed=1)
    >>> wave = np.sin(np.arange(1501) * 0.3)
    >>> errors = abs(learner.run(wave[:-1, None], wave[1:, None])[:, 0] - wave[1:])
    >>> bool(errors[-200:].mean() < 0.5 * errors[:200].mean())
    True
    """

    def __init__(
        self,
        network: Network,
        loss: Loss | None = None,
        optimiser: Optimiser | None = None,
        seed: int = 0,
    ) -> None:
        if len(network.plan.layers) != 1:
            got = f"{len(network.plan.layers)} layers"
            raise UsageError("ExactLearner", "a network of one layer", got, "Give units=8, say.")
        self.network, self.loss = network, loss or Squared()
        self.optimiser = optimiser or Adam()
        self._online = Online(network.plan, self.loss, self.optimiser)
        self._layer = network.plan.layers[0]
        self._state = self._online.start(network.initial(seed))
        self._places = _Places(network)
        self.forget()

    @property
    def weights(self) -> Array:
        """(weights,) as they are now, copied."""
        return self._state.weights.copy()

    def forget(self) -> None:
        """Memories to their start, influences to 0, as for a stream that begins anew."""
        eq, units, size = self._layer.equations, self._layer.units, self._places.size
        self._online.forget(self._state)
        self._memory = np.zeros((len(eq.memory), units, size))
        self._hidden = np.zeros((len(eq.hidden), units, size))

    def learn(self, x: ArrayLike, target: ArrayLike) -> Array:
        """One step; the prediction (outputs,) made before the target (targets,) was seen."""
        state, seen = self._state, np.asarray(x, np.float64)
        wanted = np.atleast_1d(np.asarray(target, np.float64))
        step = forward(self.network.plan, state.weights, state.memory, state.hidden, seen)
        self._carry_on(step.layers[0])
        if np.isfinite(wanted).any():
            self._update(self._gradient(step.layers[0], seen, self.loss.error(step.logits, wanted)))
        self._online.adopt(state, step)
        state.counts[0] += 1
        return self.loss.prediction(step.logits)

    def run(self, xs: ArrayLike, targets: ArrayLike) -> Array:
        """Many steps: xs (steps, inputs), targets (steps, targets); predictions (steps, ...)."""
        pairs = zip(np.asarray(xs), np.asarray(targets), strict=True)
        predictions = [self.learn(x, target) for x, target in pairs]
        return np.array(predictions).reshape(len(predictions), self.network.outputs)

    def predictor(self) -> Predictor:
        """A frozen copy with the weights of now, from empty memories."""
        twin = Learner(self.network, self.loss, self.optimiser, dtype=np.float64)
        state = twin.state
        state.weights[...] = self._state.weights
        twin.state = state
        return twin.predictor()

    def _carry_on(self, now: Moment) -> None:
        """The influences of this step from those of the step before."""
        eq = self._layer.equations
        known, before = now.known, self._memory
        source = self._sources(now)
        keep, write = eq.evaluate(eq.keep, known), eq.evaluate(eq.write, known)
        self._memory = np.zeros_like(before)
        for m, memory in enumerate(eq.memory):
            _add(self._memory[m], keep, memory, dict(zip(eq.memory, before, strict=True)))
            _add(self._memory[m], write, memory, source)
        new = dict(zip(eq.memory, self._memory, strict=True))
        past = dict(zip(eq.memory, before, strict=True))
        self._hidden = np.zeros_like(self._hidden)
        for h, hidden in enumerate(eq.hidden):
            _add(self._hidden[h], eq.evaluate(eq.show, known), hidden, new)
            _add(self._hidden[h], eq.evaluate(eq.recall, known), hidden, past)
            _add(self._hidden[h], eq.evaluate(eq.direct, known), hidden, source)

    def _sources(self, now: Moment) -> dict[str, Array]:
        """d slot / d weights and d parameter / d weights, each (units, weights), by name."""
        eq, units = self._layer.equations, self._layer.units
        slopes = self._places.immediate(now)
        recurrent = self.network.plan.weights.views(self._state.weights)["layer0.hidden"]
        rows = self._hidden.reshape(-1, self._places.size)
        for n, slot in enumerate(eq.fed_by("hidden")):
            slopes[slot] += recurrent[:, n].T @ rows
        for n, name in enumerate(eq.parameters):
            slopes[name] = np.zeros((units, self._places.size))
            slopes[name][np.arange(units), self._places.unit[n]] = 1
        return slopes

    def _gradient(self, now: Moment, x: Array, delta: Array) -> Array:
        weights = self._state.weights
        gradient = np.zeros_like(weights)
        into = self.network.plan.weights.views(gradient)
        readout = self.network.plan.weights.views(weights)["readout.hidden"]
        rows = self._hidden.reshape(-1, self._places.size)
        gradient[: self._places.size] = (readout @ delta) @ rows
        into["readout.hidden"][...] = np.outer(now.hidden.reshape(-1), delta)
        into["readout.bias"][...] = delta
        if self.network.direct:
            into["readout.input"][...] = np.outer(x, delta)
        return gradient

    def _update(self, gradient: Array) -> None:
        state, rule = self._state, self.optimiser
        c = {k: v[0] for k, v in rule.coefficients(state.counts[1:]).items()}
        moment = dict(zip(rule.moments, state.moments, strict=True))
        new = rule.update(state.weights, gradient, SimpleNamespace(**moment), SimpleNamespace(**c))
        state.weights[...] = new.weight
        for name, row in moment.items():
            row[...] = new.moments[name]
        state.counts[1] += 1


class _Places:
    """Where in the flat weights lies what feeds each slot of each unit."""

    def __init__(self, network: Network) -> None:
        self._layer = network.plan.layers[0]
        shapes = network.plan.weights
        views = shapes.views(np.arange(shapes.size))
        zones = {zone: views[f"layer0.{zone}"] for zone in ZONES}
        self.unit = views["layer0.unit"]
        self.size = sum(zone.size for zone in zones.values()) + self.unit.size
        eq = self._layer.equations
        #: slot -> zone -> (rows, units) positions
        self._fed: dict[str, dict[str, Array]] = {slot: {} for slot in eq.slots}
        for zone, places in zones.items():
            for n, slot in enumerate(eq.fed_by(zone)):
                self._fed[slot][zone] = places[:, n]

    def immediate(self, now: Moment) -> dict[str, Array]:
        """d slot / d its own weights at this step: what they multiply, (units, weights)."""
        units = np.arange(self._layer.units)
        slopes = {}
        for slot, zones in self._fed.items():
            slopes[slot] = np.zeros((self._layer.units, self.size))
            for zone, places in zones.items():
                slopes[slot][units, places] = now.feeds[zone][:, None]
        return slopes


def _add(
    into: Array, slopes: Mapping[Any, Value], of: str, influences: Mapping[str, Array]
) -> None:
    """Add slope * influence for every slope d ``of`` / d name, per unit."""
    for name, influence in influences.items():
        if (of, name) in slopes:
            into += np.reshape(np.asarray(slopes[of, name], np.float64), (-1, 1)) * influence
