"""Published experiments, and claims of ours, that run again with one command.

One file here is one experiment: protocol, criterion, budget, what was published, and the verdict on
it. ``tidegate reproduce`` runs them.
"""

from __future__ import annotations

from tidegate.experiments.base import Experiment, Figure, Row, Trial
from tidegate.experiments.claims import AtLeast, AtMost, Claim, Near, Nothing, Possible
from tidegate.experiments.keeping import Job, Kept
from tidegate.experiments.run import experiments, named, run
from tidegate.experiments.table import Line, lines
from tidegate.experiments.wilson import wilson

__all__ = [
    "AtLeast",
    "AtMost",
    "Claim",
    "Experiment",
    "Figure",
    "Job",
    "Kept",
    "Line",
    "Near",
    "Nothing",
    "Possible",
    "Row",
    "Trial",
    "experiments",
    "lines",
    "named",
    "run",
    "wilson",
]
