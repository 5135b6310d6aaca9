"""Forecasts side by side on one stream: predict, then learn, the same steps for all."""

from __future__ import annotations

from tidegate.bench.compare import Score, compare
from tidegate.bench.method import Method
from tidegate.bench.methods import METHODS, QUICK, Entry, made
from tidegate.bench.race import Advance, Comparison, Line, Series, race, standings

__all__ = [
    "METHODS",
    "QUICK",
    "Advance",
    "Comparison",
    "Entry",
    "Line",
    "Method",
    "Score",
    "Series",
    "compare",
    "made",
    "race",
    "standings",
]
