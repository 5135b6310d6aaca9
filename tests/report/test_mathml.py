"""Every cell's equations become MathML that is well formed, with places for what is recorded."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from tidegate import UsageError, cells
from tidegate._core.trace import Trace
from tidegate.calculus.latex import latex
from tidegate.report.equations import cell_of, equations, roles
from tidegate.report.mathml import mathml

from .conftest import bursting


@pytest.mark.parametrize("name", cells.names())
def test_every_cell_is_drawn_whole(name: str) -> None:
    cell = cells.named(name)
    for line in latex(cell).split("\\\\\n"):
        drawn = ElementTree.fromstring(mathml(line))
        text = "".join(drawn.itertext())
        letters = re.sub(r"\\(left|right|operatorname|frac|sqrt)|[\\{}_^&\s]", "", line)
        greek = letters.replace("sigma", "σ").replace("odot", "⊙").replace("cdot", "·")
        assert text.replace("−", "-") == greek


@pytest.mark.parametrize("name", cells.names())
def test_a_cell_is_found_by_what_a_trace_calls_it(name: str) -> None:
    cell = cells.named(name)
    assert type(cell_of(repr(cell))) is type(cell)


def test_fractions_and_powers_nest() -> None:
    root = ElementTree.fromstring(mathml(r"\frac{c_t}{1 \cdot 10^{-12}}"))
    fraction = root[0]
    assert fraction.tag == "mfrac" and fraction[0][0].tag == "msub"
    assert fraction[1].find("msup") is not None


@pytest.mark.parametrize("wrong", [r"\int x", r"\left(x", "x_{t"])
def test_other_latex_is_refused(wrong: str) -> None:
    with pytest.raises(UsageError, match="mathml"):
        mathml(wrong)


def test_numbers_stand_where_values_were_recorded() -> None:
    found = {e.result: e.numbers for e in equations(cells.LSTM(), bursting())}
    assert found["memory.c"] is not None
    places = re.findall(r'data-value="([\w.]+)" data-before="(\d)"', found["memory.c"])
    assert places == [
        ("gates.f", "0"), ("memory.c", "1"), ("gates.i", "0"), ("gates.g", "0"), ("memory.c", "0")
    ]  # fmt: skip
    # A pre-activation that was not recorded leaves the result alone.
    assert found["gates.f"] is not None and found["gates.f"].count("<mn") == 1


def test_second_memories_have_their_own_places() -> None:
    cell = cells.named("block2000")
    kept = np.zeros((2, 1, 1))
    names = ("c1", "c2")
    trace = Trace(dict.fromkeys(names, kept), dict.fromkeys(names, kept), {"h1": kept, "h2": kept})
    results = {e.result for e in equations(cell, trace)}
    assert {f"memory.{name}" for name in names} <= results


def test_gates_have_the_role_that_the_equations_give_them() -> None:
    assert roles(cells.named("gru"), "h") == {"r": "write", "z": "keep", "n": "write"}
    assert roles(cells.named("peephole"), "c")["o"] == "show"


def test_a_cell_that_is_not_ours_has_no_equations() -> None:
    assert cell_of("SomebodysOwn(x=1)") is None
    assert cell_of("LSTM(forget_bias=<function law>)") == cells.LSTM()
