"""The memory block of 2000 against the equations of the paper, and its count of weights."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from support.values import drawn, groups, stepped
from tidegate.calculus import derive
from tidegate.cells import Block2000
from tidegate.learn import Network


def g(x):
    return 4 / (1 + np.exp(-x)) - 2


def h(x):
    return 2 / (1 + np.exp(-x)) - 1


@pytest.mark.parametrize("size", [1, 2, 3])
def test_step_is_equations_1_to_11(size):
    cell = Block2000(size)
    known = drawn(cell, seed=size)
    z, past, _ = groups(known).values()
    step = stepped(cell, known)
    y_in, y_phi, y_out = expit(z["i"]), expit(z["f"]), expit(z["o"])
    for v in range(1, size + 1):
        s = y_phi * past[f"c{v}"] + y_in * g(z[f"g{v}"])
        np.testing.assert_allclose(getattr(step, f"c{v}"), s, rtol=1e-13)
        np.testing.assert_allclose(getattr(step, f"h{v}"), y_out * h(s), rtol=1e-13)


def test_the_published_network_has_424_weights():
    """7 inputs and outputs, 4 blocks of 2 cells, shortcuts; gates and outputs biased, cells not."""
    plan = Network(inputs=7, outputs=7, cell=Block2000(2), units=4, direct=True).plan
    assert plan.weights.size == 424


def test_biases_go_block_by_block():
    network = Network(inputs=7, outputs=7, cell=Block2000(2), units=4)
    bias = network.plan.weights.views(network.initial(seed=0))["layer0.bias"][0]
    down, up = [-0.5, -1.0, -1.5, -2.0], [0.5, 1.0, 1.5, 2.0]
    np.testing.assert_array_equal(bias, [down, up, down])


def test_cells_of_a_block_do_not_mix():
    eq = derive(Block2000(2))
    assert set(eq.keep) == {("c1", "c1"), ("c2", "c2")}
    assert ("c1", "g2") not in eq.write and ("h2", "c1") not in eq.show


def test_sizes_are_told_apart():
    assert Block2000(2) == Block2000(2) != Block2000(3)
    assert derive(Block2000(3)).memory.keys() == {"c1", "c2", "c3"}
