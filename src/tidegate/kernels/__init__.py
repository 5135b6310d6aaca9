"""Equations at work on arrays: the plain NumPy reference, and machine code held against it."""

from __future__ import annotations

from tidegate.kernels.plan import LayerPlan, Plan, State

__all__ = ["LayerPlan", "Plan", "State"]
