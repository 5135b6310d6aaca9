"""Start values by law: biases, the units' own parameters, states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from tidegate._core.errors import UsageError
from tidegate.cells.laws import Law
from tidegate.kernels.batch.plan import start

if TYPE_CHECKING:
    from tidegate.layers.recurrent import Recurrent

__all__ = ["draw_laws", "start_biases"]


@torch.no_grad()
def start_biases(layer: Recurrent, laws: Mapping[str, Law], seed: int = 0) -> None:
    """Set the biases of slots in every layer and direction: ``bias_ih + bias_hh`` is the law.

    Every layer and direction has numbers of its own, the same for the same seed; within one, every
    slot's law draws the same numbers, so that ``minus(law)`` on a slot mirrors ``law`` on another.

    Args:
        layer: with ``bias=True``.
        laws: by slot name.
        seed: of the numbers that laws draw.

    Raises:
        UsageError: the layer has no biases, or the cell no such slot with a bias.

    >>> from tidegate.cells import chrono, constant, minus
    >>> from tidegate.layers import LSTM
    >>> layer = LSTM(3, 5, num_layers=2, bidirectional=True)
    >>> start_biases(layer, {"f": constant(1.0)})
    >>> (layer.bias_ih_l1_reverse + layer.bias_hh_l1_reverse)[5:10].tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0]
    >>> start_biases(layer, {"f": chrono(100), "i": minus(chrono(100))}, seed=3)
    """
    for n, place in enumerate(layer.places):
        for slot, law in laws.items():
            _check_slot(layer, slot)
            values = law(np.random.default_rng((seed, n)), place.layout.units)
            rows = {k: v for k, v in place.layout.rows_of(slot).items() if k.startswith("bias")}
            for first, (name, where) in enumerate(rows.items()):
                bias: Tensor = getattr(layer, name + place.suffix)
                bias[where] = 0.0 if first else torch.as_tensor(values).to(bias)


@torch.no_grad()
def draw_laws(layer: Recurrent) -> None:
    """The start values a cell states itself: unit parameters, biases, learned initial states."""
    cell = layer.cell
    if layer.learn_initial_state:
        for name in layer.states:
            getattr(layer, f"initial_{name}").fill_(start(cell, name))
    biases = cell.biases() if layer.bias else {}
    if not (cell.parameters or biases):
        return
    seed = int(torch.randint(2**31, ()))
    start_biases(layer, biases, seed)
    for n, place in enumerate(layer.places):
        rng = np.random.default_rng((seed, n, 1))
        for name, law in cell.parameters.items():
            parameter: Tensor = getattr(layer, name + place.suffix)
            parameter.copy_(torch.as_tensor(law(rng, place.layout.units)))


def _check_slot(layer: Recurrent, slot: str) -> None:
    known = layer.cell.fed_by("bias") if layer.bias else ()
    if slot not in known:
        raise UsageError(
            f"{type(layer.cell).__name__} bias",
            f"a slot among {', '.join(known)}" if known else "a layer with biases",
            repr(slot),
            "Name one of the cell's slots, in a layer made with bias=True.",
        )
