"""The derivatives of every cell against sympy, and the set of traces that they need."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest

from support.cells import DISCOVERED, EVERY, Block2000, Delay, name
from support.symbols import Oracle
from support.values import drawn, groups
from tidegate import cells
from tidegate._core.errors import UsageError
from tidegate.calculus import derive
from tidegate.cells import LSTM, Cell, Step, both, hidden
from tidegate.cells.functions import fixed, sigmoid, tanh

oracle = cache(Oracle)
ALL = [*EVERY, *DISCOVERED]


def leaf_names(cell: Cell) -> tuple[list[str], list[str]]:
    """Leaf names of the sources and of the memories before."""
    sources = [f"z.{s}" for s in cell.slots] + [f"par.{p}" for p in cell.parameters]
    return sources, [f"past.{m}" for m in cell.memory]


def short(leaf: str) -> str:
    return leaf.partition(".")[2]


def assert_derivatives(cell, ours, values, leaves, known):
    """Every pair: sympy's slope of ``values`` by ``leaves``; a pair that is absent is 0."""
    got = derive(cell).evaluate(ours, known)
    for of, expression in values.items():
        for leaf in leaves:
            symbol = oracle(cell).leaves.get(leaf, oracle(cell).new.get(leaf))
            want = oracle(cell).value(expression.diff(symbol), known)
            have = np.broadcast_to(got.get((of, short(leaf) or leaf), 0.0), want.shape)
            np.testing.assert_allclose(have, want, rtol=1e-10, atol=1e-13, err_msg=f"{of}, {leaf}")


@pytest.mark.parametrize("cell", ALL, ids=name)
def test_keep_and_write_are_sympys(cell):
    eq, (sources, past) = derive(cell), leaf_names(cell)
    known = drawn(cell, seed=1)
    assert_derivatives(cell, eq.keep, oracle(cell).memory, past, known)
    assert_derivatives(cell, eq.write, oracle(cell).memory, sources, known)


@pytest.mark.parametrize("cell", ALL, ids=name)
def test_show_recall_and_direct_are_sympys_with_the_new_memories_held(cell):
    eq, (sources, past) = derive(cell), leaf_names(cell)
    known = drawn(cell, seed=2)
    assert_derivatives(cell, eq.recall, oracle(cell).hidden, past, known)
    assert_derivatives(cell, eq.direct, oracle(cell).hidden, sources, known)
    got = eq.evaluate(eq.show, known)
    for h, expression in oracle(cell).hidden.items():
        for m, symbol in oracle(cell).new.items():
            want = oracle(cell).value(expression.diff(symbol), known)
            have = np.broadcast_to(got.get((h, m), 0.0), want.shape)
            np.testing.assert_allclose(have, want, rtol=1e-10, atol=1e-13, err_msg=f"{h}, {m}")


@pytest.mark.parametrize("cell", ALL, ids=name)
def test_no_derivative_that_is_always_0_is_kept(cell):
    eq, known = derive(cell), drawn(cell, seed=3, units=40)
    known |= {f"z.{s}": v * 3 for s, v in groups(known)["z"].items()}
    for slopes in (eq.keep, eq.write, eq.show, eq.recall, eq.direct):
        for pair, value in eq.evaluate(slopes, known).items():
            assert np.any(np.asarray(value) != 0), pair


def effects(cell: Cell) -> set[tuple[str, str]]:
    """(memory, source) pairs whose d memory / d source comes to a hidden value, now or later.

    By numbers: products of random matrices with the pattern of the slopes, over many steps.
    """
    eq, rng = derive(cell), np.random.default_rng(0)
    memory, sources = list(eq.memory), [*eq.slots, *eq.parameters]
    size = {m: n for n, m in enumerate(memory)}

    def drawn_matrix(pairs, rows, columns):
        matrix = np.zeros((len(rows), len(columns)))
        for row, column in pairs:
            if column in columns:
                matrix[rows.index(row), columns.index(column)] = rng.uniform(0.5, 1.5)
        return matrix

    written = np.zeros((len(memory), len(sources)))
    seen = np.zeros((len(eq.hidden), len(memory)))
    outputs = list(eq.hidden)
    for _ in range(len(memory) + 1):
        keep = drawn_matrix(eq.keep, memory, memory)
        written = written + keep @ written + drawn_matrix(eq.write, memory, sources)
        now = drawn_matrix([*eq.show, *eq.recall], outputs, memory)
        seen = seen + now + seen @ keep
    return {
        (m, s)
        for m in memory
        for n, s in enumerate(sources)
        if written[size[m], n] and seen[:, size[m]].any()
    }


