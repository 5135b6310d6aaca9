"""The tracer: sharing, folding that keeps values, partial derivatives."""

from __future__ import annotations

import math
import operator

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from support.symbols import NUMERIC, Symbolic
from tidegate.calculus.graph import Graph, depends, evaluate, log_of, partial
from tidegate.cells import functions as f

BINARY = [operator.add, operator.sub, operator.mul]
SMOOTH = [f.sigmoid, f.tanh, operator.neg]
ROUGH = [f.absolute, f.fixed, f.log_sigmoid]
PAIRS = [f.maximum, f.minimum]
NUMBERS = [0.0, 1.0, -1.0, 2.0, -0.5]


def quotient(x, y):
    return x / (2.0 + f.tanh(y))


def one(outer, a):
    return lambda x, y: outer(a(x, y))


def two(outer, a, b):
    return lambda x, y: outer(a(x, y), b(x, y))


def expressions(unary, binary):
    """Functions of (x, y), built at random from the given operations, numbers and leaves."""
    leaves = st.sampled_from(
        [lambda x, y: x, lambda x, y: y, *(lambda x, y, n=n: n for n in NUMBERS)]
    )
    return st.recursive(
        leaves,
        lambda below: st.one_of(
            st.builds(one, st.sampled_from(unary), below),
            st.builds(two, st.sampled_from(binary), below, below),
        ),
        max_leaves=12,
    )


ANY = expressions(SMOOTH + ROUGH, [*BINARY, quotient, *PAIRS])
DIFFERENTIABLE = expressions(SMOOTH, [*BINARY, quotient])
X, Y = np.array([0.3, -1.2, 2.0]), np.array([-0.7, 0.4, 1.5])


@pytest.fixture
def g():
    return Graph()


def traced(expression):
    g = Graph()
    x, y = g.leaf("x"), g.leaf("y")
    return g.wrap(expression(x, y)), x, y


def values(node, x, y, at=(X, Y)):
    (value,) = evaluate([node], dict(zip((x, y), at, strict=True)))
    return np.broadcast_to(np.asarray(value, float), X.shape)


@settings(max_examples=200)
@given(ANY)
def test_folding_keeps_every_value(expression):
    node, x, y = traced(expression)
    direct = np.broadcast_to(expression(X, Y), X.shape)
    np.testing.assert_allclose(values(node, x, y), direct, rtol=1e-14, atol=1e-300)


@settings(max_examples=100)
@given(DIFFERENTIABLE)
def test_partials_are_finite_differences(expression):
    node, x, y = traced(expression)
    h = 1e-6
    for leaf, step in ((x, (h, 0)), (y, (0, h))):
        above, below = (
            np.broadcast_to(expression(X + s * step[0], Y + s * step[1]), X.shape) for s in (1, -1)
        )
        slope = values(partial(node, leaf), x, y)
        scale = 1 + abs(slope) + abs(above)
        assert np.all(abs(slope - (above - below) / (2 * h)) <= 1e-7 * scale)


@settings(max_examples=25)
@given(DIFFERENTIABLE)
def test_partials_are_sympys(expression):
    node, x, y = traced(expression)
    a, b = sympy.symbols("a b")
    theirs = expression(Symbolic(a), Symbolic(b))
    theirs = theirs.expression if isinstance(theirs, Symbolic) else sympy.sympify(theirs)
    for leaf, symbol in ((x, a), (y, b)):
        slope = sympy.lambdify([a, b], theirs.diff(symbol), [NUMERIC, "numpy"])(X, Y)
        np.testing.assert_allclose(
            values(partial(node, leaf), x, y),
            np.broadcast_to(slope, X.shape),
            rtol=1e-10,
            atol=1e-12,
        )


@pytest.mark.parametrize(
    ("function", "at", "slopes"),
    [
        (f.exp, (0.5,), (math.exp(0.5),)),
        (f.log, (0.5,), (2.0,)),
        (f.sqrt, (0.25,), (1.0,)),
        (f.log_sigmoid, (0.5,), (1 / (1 + math.exp(0.5)),)),
        (f.log_sigmoid, (-200.0,), (1.0,)),
        (f.absolute, (-3.0,), (-1.0,)),
        (f.fixed, (3.0,), (0.0,)),
        (f.maximum, (1.0, 2.0), (0.0, 1.0)),
        (f.maximum, (2.0, 1.0), (1.0, 0.0)),
        (f.minimum, (1.0, 2.0), (1.0, 0.0)),
        (f.choose, (1.0, 2.0, 5.0, 6.0), (0.0, 0.0, 0.0, 1.0)),
        (f.choose, (2.0, 1.0, 5.0, 6.0), (0.0, 0.0, 1.0, 0.0)),
        (operator.truediv, (3.0, 2.0), (0.5, -0.75)),
    ],
)
def test_slopes_of_each_function(g, function, at, slopes):
    leaves = [g.leaf(str(n)) for n in range(len(at))]
    known = dict(zip(leaves, at, strict=True))
    got = evaluate([partial(function(*leaves), leaf) for leaf in leaves], known)
    assert [float(slope) for slope in got] == pytest.approx(slopes)


