"""What follows from a cell's equations, with nothing written twice."""

from __future__ import annotations

from tidegate.calculus.derive import Equations, derive
from tidegate.calculus.latex import latex

__all__ = ["Equations", "derive", "latex"]
