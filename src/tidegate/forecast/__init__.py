"""Forecasting real streams: a model that learns as it predicts, and what stands round it."""

from __future__ import annotations

from tidegate.forecast.bare import BareNetwork
from tidegate.forecast.categories import CategoryForecaster, CategoryPrediction
from tidegate.forecast.category_run import CategoryRun
from tidegate.forecast.forecaster import Forecaster
from tidegate.forecast.judging.alarms import Shift, ShiftDetector
from tidegate.forecast.judging.intervals import Conformal
from tidegate.forecast.keyed import KeyedForecasters
from tidegate.forecast.models import ForecasterModel, Model
from tidegate.forecast.prediction import Outcome, Prediction
from tidegate.forecast.prequential import OURS, Prequential
from tidegate.forecast.scoring.scores import Scores
from tidegate.forecast.shared import SharedForecasters
from tidegate.forecast.simple import Ago, Persistence, Simple
from tidegate.forecast.timing.clock import Clock
from tidegate.forecast.timing.periods import PeriodFinder

__all__ = [
    "OURS",
    "Ago",
    "BareNetwork",
    "CategoryForecaster",
    "CategoryPrediction",
    "CategoryRun",
    "Clock",
    "Conformal",
    "Forecaster",
    "ForecasterModel",
    "KeyedForecasters",
    "Model",
    "Outcome",
    "PeriodFinder",
    "Persistence",
    "Prediction",
    "Prequential",
    "Scores",
    "SharedForecasters",
    "Shift",
    "ShiftDetector",
    "Simple",
]