def test_equal_nodes_are_one(g):
    x, y = g.leaf("x"), g.leaf("y")
    assert f.tanh(x * y) is f.tanh(x * y) and g.leaf("x") is x and g.const(2) is g.wrap(2.0)
    assert x * y is not y * x
    assert Graph().leaf("x") is not x


@pytest.mark.parametrize(
    ("make", "want"),
    [
        (lambda x: 0 + x, "x"),
        (lambda x: x - 0.0, "x"),
        (lambda x: 1 * x / 1.0, "x"),
        (lambda x: x * 0, "0.0"),
        (lambda x: 0 / x, "0.0"),
        (lambda x: 0.0 - -x, "x"),
        (lambda x: operator.neg(-x), "x"),
        (lambda x: 1 + -x, "sub(1.0, x)"),
        (lambda x: -x + 1, "sub(1.0, x)"),
        (lambda x: 1 - -x, "add(1.0, x)"),
        (lambda x: x * -x, "mul(-1.0, mul(x, x))"),
        (lambda x: (x + 12582912.0) - 12582912.0, "sub(add(x, 12582912.0), 12582912.0)"),
        (lambda x: 2 * (x + 1), "mul(2.0, add(x, 1.0))"),
        (lambda x: f.tanh(-x), "tanh(mul(-1.0, x))"),
        (lambda x: np.float64(2) * x, "mul(2.0, x)"),
    ],
)
def test_what_is_folded_and_what_is_left_as_the_author_wrote_it(g, make, want):
    assert repr(make(g.leaf("x"))) == want


def test_held_nodes_stop_the_derivative_but_not_by_themselves(g):
    x, w = g.leaf("x"), g.leaf("w")
    c = w * x
    h = f.tanh(c) + x * c
    assert partial(h, x, {c}) is c
    slope = evaluate([partial(h, c, {c})], {x: 0.3, w: 2.0})[0]
    assert slope == pytest.approx(1 - math.tanh(0.6) ** 2 + 0.3)


def test_dependence_is_seen_where_no_error_flows(g):
    x, y = g.leaf("x"), g.leaf("y")
    node = f.fixed(x) * 2.0
    assert depends(node, x) and not depends(node, y)
    assert partial(node, x).is_const(0)


def test_evaluation_starts_from_any_known_node(g):
    x = g.leaf("x")
    inner = f.tanh(x)
    assert evaluate([inner + 1.0], {inner: 5.0}) == [6.0]


@pytest.mark.parametrize(
    "branch",
    [
        lambda x: 1.0 if x else 0.0,
        lambda x: x if x > 0 else 0.0,
        lambda x: max(x, 0.0),
        lambda x: 1.0 if x <= 2 else 0.0,
        lambda x: 1.0 if x == 0 else 2.0,
        lambda x: 1.0 if x != 0 else 2.0,
    ],
)
def test_a_branch_on_a_value_is_refused_and_the_way_out_named(g, branch):
    with pytest.raises(TypeError, match=r"cannot branch on a value.*choose\(x, y, yes, no\)"):
        branch(g.leaf("x"))


@pytest.mark.parametrize("z", [-40.0, 0.0, 3.0, 120.0])
def test_logs_of_gates_are_exact(g, z):
    leaf = g.leaf("z")
    gate = f.sigmoid(leaf)
    log_f, log_1_f = float(f.log_sigmoid(z)), float(f.log_sigmoid(-z))
    for node, want in [
        (gate, log_f),
        (1 - gate, log_1_f),
        (gate * (1 - gate), log_f + log_1_f),
        (f.fixed(gate), log_f),
        (f.exp(leaf), z),
        (0.9 * gate, math.log(0.9) + log_f),
        (g.const(1.0), 0.0),
    ]:
        assert float(evaluate([log_of(node)], {leaf: z})[0]) == pytest.approx(want, rel=1e-15)


def test_what_is_no_product_of_gates_has_no_exact_log(g):
    z = g.leaf("z")
    others = [z, f.tanh(z), f.sigmoid(z) + 1.0, f.sigmoid(z) * z, 2 - f.sigmoid(z), g.const(-1.0)]
    assert [log_of(node) for node in others] == [None] * len(others)
