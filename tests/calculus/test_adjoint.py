"""Errors carried back all at once equal the sum over outputs of error times partial derivative."""

from __future__ import annotations

import numpy as np
import pytest

from support.cells import EVERY, name
from tidegate.calculus import derive
from tidegate.calculus.adjoint import adjoint
from tidegate.calculus.graph import Graph, evaluate, partial
from tidegate.cells.functions import fixed


@pytest.mark.parametrize("cell", EVERY, ids=name)
def test_adjoint_is_the_sum_over_outputs(cell):
    eq = derive(cell)
    outputs = [*eq.hidden.values(), *eq.memory.values()]
    leaves = list(eq.leaves.values())
    graph, rng = leaves[0].graph, np.random.default_rng(0)
    errors = [graph.leaf(f"error{k}") for k in range(len(outputs))]
    known = {leaf: rng.uniform(0.1, 1.0, 7) for leaf in leaves}
    seeds = {error: rng.normal(size=7) for error in errors}
    got = evaluate(adjoint(zip(outputs, errors, strict=True), leaves), known | seeds)
    for leaf, total in zip(leaves, got, strict=True):
        slopes = evaluate([partial(y, leaf) for y in outputs], known)
        wanted = sum(seeds[e] * slope for e, slope in zip(errors, slopes, strict=True))
        np.testing.assert_allclose(total + np.zeros(7), wanted, rtol=1e-12, atol=1e-14)


def test_nothing_passes_what_is_fixed_and_equal_outputs_add_up():
    g = Graph()
    x, e = g.leaf("x"), g.leaf("e")
    (through,) = adjoint([(fixed(x) * x, e), (x, e), (x, e)], [x])
    assert evaluate([through], {x: 3.0, e: 1.0}) == [5.0]
