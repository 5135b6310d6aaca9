"""What every cell of the package keeps, found by name: a new file is under contract at once."""

from __future__ import annotations

import dataclasses
import doctest
import inspect
import re
import sys

import numpy as np
import pytest
import torch

import tidegate.layers.functions  # noqa: F401  (registers the torch form)
from support.values import drawn, stepped
from tidegate import cells
from tidegate.calculus import derive, latex
from tidegate.cells import Cell, Feed, Step
from tidegate.learn import Network


@pytest.fixture(params=cells.names())
def cell(request) -> Cell:
    return cells.named(request.param)


def values(cell: Cell, step: Step) -> dict:
    """Memories, hidden values and gates of a step by name."""
    outputs = {name: getattr(step, name) for name in (*cell.memory, *cell.hidden)}
    return outputs | {f"gate {name}": gate for name, gate in step.gates.items()}


def test_there_are_cells_to_hold_to_it():
    assert {"gru", "lstm", "lstm1997", "rnn", "update_gate"} <= set(cells.names())


def test_the_step_gives_what_is_declared_and_nothing_else(cell):
    given = set(vars(stepped(cell, drawn(cell)))) - {"gates"}
    assert given == {*cell.memory, *cell.hidden}
    assert cell.hidden and all(isinstance(feed, Feed) for feed in cell.slots.values())
    assert all(feed.input or feed.hidden for feed in cell.slots.values())
    assert set(cell.start) <= set(cell.memory) and set(cell.biases()) <= set(cell.slots)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_dtype_stays(cell, dtype):
    for value in values(cell, stepped(cell, drawn(cell, dtype=dtype))).values():
        assert value.dtype == dtype and value.shape == (7,)


def test_tensors_and_nodes_give_the_values_of_arrays(cell):
    known = drawn(cell, seed=1)
    want = values(cell, stepped(cell, known))
    tensors = {name: torch.tensor(value) for name, value in known.items()}
    eq = derive(cell)
    nodes = {**eq.memory, **eq.hidden} | {f"gate {n}": gate for n, gate in eq.gates.items()}
    traced = eq.evaluate(nodes, known)
    for name, value in values(cell, stepped(cell, tensors)).items():
        assert value.dtype == torch.float64
        np.testing.assert_allclose(value.numpy(), want[name], rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(traced[name], want[name], rtol=1e-14, atol=1e-15)


def test_the_ends_give_no_nan_and_no_warning(cell):
    known = drawn(cell)
    for end in (-700.0, 700.0):
        far = known | {name: np.full(7, end) for name in known if name.startswith("z.")}
        for value in values(cell, stepped(cell, far)).values():
            assert np.all(np.isfinite(value))


def test_gates_are_between_0_and_1_or_squashed(cell):
    for name, gate in stepped(cell, drawn(cell)).gates.items():
        assert np.all(abs(gate) <= 1), name


def test_start_values_are_those_of_the_cell(cell):
    from tidegate.kernels.reference import start_memory

    plan = Network(inputs=2, outputs=1, cell=cell, units=3).plan
    memory = np.full(plan.memory.size, np.nan)
    start_memory(plan, memory)
    for row, name in zip(plan.memory.views(memory)["layer0"], cell.memory, strict=True):
        np.testing.assert_array_equal(row, np.full(3, cell.start.get(name, 0.0)))


def test_a_cell_is_a_value_and_its_equations_are_derived_once(cell):
    again = type(cell)()
    assert dataclasses.is_dataclass(cell) and type(cell).__dataclass_params__.frozen
    assert cell == again and hash(cell) == hash(again) and cell is not again
    assert derive(cell) is derive(again)
    assert len({cell, *(cells.named(n) for n in cells.names())}) == len(cells.names())


def test_options_tell_cells_apart():
    assert cells.LSTM(1.0) != cells.LSTM(2.0)
    assert derive(cells.LSTM(1.0)) is not derive(cells.LSTM(2.0))


def test_it_says_where_it_comes_from_and_shows_itself(cell):
    text = inspect.getdoc(type(cell)) or ""
    assert "Source:" in text and re.search("retention|is kept", text, re.IGNORECASE)
    assert doctest.DocTestFinder().find(type(cell))[0].examples
    assert len(dataclasses.fields(cell)) <= 6
    lines = inspect.getsource(sys.modules[type(cell).__module__]).count("\n")
    assert lines <= 120, "one cell, one small file"


def test_its_equations_can_be_read(cell):
    lines = latex(cell).split(" \\\\\n")
    assert len(lines) >= len({*cell.memory, *cell.hidden})


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(
        ValueError, match=r"cell: expected one of .*lstm.*'lstn'. Did you mean 'lstm'"
    ):
        cells.named("lstn")
