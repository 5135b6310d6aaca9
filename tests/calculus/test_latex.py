"""LaTeX of cells: in the author's order, with balanced parentheses, and compiled by no one."""

from __future__ import annotations

import re

import pytest

from support.cells import DISCOVERED, EVERY, MGU, Block2000, Delay, Peephole, Recalling, name
from tidegate.calculus import latex
from tidegate.cells import GRU, LSTM, LSTM1997, RNN, Cell, Step, UpdateGate, both, constant
from tidegate.cells.functions import absolute, fixed, maximum, sigmoid, sqrt, tanh

ALL = [*EVERY, *DISCOVERED]


def gate(symbol: str, squash: str = r"\sigma") -> str:
    line = r"S_t &= Q\left(W_{S} x_t + U_{S} h_{t-1} + b_{S}\right)"
    return line.replace("S", symbol).replace("Q", squash)


GOLDEN = {
    RNN(): [r"h_t &= \tanh\left(W_{n} x_t + U_{n} h_{t-1} + b_{n}\right)"],
    LSTM1997(): [
        gate("i"), gate("g", r"\tanh"), gate("o"),
        r"c_t &= c_{t-1} + i_t \odot g_t",
        r"h_t &= o_t \odot \tanh\left(c_t\right)",
    ],
    LSTM(): [
        gate("i"), gate("f"), gate("g", r"\tanh"), gate("o"),
        r"c_t &= f_t \odot c_{t-1} + i_t \odot g_t",
        r"h_t &= o_t \odot \tanh\left(c_t\right)",
    ],
    GRU(): [
        gate("r"), gate("z"),
        r"n_t &= \tanh\left(W_{nx} x_t + b_{nx} + "
        r"r_t \odot \left(U_{nh} h_{t-1} + b_{nh}\right)\right)",
        r"h_t &= \left(1 - z_t\right) \odot n_t + z_t \odot h_{t-1}",
    ],
    UpdateGate(): [
        r"z_t &= \sigma\left(W_{z} x_t + b_{z}\right)",
        r"n_t &= \tanh\left(W_{n} x_t + b_{n}\right)",
        r"h_t &= \left(1 - z_t\right) \odot h_{t-1} + z_t \odot n_t",
    ],
}  # fmt: skip


@pytest.mark.parametrize("cell", GOLDEN, ids=name)
def test_the_cells_of_the_package_read_as_published(cell):
    assert latex(cell).split(" \\\\\n") == GOLDEN[cell]


@pytest.mark.parametrize("cell", ALL, ids=name)
def test_parentheses_balance_and_every_value_has_one_line(cell):
    text = latex(cell)
    for line in text.split(" \\\\\n"):
        assert line.count("{") == line.count("}")
        assert len(re.findall(r"\\left[(|]", line)) == len(re.findall(r"\\right[)|]", line))
        assert line.count("&=") == 1
    names = [line.partition(" &= ")[0] for line in text.split(" \\\\\n")]
    assert len(set(names)) == len(names) >= len({*cell.memory, *cell.hidden})
    assert "None" not in text and set(re.findall(r"operatorname{(\w+)}", text)) <= {"norm"}


def test_special_cells_read_as_their_authors_write():
    assert latex(MGU()).endswith(
        r"\tanh\left(W_{n} x_t + U_{n} \left(f_t \odot h_{t-1}\right) + b_{n}\right)"
    )
    assert r"o_t &= \sigma\left(W_{o} x_t + U_{o} h_{t-1} + b_{o} + p_o \odot c_t\right)" in latex(
        Peephole()
    )
    assert r"h_{2,t} &= o_t \odot \left(2 \sigma\left(c_{2,t}\right) - 1\right)" in latex(
        Block2000()
    )
    assert r"\tanh\left(c_t + w \odot c_{t-1}\right)" in latex(Recalling())
    assert latex(Delay()).startswith("d_t &= c_{t-1} \\\\\n")
    assert r"f_t" not in latex(Delay())


class Odd(Cell):
    """Signs, numbers, and names that share a value."""

    slots = {"f": both}
    memory = ("c",)
    parameters = {"a_2": constant(1.0)}

    def step(self, z, past, par):
        f = sigmoid(z.f)
        minus = (-past.c) * f + (f + -2.0) * 3.0
        c = minus - fixed(f - past.c) * fixed(f + past.c) / sqrt(absolute(par.a_2))
        h = tanh(c - (f - 1e-8)) * maximum(c, -c) - (-f)
        return Step(h=h, c=c, gates={"f": f, "same": f, "open": 1.0, "minus": minus})


def test_signs_numbers_and_shared_values():
    text = latex(Odd())
    assert text.split(" \\\\\n") == [
        gate("f"),
        r"same_t &= f_t",
        r"minus_t &= \left(-c_{t-1}\right) \odot f_t + \left(f_t + \left(-2\right)\right) \cdot 3",
        r"c_t &= minus_t - \frac{\left(f_t - c_{t-1}\right) \odot \left(f_t + c_{t-1}\right)}"
        r"{\sqrt{\left|a_2\right|}}",
        r"h_t &= \tanh\left(c_t - \left(f_t - 1 \cdot 10^{-8}\right)\right) \odot "
        r"\max\left(c_t, -c_t\right) + f_t",
        r"open_t &= 1",
    ]
