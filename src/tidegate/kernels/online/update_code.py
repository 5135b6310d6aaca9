"""An optimiser's equations as code: one vector of weights, its moments, its average."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace

import numpy as np

from tidegate.calculus.graph import Graph, Node, evaluate, partial
from tidegate.kernels.code.emit import Index, Reals
from tidegate.kernels.code.sums import Factor, product, sum_of_products
from tidegate.kernels.code.vector import Mask, Vector
from tidegate.kernels.plan import Optimiser

__all__ = ["UpdateCode", "coefficient_names", "plain_slope"]


def coefficient_names(optimiser: Optimiser) -> tuple[str, ...]:
    """What a row of the table of coefficients holds, in order."""
    return tuple(optimiser.coefficients(np.zeros(1, np.int64)))


class UpdateCode:
    """The update of this step: weights are updated by vectors.

    Moments, and the average as the last, lie ``stride`` numbers after the weights and each other.

    Args:
        optimiser: its equations.
        stride: between a weight and what is kept beside it.
        coefficients: of this step, by name, each as wide as a vector.
        share: of the newest weight in the average; None without averaging.
        learning: the lanes whose weights change; None where all do.
    """

    def __init__(
        self,
        optimiser: Optimiser,
        stride: Index,
        coefficients: Mapping[str, Vector],
        share: Vector | None,
        learning: Mask | None = None,
    ) -> None:
        self._optimiser, self._stride, self._learning = optimiser, stride, learning
        self._coefficients, self._share = SimpleNamespace(**coefficients), share
        self._slope = _value(plain_slope(optimiser), coefficients)

    def __call__(
        self, place: Reals, offset: Index | int, weight: Vector, *terms: tuple[Factor, Factor]
    ) -> Vector:
        """Store and return the new values of ``weight``.

        Args:
            place: where weights lie.
            offset: of this vector of them.
            weight: their values.
            terms: products whose sum is the gradient; the first factors are the same for many
                weights, so what is made of them alone is made once.
        """
        if self._slope is None:
            gradient = sum_of_products(0.0, *terms)
            new = self._by_rule(place, offset, weight, _like(weight, gradient))
        else:
            scaled = [(product(a, self._slope), b) for a, b in terms]
            new = _like(weight, sum_of_products(weight, *scaled))
        new = self._chosen(new, weight)
        place.store(new, offset)
        if self._share is not None:
            kept = self._kept(place, len(self._optimiser.moments))
            average = kept.load(offset, width=weight.width)
            moved = average + (new - average) * self._share
            kept.store(self._chosen(moved, average), offset)
        return new

    def _chosen(self, new: Vector, old: Vector) -> Vector:
        return new if self._learning is None else self._learning.select(new, old)

    def _kept(self, place: Reals, k: int) -> Reals:
        """What is kept beside the weights at ``place``: moment ``k``, or the average."""
        return place.at(self._stride * (k + 1))

    def _by_rule(
        self, place: Reals, offset: Index | int, weight: Vector, gradient: Vector
    ) -> Vector:
        names = self._optimiser.moments
        kept = {name: self._kept(place, k) for k, name in enumerate(names)}
        moments = {name: kept[name].load(offset, width=weight.width) for name in names}
        rule = self._optimiser.update(
            weight, gradient, SimpleNamespace(**moments), self._coefficients
        )
        for name in names:
            new = _like(weight, rule.moments[name])
            kept[name].store(self._chosen(new, moments[name]), offset)
        return _like(weight, rule.weight)


def plain_slope(optimiser: Optimiser) -> Node | None:
    """d weight' / d gradient where a rule is weight' = weight + slope gradient and nothing else.

    Such a rule lets the slope be multiplied into the error once, instead of into every gradient.

    >>> from tidegate.learn import SGD, Adam
    >>> plain_slope(SGD()), plain_slope(Adam())
    (mul(-1.0, c.rate), None)
    """
    graph = Graph()
    weight, gradient = graph.leaf("weight"), graph.leaf("gradient")
    c = {name: graph.leaf(f"c.{name}") for name in coefficient_names(optimiser)}
    if optimiser.moments:
        return None
    rule = optimiser.update(weight, gradient, SimpleNamespace(), SimpleNamespace(**c))
    new = graph.wrap(rule.weight)
    slope = partial(new, gradient)
    plain = graph.wrap(weight + slope * gradient)
    return slope if _same_values(new, plain, [weight, gradient, *c.values()]) else None


def _same_values(a: Node, b: Node, leaves: list[Node]) -> bool:
    """Whether two equations give the same values wherever they are tried."""
    rng = np.random.default_rng(0)
    for size in (0.01, 1.0, 100.0):
        x, y = evaluate([a, b], {leaf: size * float(rng.normal()) for leaf in leaves})
        if not abs(x - y) <= 1e-12 * size:
            return False
    return True


def _value(node: Node | None, coefficients: Mapping[str, Vector]) -> Factor | None:
    if node is None:
        return None
    leaves = {leaf: coefficients[leaf.args[0].removeprefix("c.")] for leaf in _leaves(node)}
    value: Factor = evaluate([node], leaves)[0]
    return value


def _leaves(node: Node) -> set[Node]:
    if node.op == "leaf":
        return {node}
    return set().union(*(_leaves(a) for a in node.args if isinstance(a, Node)))


def _like(vector: Vector, value: Factor) -> Vector:
    return value if isinstance(value, Vector) else vector.like(value)
