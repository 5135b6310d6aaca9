"""Sums of products whose factors may be known now: only what is left to compute becomes code."""

from __future__ import annotations

from typing import TypeAlias

from tidegate.kernels.code.vector import Vector

__all__ = ["Factor", "product", "sum_of_products"]

Factor: TypeAlias = Vector | float
"""A value of the code, or a number known now."""


def product(a: Factor, b: Factor) -> Factor:
    """a b, without the code that a known 0 or 1 saves."""
    if isinstance(b, float):
        a, b = b, a
    if isinstance(a, float) and a in (0.0, 1.0):
        return b if a == 1.0 else 0.0
    return a * b


def sum_of_products(total: Factor, *terms: tuple[Factor, Factor]) -> Factor:
    """total + a b + ..., in this order, fused where both factors are values."""
    for a, b in terms:
        if isinstance(total, float) and total == 0.0:
            total = product(a, b)
        elif isinstance(a, Vector) and isinstance(b, Vector):
            total = a.fma(b, total)
        else:
            more = product(a, b)
            total = total if isinstance(more, float) and more == 0.0 else total + more
    return total