@pytest.mark.parametrize("cell", ALL, ids=name)
def test_the_trace_set_is_what_matters_and_nothing_else(cell):
    assert set(derive(cell).traces) == effects(cell)


def test_the_traces_of_known_cells():
    assert derive(LSTM()).traces == (("c", "i"), ("c", "f"), ("c", "g"))
    assert derive(cells.RNN()).traces == ()
    block = derive(Block2000()).traces
    assert ("c1", "g2") not in block and ("c2", "g1") not in block and len(block) == 6


class Hoarder(Cell):
    """Its second memory is never seen."""

    slots = {"f": both, "g": both}
    memory = ("c", "n")

    def step(self, z, past, par):
        f = sigmoid(z.f)
        c = f * past.c + z.g
        return Step(h=tanh(c), c=c, n=f * past.n + past.c)


def test_a_memory_that_nobody_sees_needs_no_trace():
    assert derive(Hoarder()).traces == (("c", "f"), ("c", "g"))


def test_a_delay_counts_its_path_once():
    eq = derive(Delay())
    assert set(eq.show) == {("h", "c"), ("h", "d")} and set(eq.recall) == {("h", "d")}


class Noting(Cell):
    """Its memory is a slot as it came; the output sees both."""

    slots = {"f": both, "g": both}
    memory = ("c",)

    def step(self, z, past, par):
        return Step(h=tanh(z.g) + sigmoid(z.f) * past.c, c=z.g)


def test_a_slot_that_is_kept_as_it_came_counts_once():
    eq = derive(Noting())
    assert set(eq.show) == {("h", "c")} and set(eq.direct) == {("h", "f")}
    assert eq.evaluate(eq.write, {"z.g": 2.0}) == {("c", "g"): 1.0}


def broken(step, **attributes) -> Cell:
    form = {"slots": {"f": both}, "memory": ("c",), "step": step, **attributes}
    return type("Broken", (Cell,), form)()


def plain(self, z, past, par):
    c = sigmoid(z.f) * past.c
    return Step(h=tanh(c), c=c)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (
            broken(lambda self, z, past, par: Step(h=z.f)),
            r"Broken: expected step to give c, got no c\. Return every declared",
        ),
        (
            broken(lambda self, z, past, par: Step(c=z.f)),
            r"Broken: expected step to give h, got no h\.",
        ),
        (
            broken(plain, memory=("c", "d"), slots={"f": both}),
            r"Broken: expected step to give c, d, got no d\.",
        ),
        (
            broken(lambda self, z, past, par: Step(h=z.f, c=past.h)),
            r"Broken: expected step to use declared .*got a use of 'h'\. .*declared as a memory",
        ),
        (
            broken(lambda self, z, past, par: Step(h=z.o, c=past.c)),
            r"Broken: .*got a use of 'o'",
        ),
        (
            broken(
                lambda self, z, past, par: Step(h=z.f, c=z.f + past.c, d=z.f + past.c),
                memory=("c", "d"),
            ),
            r"Broken: expected memories that differ, got two with the same equation",
        ),
        (
            broken(plain, slots={"f": both, "n": both(times="r")}),
            r"Broken: expected a gate 'r' that multiplies h for slot 'n', got gates \[\]",
        ),
        (
            broken(
                lambda self, z, past, par: Step(h=z.n, c=past.c, gates={"f": sigmoid(z.n)}),
                slots={"f": both, "n": hidden(times="f")},
            ),
            r"Broken: expected gate 'f' to need no second product, got one that uses slot 'n'",
        ),
        (
            broken(
                lambda self, z, past, par: Step(h=z.n, c=past.c, gates={"f": fixed(z.n)}),
                slots={"f": both, "n": both(times="f")},
            ),
            r"Broken: expected gate 'f' to need no second product, got one that uses slot 'n'",
        ),
    ],
)
def test_cells_that_cannot_be_are_refused(cell, message):
    with pytest.raises(UsageError, match=message):
        derive(cell)


@pytest.mark.parametrize(
    "step",
    [
        lambda self, z, past, par: Step(h=z.f if past.c > 0 else -z.f, c=past.c),
        lambda self, z, past, par: Step(h=z.f, c=past.c or z.f),
    ],
)
def test_a_step_cannot_branch(step):
    with pytest.raises(TypeError, match=r"a cell's step cannot branch on a value"):
        derive(broken(step))


def test_asking_a_step_for_what_it_lacks_lists_what_it_has():
    with pytest.raises(AttributeError, match=r"gives no 'x'; it gives \['c', 'gates'\]"):
        Step(c=1.0).x  # noqa: B018
    assert re.match("LSTM", repr(LSTM()))
