"""Random values for the leaves of a cell, by name and as attributes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from tidegate.cells import Cell


def drawn(cell: Cell, seed: int = 0, units: int = 7, dtype=np.float64) -> dict[str, np.ndarray]:
    """``z.slot``, ``past.memory``, ``par.parameter`` -> (units,); memories are positive."""
    rng = np.random.default_rng(seed)
    values = {f"z.{s}": rng.normal(size=units) for s in cell.slots}
    values |= {f"past.{m}": rng.uniform(0.2, 1.5, units) for m in cell.memory}
    values |= {f"par.{p}": rng.normal(size=units) for p in cell.parameters}
    return {name: value.astype(dtype) for name, value in values.items()}


def groups(known: dict) -> dict[str, dict]:
    """``z``, ``past`` and ``par``, each a dict of values by short name."""
    parts: dict[str, dict] = {"z": {}, "past": {}, "par": {}}
    for name, value in known.items():
        kind, _, short = name.partition(".")
        parts[kind][short] = value
    return parts


def stepped(cell: Cell, known: dict):
    """``cell.step`` on values by leaf name."""
    return cell.step(**{kind: SimpleNamespace(**of) for kind, of in groups(known).items()})
