"""Traces made by hand, with NumPy alone."""

from __future__ import annotations

import numpy as np

from tidegate._core.trace import Meta, Trace


def leaky(f: np.ndarray, write: np.ndarray, reset: np.ndarray | None = None) -> Trace:
    """A memory c = f c + write (steps, rows, units), carried out in a loop; float64."""
    steps, rows, _ = f.shape
    flags = np.zeros((steps, rows), bool) if reset is None else reset
    c, memory = np.zeros(f.shape[1:]), np.zeros(f.shape)
    for t in range(steps):
        c = np.where(flags[t][:, None], 0.0, c)
        c = f[t] * c + write[t]
        memory[t] = c
    with np.errstate(divide="ignore"):
        kept = np.log(np.abs(f))
    return Trace(
        log_retention={"c": kept},
        memory={"c": memory},
        hidden={"h": np.tanh(memory)},
        retention_sign={"c": np.where(f < 0, -1.0, 1.0)},
        reset=flags,
    )


def gates_only(f: np.ndarray, start: int = 0) -> Trace:
    """Retention (steps, units) of one row, no memories."""
    return Trace(log_retention={"c": np.log(f)[:, None, :]}, meta=Meta(start=start))
