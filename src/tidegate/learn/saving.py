"""A learner in a checkpoint: all its arrays, and what it must be to go on from them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tidegate._core.version import __version__
from tidegate.kernels.online.recipe import graph_text
from tidegate.kernels.plan import Array, LayerPlan, State
from tidegate.learn.checkpoint import Checkpoint, load, same_or_refuse, save
from tidegate.learn.learner import Learner

__all__ = ["load_into", "restore", "save_learner", "snapshot"]

_COUNTS = ("flags", "clipped", "missing", "capped")


def save_learner(path: Path, learner: Learner) -> None:
    """Write all that the learner knows; see :func:`tidegate.learn.checkpoint.save`.

    Raises:
        CheckpointError: the folder is full, read-only or gone; the file of before is unchanged.

    >>> import tempfile
    >>> from tidegate.learn import Network
    >>> learner, other = (Learner(Network(1, 1, units=4), seed=seed) for seed in (1, 2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_learner(Path(folder) / "state.safetensors", learner)
    ...     load_into(Path(folder) / "state.safetensors", other)
    >>> bool(learner.predict([0.5]) == other.predict([0.5]))
    True
    """
    save(path, snapshot(learner))


def load_into(path: Path, learner: Learner) -> None:
    """Make ``learner`` go on from a checkpoint, exact to the bit.

    Raises:
        CheckpointError: the file is damaged, or of another version, network, loss, optimiser,
            average or dtype; the message names what differs, and the learner is as before.
    """
    restore(path, learner, load(path))


def snapshot(learner: Learner) -> Checkpoint:
    """The learner's arrays by the names of :class:`~tidegate.kernels.plan.State`.

    The header holds ``learner``, what it is, and ``counts``, its public counters.

    >>> from tidegate.learn import Network
    >>> found = snapshot(Learner(Network(1, 1, units=4)))
    >>> found.header["learner"]["layer0.units"], found.arrays["counts"]
    ('4', array([0, 0]))
    """
    header = {
        "learner": _described(learner),
        "counts": {name: getattr(learner, name) for name in _COUNTS},
    }
    return Checkpoint(vars(learner.state), header)


def restore(path: Path, learner: Learner, found: Checkpoint) -> None:
    """Make ``learner`` go on from what was read from ``path``.

    Raises:
        CheckpointError: it is of something else; the learner is as before.
    """
    described = found.header.get("learner")
    same_or_refuse(path, _described(learner), described if isinstance(described, dict) else {})
    arrays = {name: found.arrays[name] for name in vars(learner.state) if name in found.arrays}
    same_or_refuse(path, _shapes(vars(learner.state)), _shapes(arrays))
    learner.state = State(**arrays)
    for name in _COUNTS:
        setattr(learner, name, found.header["counts"][name])


def _described(learner: Learner) -> dict[str, str]:
    """What a learner must be for its arrays to mean the same, by names that a reader knows."""
    network, online = learner.network, learner._online
    layers = [_layer(n, layer) for n, layer in enumerate(network.plan.layers)]
    return {
        "tidegate": __version__,
        "inputs": str(network.inputs),
        "outputs": str(network.outputs),
        "layers": str(len(layers)),
        **{name: text for layer in layers for name, text in layer.items()},
        "direct": str(network.direct),
        "loss": _text(learner.loss),
        "optimiser": _text(online.optimiser),
        "averaging": _text(online.averaging),
        "clip": _text(online.clip),
        "dtype": np.dtype(learner.dtype).name,
    }


def _layer(n: int, layer: LayerPlan) -> dict[str, str]:
    equations = layer.equations
    named = {
        f"{kind} {name}": node
        for kind in ("memory", "hidden")
        for name, node in getattr(equations, kind).items()
    }
    text = f"{dict(equations.cell.slots)} {graph_text(named)}"
    return {
        f"layer{n}.cell": _text(equations.cell),
        f"layer{n}.units": str(layer.units),
        # A cell from a notebook may be another one under the same name.
        f"layer{n}.equations": hashlib.sha256(text.encode()).hexdigest()[:16],
    }


def _shapes(arrays: Mapping[str, Array]) -> dict[str, str]:
    return {name: f"{array.dtype.name} {array.shape}" for name, array in arrays.items()}


def _text(value: Any) -> str:
    """What makes a value what it is; never where it lies in memory."""
    if isinstance(value, np.ndarray):
        return f"array {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()[:16]}"
    if isinstance(value, bool | str | None):
        return repr(value)
    if isinstance(value, int | float | np.number):
        return f"{float(value)!r}".removesuffix(".0")
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_text, value))})"
    if callable(value) and hasattr(value, "__qualname__"):
        return str(value.__qualname__)
    names = [f.name for f in fields(value)] if is_dataclass(value) else sorted(vars(value))
    return f"{type(value).__name__}({', '.join(f'{n}={_text(getattr(value, n))}' for n in names)})"
