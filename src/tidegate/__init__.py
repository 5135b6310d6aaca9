"""Recurrent networks with forget gates that predict never-ending streams while they learn.

Names arrive when they are first asked for, so ``import tidegate`` costs next to nothing.

>>> import tidegate
>>> issubclass(tidegate.DataError, tidegate.TidegateError)
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from tidegate._core.version import __version__ as __version__

if TYPE_CHECKING:
    from tidegate import (
        bench,
        calculus,
        cells,
        datasets,
        experiments,
        forecast,
        gates,
        layers,
        learn,
        memory,
        report,
        streams,
        tasks,
    )
    from tidegate._core.errors import (
        CheckpointError,
        DataError,
        DivergedError,
        MissingExtraError,
        TidegateError,
        UsageError,
    )
    from tidegate.forecast import Forecaster, KeyedForecasters
    from tidegate.learn import Learner, Network

__all__ = [
    "CheckpointError",
    "DataError",
    "DivergedError",
    "Forecaster",
    "KeyedForecasters",
    "Learner",
    "MissingExtraError",
    "Network",
    "TidegateError",
    "UsageError",
    "bench",
    "calculus",
    "cells",
    "datasets",
    "experiments",
    "forecast",
    "gates",
    "layers",
    "learn",
    "memory",
    "report",
    "streams",
    "tasks",
]

_HOMES = {
    "CheckpointError": "tidegate._core.errors",
    "DataError": "tidegate._core.errors",
    "DivergedError": "tidegate._core.errors",
    "Forecaster": "tidegate.forecast",
    "KeyedForecasters": "tidegate.forecast",
    "Learner": "tidegate.learn",
    "MissingExtraError": "tidegate._core.errors",
    "Network": "tidegate.learn",
    "TidegateError": "tidegate._core.errors",
    "UsageError": "tidegate._core.errors",
}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in __all__:
        return import_module(f"tidegate.{name}")
    raise AttributeError(f"module 'tidegate' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
