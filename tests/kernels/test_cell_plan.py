"""What is kept for the way back is enough, and no more than the slots."""

from __future__ import annotations

import pytest

from support.cells import EVERY, name
from tidegate import cells
from tidegate.calculus.graph import ordered
from tidegate.cells import GRU, LSTM
from tidegate.kernels.batch.cell_plan import cell_plan

CELLS = [*EVERY, *(cells.named(n) for n in cells.names())]


@pytest.mark.parametrize("cell", CELLS, ids=name)
def test_the_way_back_needs_no_slot_that_is_not_kept(cell):
    plan = cell_plan(cell)
    eq = plan.equations
    wanted = [*plan.back.values(), *(eq.gates[g] for g in plan.gates)]
    wanted += [node for back in plan.gate_back.values() for node in back.values()]
    reached = set(ordered(wanted, stop=set(plan.saved.values())))
    slots = {node for n, node in eq.leaves.items() if n.startswith("z.")}
    assert slots & reached <= set(plan.saved.values())


@pytest.mark.parametrize("cell", CELLS, ids=name)
def test_a_trace_shows_every_gate_and_what_retention_is_read_from(cell):
    plan = cell_plan(cell)
    assert {*plan.equations.gates, *(f"z.{s}" for s in plan.read)} <= {*plan.saved, *plan.shown}
    assert not set(plan.saved) & set(plan.shown)


def test_gates_of_the_common_cells_are_the_kept_values():
    assert list(cell_plan(LSTM()).saved) == ["i", "f", "g", "o"]
    assert list(cell_plan(GRU()).saved) == ["r", "z", "n", "z.n_h"]
