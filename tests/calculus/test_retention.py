"""Retention derived from the equations equals retention measured on them."""

from __future__ import annotations

import numpy as np
import pytest

from support.cells import DISCOVERED, EVERY, SLSTM, Block2000, Peephole, name
from support.values import drawn, stepped
from tidegate.calculus import derive
from tidegate.cells import GRU, LSTM, LSTM1997, RNN, Cell, Step, UpdateGate, both
from tidegate.cells.functions import fixed, sigmoid, tanh

DERIVED = [cell for cell in [*EVERY, *DISCOVERED] if name(cell) != "SLSTM"]


def measured(cell: Cell, memory: str, known: dict, value=None, eps: float = 1e-6) -> np.ndarray:
    """Perturb one memory, hold slots and the rest, and see what is left of it a step later."""
    value = value or (lambda step: getattr(step, memory))
    above, below = (
        value(stepped(cell, known | {f"past.{memory}": known[f"past.{memory}"] + d}))
        for d in (eps, -eps)
    )
    return (above - below) / (2 * eps)


def evaluated(cell: Cell, known: dict) -> tuple[dict, dict]:
    eq = derive(cell)
    return eq.evaluate(eq.log_retention, known), eq.evaluate(eq.retention_sign, known)


@pytest.mark.parametrize("cell", DERIVED, ids=name)
@pytest.mark.parametrize("seed", range(4))
def test_derived_equals_measured(cell, seed):
    known = drawn(cell, seed, units=30)
    known |= {k: 3 * v - 2 for k, v in known.items() if k.startswith("past")}
    logs, signs = evaluated(cell, known)
    for memory in cell.memory:
        want = measured(cell, memory, known)
        if memory not in logs:
            np.testing.assert_allclose(want, 0, atol=1e-9)
            continue
        got = signs.get(memory, 1.0) * np.exp(logs[memory])
        np.testing.assert_allclose(np.broadcast_to(got, want.shape), want, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("z", [120.0, 40.0, 0.0, -5.0, -800.0])
def test_logs_are_exact_at_the_ends(z):
    exact = -np.logaddexp(0, -z)  # -7.7e-53 at 120, where f itself rounds to 1
    units = np.full(3, z)
    for cell, slot, memory, at in [
        (LSTM(), "f", "c", units),
        (GRU(), "z", "h", units),
        (UpdateGate(), "z", "h", -units),
        (Block2000(), "f", "c2", units),
    ]:
        logs, signs = evaluated(cell, drawn(cell, units=3) | {f"z.{slot}": at})
        np.testing.assert_allclose(logs[memory], exact, rtol=1e-14)
        assert signs == {}
    assert z != 120.0 or exact == pytest.approx(-7.66764807e-53)


def test_the_cell_of_1997_keeps_everything_exactly():
    logs, signs = evaluated(LSTM1997(), drawn(LSTM1997()))
    assert logs == {"c": 0.0} and signs == {}


def test_what_has_no_direct_path_has_no_retention():
    eq = derive(RNN())
    assert eq.log_retention == {} and eq.retention_sign == {}


def test_a_peephole_can_make_retention_negative_and_larger_than_1():
    cell, units = Peephole(), np.ones(2)
    known = drawn(cell, units=2) | {
        "z.f": 0 * units, "z.g": 0 * units, "past.c": units,
        "par.p_f": np.array([-4.0, 0.1]), "z.i": 0 * units, "par.p_i": 0 * units,
    }  # fmt: skip
    known["z.f"] = -known["par.p_f"]  # f = 1/2, and R = f + c p f (1 - f)
    logs, signs = evaluated(cell, known)
    np.testing.assert_array_equal(signs["c"], [-1, 1])
    np.testing.assert_allclose(signs["c"] * np.exp(logs["c"]), [0.5 - 1.0, 0.5 + 0.025])
    known["par.p_f"] = np.full(2, 20.0)
    known["z.f"] = -known["par.p_f"]
    assert np.all(evaluated(cell, known)[0]["c"] > 0)


class Peephole2002(Cell):
    """No error flows through the peephole: the retention is the gate again."""

    slots = {"f": both, "g": both}
    memory = ("c",)

    def step(self, z, past, par):
        f = sigmoid(z.f + fixed(past.c))
        c = f * past.c + z.g
        return Step(h=tanh(c), c=c, gates={"f": f})


def test_a_fixed_peephole_leaves_the_gate_as_retention():
    eq = derive(Peephole2002())
    assert repr(eq.log_retention["c"]) == "log_sigmoid(add(z.f, fixed(past.c)))"
    assert eq.retention_sign == {}


class Leaky(Cell):
    slots = {"g": both}
    memory = ("c",)

    def step(self, z, past, par):
        c = 0.9 * past.c + z.g
        return Step(h=tanh(c), c=c)


def test_a_constant_is_a_gate_too():
    logs, signs = evaluated(Leaky(), drawn(Leaky()))
    assert logs["c"] == pytest.approx(np.log(0.9)) and signs == {}


@pytest.mark.parametrize("seed", range(3))
def test_slstm_states_the_retention_of_its_content(seed):
    """c / n is kept at f n' / n; n at f; what the cell states is what is measured."""
    cell, known = SLSTM(), drawn(SLSTM(), seed, units=30)
    logs, signs = evaluated(cell, known)
    kept = measured(cell, "c", known, value=lambda step: cell.read(step)["c"]) * known["past.n"]
    np.testing.assert_allclose(np.exp(logs["c"]), kept, rtol=1e-6)
    np.testing.assert_allclose(np.exp(logs["n"]), measured(cell, "n", known), rtol=1e-6)
    assert logs["m"] == 0.0 and signs == {}


def test_slstm_from_an_empty_memory_keeps_nothing_without_a_warning():
    known = drawn(SLSTM()) | {f"past.{m}": np.zeros(7) for m in "cnm"}
    np.testing.assert_array_equal(evaluated(SLSTM(), known)[0]["c"], np.full(7, -np.inf))


class Stating(Cell):
    """States its retention as a plain number."""

    slots = {"g": both}
    memory = ("c",)

    def step(self, z, past, par):
        c = past.c + z.g
        return Step(h=c, c=c)

    def log_retention(self, z, past, par, now):
        return {"c": -1.0}


def test_a_stated_number_is_taken():
    assert evaluated(Stating(), drawn(Stating()))[0] == {"c": -1.0}
