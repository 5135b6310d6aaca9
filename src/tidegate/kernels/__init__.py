"""Equations at work on arrays: the plain NumPy reference, and machine code held against it.

Here lie what both share (``plan``, ``engine``), the reference (``reference``, ``through_time``)
and what looks on (``looking``, ``recording``). ``code`` writes and keeps machine code; ``online``
learns with it, one step at a time; ``batch`` runs whole sequences, forward and back.
"""

from __future__ import annotations

from tidegate.kernels.plan import LayerPlan, Plan, State

__all__ = ["LayerPlan", "Plan", "State"]
