"""Forecasting real streams: what a network needs around it to meet them."""

from __future__ import annotations

from tidegate.forecast.bare import BareNetwork
from tidegate.forecast.clock import Clock
from tidegate.forecast.prequential import OURS, Forecaster, Prequential
from tidegate.forecast.scores import Scores
from tidegate.forecast.simple import Ago, Persistence, Simple

__all__ = [
    "OURS",
    "Ago",
    "BareNetwork",
    "Clock",
    "Forecaster",
    "Persistence",
    "Prequential",
    "Scores",
    "Simple",
]
