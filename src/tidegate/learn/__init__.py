"""Online learning: networks, losses, optimisers, and the learner that ties them together."""

from __future__ import annotations

from tidegate.learn.averaging import RunningAverage
from tidegate.learn.lanes import Lanes
from tidegate.learn.learner import Learner, Predictor
from tidegate.learn.losses import Gaussian, Huber, Logistic, Softmax, Squared
from tidegate.learn.network import Network
from tidegate.learn.optimisers import SGD, Adam, Momentum
from tidegate.learn.schedules import Constant, Harmonic, Schedule

__all__ = [
    "SGD",
    "Adam",
    "Constant",
    "Predictor",
    "Gaussian",
    "Harmonic",
    "Huber",
    "Lanes",
    "Learner",
    "Logistic",
    "Momentum",
    "Network",
    "RunningAverage",
    "Schedule",
    "Softmax",
    "Squared",
]
