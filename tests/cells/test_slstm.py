"""sLSTM: the stabilised form against the plain one, and its ends."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from support.values import drawn, stepped
from tidegate.calculus import derive
from tidegate.cells import SLSTM


def sequence(cell, zs):
    past = {m: np.full(zs["i"].shape[1], cell.start.get(m, 0.0)) for m in cell.memory}
    steps = []
    for t in range(len(zs["i"])):
        known = {f"z.{s}": z[t] for s, z in zs.items()} | {f"past.{m}": v for m, v in past.items()}
        steps.append(stepped(cell, known))
        past = {m: getattr(steps[-1], m) for m in cell.memory}
    return steps


def plain(zs):
    """Equations 8 to 11, without the stabiliser: c and n grow as they like."""
    c = n = np.zeros(zs["i"].shape[1])
    for i, f, g, o in zip(*(zs[s] for s in "ifgo"), strict=True):
        c = expit(f) * c + np.exp(i) * np.tanh(g)
        n = expit(f) * n + np.exp(i)
        yield expit(o) * c / n


def test_stabilised_and_plain_give_the_same_output():
    rng = np.random.default_rng(0)
    zs = {s: rng.normal(size=(30, 6)) * 2 for s in "ifgo"}
    for step, want in zip(sequence(SLSTM(), zs), plain(zs), strict=True):
        np.testing.assert_allclose(step.h, want, rtol=1e-11)


@pytest.mark.parametrize("net", [-700.0, -80.0, 80.0, 700.0])
def test_extreme_input_gates_stay_finite_and_normalised(net):
    zs = {s: np.full((5, 2), 1.0) for s in "fgo"} | {"i": np.full((5, 2), net)}
    zs["i"][2] = -net
    for step in sequence(SLSTM(), zs):
        assert np.all(np.isfinite([step.c, step.n, step.m, step.h]))
        assert np.all(step.n >= 1) and np.all(abs(step.c / step.n) <= np.tanh(1.0) + 1e-12)


def test_retention_of_the_normalised_memory_is_f_n_before_over_n():
    eq, known = derive(SLSTM()), drawn(SLSTM(), seed=1)
    step = stepped(SLSTM(), known)
    kept = eq.evaluate(eq.log_retention, known)
    want = np.log(step.gates["f"] * known["past.n"] / step.n)
    np.testing.assert_allclose(kept["c"], want, rtol=1e-10)
    np.testing.assert_allclose(kept["n"], np.log(step.gates["f"]), rtol=1e-10)


def test_forget_biases_fall_from_5_to_minus_7():
    (law,) = SLSTM().biases().values()
    b = law(np.random.default_rng(0), 9)
    assert b[0] == 5 and b[-1] == -7 and np.all(np.diff(b) < 0)
    assert law(np.random.default_rng(0), 1) == [5]
