"""The memory block of 1997 against the equations of the paper."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from support.values import drawn, groups, stepped
from tidegate.calculus import derive
from tidegate.cells import Block1997


@pytest.mark.parametrize("size", [1, 2])
def test_step_is_the_published_equations(size):
    cell = Block1997(size)
    known = drawn(cell, seed=size)
    z, past, _ = groups(known).values()
    step = stepped(cell, known)
    for v in range(1, size + 1):
        s = past[f"c{v}"] + expit(z["i"]) * (4 * expit(z[f"g{v}"]) - 2)
        np.testing.assert_allclose(getattr(step, f"c{v}"), s, rtol=1e-13)
        y = expit(z["o"]) * (2 * expit(s) - 1)
        np.testing.assert_allclose(getattr(step, f"h{v}"), y, rtol=1e-13)


def test_what_is_not_written_stays_for_ever():
    """A shut input gate leaves the memory as it is: it does not add gate and candidate."""
    cell = Block1997(1)
    known = drawn(cell) | {"z.i": np.full(7, -800.0)}
    np.testing.assert_array_equal(stepped(cell, known).c1, known["past.c1"])
    assert derive(cell).log_retention["c1"].is_const(0)


def test_output_gates_are_biased_block_by_block():
    (law,) = Block1997(2).biases().values()
    np.testing.assert_array_equal(law(np.random.default_rng(0), 3), [-1, -2, -3])
