"""Whether a network fits in memory, asked before it is made."""

from __future__ import annotations

import os

from tidegate._core.errors import UsageError
from tidegate.cells import Cell
from tidegate.forecast import BareNetwork
from tidegate.learn import Network

COPIES = 8  #: of the weights, moments and traces, while a learner is made or saved
BYTES = 4


def require_room(columns: int, cell: Cell, units: int) -> None:
    """Refuses a network that the machine has no memory for.

    Raises:
        UsageError: it is too large.
    """
    plan = Network(BareNetwork.inputs(columns), 1, cell=cell, units=units).plan
    needed, there = BYTES * COPIES * (plan.weights.size + plan.traces.size), _memory()
    if there and needed > there:
        got = f"{units:,}, which take {needed / 1e9:,.0f} GB"
        expected = f"units that fit in {there / 1e9:,.0f} GB of memory"
        raise UsageError("--units", expected, got, "Try --units 32.")


def _memory() -> int:
    """Bytes of this machine, 0 where it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0
