"""Forecasts side by side on one stream: predict, then learn, the same steps for all."""

from __future__ import annotations

from tidegate.bench.compare import Score, compare
from tidegate.bench.method import Method
from tidegate.bench.methods import METHODS, made

__all__ = ["METHODS", "Method", "Score", "compare", "made"]
